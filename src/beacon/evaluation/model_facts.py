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


def facts_in_words(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts for a person."""
    cost = facts["seconds_per_1000_steps"]
    single = f" ({facts['single_valued']:,} of them with a single value)" if facts["single_valued"] else ""
    rows = [
        ("variables", f"{facts['variables']:,}{single}, at most {facts['max_domain']} values each"),
        ("factors", f"{facts['factors']:,}, each over at most {facts['max_scope']} variables"),
        ("tables", f"{facts['entries']:,} entries, {_size(facts['table_bytes'])}"),
        ("zeros", f"{facts['zero_fraction']:.1%} of the entries"),
        ("kind", "Bayesian network" if facts["bayesian_network"] else "Markov network"),
        ("width bound", f"{facts['width_bound']} (upper bound on the treewidth, by min-fill)"),
        ("fingerprint", facts["fingerprint"]),
    ]
    if cost is not None:
        speed = f"{float(f'{1000 / cost:.2g}'):,.0f} steps a second"  # 0.1 s measure no more than two digits
        rows.append(("search cost", f"{1000 * cost:.2g} ms for 1,000 gls+ steps, {speed}"))
    if facts["training"] is not None:
        rows += _training_in_words(facts["training"])
    return rows


def _training_in_words(training: dict[str, Any]) -> list[tuple[str, str]]:
    from beacon.learn.prospect import duration  # noqa: PLC0415

    references, learning = (duration(training[f"{stage}_seconds"]) for stage in ("reference", "training"))
    cost = f"about {references} for the references of {training['queries']:,} queries"
    return [
        ("to train", f"{cost}, then {learning} for the fast guide"),
        ("training is", training["sentence"]),
    ]


def _size(num_bytes: int) -> str:
    power = min(3, max(0, num_bytes.bit_length() - 1) // 10)
    return f"{num_bytes / 1024**power:,.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"
