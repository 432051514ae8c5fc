"""Make a model from tables, observe something, and ask for the most probable explanation."""

import numpy as np

import beacon

rain = np.log([0.8, 0.2])
sprinkler = np.log([[0.6, 0.4], [0.99, 0.01]])  # [rain, sprinkler]
wet = np.array([[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]])  # [rain, sprinkler, grass]
with np.errstate(divide="ignore"):
    grass = np.log(wet)  # log 0 = -inf: dry grass cannot be wet by itself

model = beacon.GraphicalModel.from_tables(
    domain_sizes=[2, 2, 2],
    tables=[((0,), rain), ((0, 1), sprinkler), ((0, 1, 2), grass)],
    names=["rain", "sprinkler", "grass"],
    labels=[["no", "yes"], ["off", "on"], ["dry", "wet"]],
)

result = beacon.solve(model, {"grass": "wet"}, stop=beacon.MaxSteps(1_000))
print(result.named_assignment)
print(f"probability of this explanation and the evidence: {np.exp(result.log_score):.3f}")
