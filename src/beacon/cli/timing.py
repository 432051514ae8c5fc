"""How long a search step takes on this machine."""

from __future__ import annotations

from beacon.errors import ModelError
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime
from beacon.strategies.strategy import Strategy

MEASURED_SECONDS = 0.1
MAX_RUNS = 50  # searches of an easy model end at once


def seconds_per_1000_steps(model: GraphicalModel, strategy: Strategy) -> float | None:
    """Measured over about 0.1 s of searches without evidence; None where there is nothing to search."""
    try:
        flat = compile_model(model)
    except ModelError:  # too large to be searched, and still worth describing
        return None
    steps, seconds = 0, 0.0
    for seed in range(MAX_RUNS):
        search = Search(flat, {}, strategy, seed=seed)
        search.run(MaxRuntime(MEASURED_SECONDS - seconds))
        steps, seconds = steps + search.steps, seconds + search.seconds
        if seconds >= MEASURED_SECONDS:
            break
    return 1000 * seconds / steps if steps else None
