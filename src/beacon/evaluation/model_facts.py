"""What a model is like, and what a query on it will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beacon.errors import ModelError
from beacon.model.bayes import child_of_factors
from beacon.model.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from beacon.strategies.strategy import Strategy

MEASURED_SECONDS = 0.1
MAX_RUNS = 50  # searches of an easy model end at once


def model_facts(model: GraphicalModel) -> dict[str, Any]:
    """All that can be told without searching."""
    return {
        "variables": model.num_variables,
        "single_valued": int((model.domain_sizes == 1).sum()),
        "factors": model.num_factors,
        "max_domain": model.max_domain,
        "max_scope": model.max_scope,
        "entries": model.num_entries,
        "table_bytes": 8 * model.num_entries,
        "zero_fraction": model.zero_fraction,
        "bayesian_network": child_of_factors(model) is not None,
        "width_bound": model.width_bound,
        "fingerprint": model.fingerprint,
    }


def measured_facts(model: GraphicalModel, queries: int) -> dict[str, Any]:
    """What takes a search to tell: the cost of steps, and whether training on this many queries would pay."""
    from beacon.learn.prospect import prospect_of  # noqa: PLC0415  (numba is slow to import)
    from beacon.runner.warm_up import warm_up  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    gls = make_strategy("gls+")
    for strategy in (gls, make_strategy("auto")):
        warm_up(strategy)
    prospect = prospect_of(model, queries)
    return {
        "seconds_per_1000_steps": seconds_per_1000_steps(model, gls),
        "training": prospect.to_dict() if prospect else None,
    }


def seconds_per_1000_steps(model: GraphicalModel, strategy: Strategy) -> float | None:
    """Measured over about 0.1 s of searches without evidence; None where there is nothing to search."""
    from beacon.model.flat import compile_model  # noqa: PLC0415
    from beacon.runner.search import Search  # noqa: PLC0415
    from beacon.runner.stop import MaxRuntime  # noqa: PLC0415

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
