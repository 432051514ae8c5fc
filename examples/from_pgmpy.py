"""Answer 100 queries of a pgmpy network with Beacon, and compare with pgmpy's own answers.

Usage: pip install 'beacon-mpe[pgmpy]', then python from_pgmpy.py.

pgmpy's variable elimination puts all variables that are asked for into one table, so the network is small;
Beacon's side of this script stays the same for a network of thousands of variables. Its first run compiles
the search kernels, which counts as Beacon's time; run it twice to compare.
"""

import warnings
from time import perf_counter

import numpy as np

import beacon

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # pgmpy warns of its own modules when it is imported
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

NUM_QUERIES = 100


def made_network() -> DiscreteBayesianNetwork:
    """A random network; yours may come from a file or from `fit`."""
    return DiscreteBayesianNetwork.get_random(n_nodes=14, edge_prob=0.2, n_states=2, seed=7)


def random_evidences(network: DiscreteBayesianNetwork, rng: np.random.Generator) -> list[dict[str, str]]:
    """For each query four observed variables, by the names that pgmpy has for them and their states."""
    states = {cpd.variable: cpd.state_names[cpd.variable] for cpd in network.get_cpds()}
    chosen = [rng.choice(list(states), size=4, replace=False) for _ in range(NUM_QUERIES)]
    return [{name: states[name][rng.integers(len(states[name]))] for name in map(str, row)} for row in chosen]


def main() -> None:
    """Both answer; every answer is scored by the same model."""
    network = made_network()
    model = beacon.from_pgmpy(network)
    evidences = random_evidences(network, np.random.default_rng(0))

    began = perf_counter()
    results = beacon.solve_many(
        model,
        [{name: str(state) for name, state in evidence.items()} for evidence in evidences],
        stop=beacon.MaxSteps(2_000),
    )
    beacon_seconds = perf_counter() - began

    inference = VariableElimination(network)
    same = better = 0
    began = perf_counter()
    for evidence, result in zip(evidences, results, strict=True):
        asked = [name for name in network.nodes() if name not in evidence]
        answer = {**inference.map_query(asked, evidence, show_progress=False), **evidence}
        values = [model.labels[k].index(str(answer[name])) for k, name in enumerate(model.names)]
        difference = result.log_score - model.log_score(values)
        same += abs(difference) < 1e-9
        better += difference >= 1e-9
    pgmpy_seconds = perf_counter() - began

    print(f"{NUM_QUERIES} queries on {model.num_variables} variables")
    print(f"as probable as pgmpy's answer: {same}; more probable: {better}")
    print(f"Beacon {beacon_seconds:.2f} s, pgmpy {pgmpy_seconds:.2f} s")


if __name__ == "__main__":
    main()
