"""What a model is like, and what a query on it will cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from beacon.errors import ModelError
from beacon.exact.plan import BYTES_PER_ENTRY, MAX_ENTRIES, plan
from beacon.learn.prospect import duration, prospect_of, sampled_evidences
from beacon.model.bayes import child_of_factors
from beacon.model.flat import as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from beacon.runner.known import ENTRIES_PER_SECOND
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime
from beacon.runner.warm_up import warm_up, warm_up_long_way
from beacon.strategies.strategy import Strategy, make_strategy

MEASURED_SECONDS = 0.1
EXACT_QUERIES = 10  # looked at to tell what exactness costs
EXACT_SECONDS = 1.0  # for all of them
EXACT_ORDER_WORK = 1e9  # nanoseconds, more or less, for the order of one part
MAX_SAMPLED_ENTRIES = 200_000  # of a model that is sampled for this by Gibbs chains
EVIDENCE_SHARE = 0.125  # of the variables of a random query
WIDTH_BOUNDS = {
    False: "upper bound on the treewidth, by min-fill",
    True: "a rough upper bound on the treewidth: min-fill would take too long",
}
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
        "width_bound_is_rough": model.is_width_bound_rough,
        "fingerprint": model.fingerprint,
    }


def exactness_facts(model: GraphicalModel) -> dict[str, Any] | None:
    """What typical evidence leaves of a query, and what its exact solution costs; from a few, in seconds."""
    try:
        evidences, are_sampled = _typical_evidences(model)
        costs = _exact_costs(model, evidences)
    except ModelError:  # too large to be searched, and still worth describing
        return None
    if not costs:
        return None
    entries = [cost.entries for cost in costs]
    fits = [cost for cost in costs if cost.entries <= MAX_ENTRIES]
    return {
        "queries": len(costs),
        "sampled": are_sampled,
        "exact_queries": len(fits),
        "free_variables": int(median(cost.free for cost in costs)),
        "width": _whole(median(cost.width for cost in costs)),
        "max_width": _whole(max(cost.width for cost in costs)),
        "entries": _whole(median(entries)),
        "max_entries": _whole(max(entries)),
        "bytes": _whole(BYTES_PER_ENTRY * max(cost.entries for cost in fits)) if fits else None,
        "milliseconds": 1e3 * median(cost.seconds for cost in fits) if fits else None,
    }


class _ExactCost(NamedTuple):
    """What the exact solution of one query costs."""

    free: int
    """Variables that are left to eliminate."""
    width: float
    """Infinite, as the entries are, where it would take too long to find an order."""
    entries: float
    seconds: float


def _typical_evidences(model: GraphicalModel) -> tuple[Iterable[dict[int, int]], bool]:
    """Evidence of a few queries, sampled from the model where that is quick, else random."""
    if child_of_factors(model) is not None or model.num_entries <= MAX_SAMPLED_ENTRIES:
        return sampled_evidences(model, EXACT_QUERIES), True
    return _random_evidences(model), False


def _random_evidences(model: GraphicalModel) -> Iterator[dict[int, int]]:
    rng = np.random.default_rng(0)
    for _ in range(EXACT_QUERIES):
        values = rng.integers(0, model.domain_sizes)
        observed = np.flatnonzero(rng.random(model.num_variables) < EVIDENCE_SHARE)
        yield dict(zip(observed.tolist(), values[observed].tolist(), strict=True))


def _exact_costs(model: GraphicalModel, evidences: Iterable[dict[int, int]]) -> list[_ExactCost]:
    """Costs of the queries that there is time for, without those that reduction shows to be impossible."""
    flat = compile_model(model)
    warm_up_long_way()
    first, longest, costs = perf_counter(), 0.0, list[_ExactCost]()
    for evidence in evidences:
        began = perf_counter()
        if began - first + longest > EXACT_SECONDS:
            break
        reduced = reduce_query(flat, as_fixed(evidence, flat.num_variables))
        prospect = plan(reduced, 0, math.inf, EXACT_ORDER_WORK, 1)
        if not reduced.is_impossible:
            work = float(prospect.work.sum())
            costs.append(
                _ExactCost(
                    free=len(reduced.members),
                    width=float(prospect.widths.max(initial=0.0)),
                    entries=float(prospect.entries.sum()),
                    seconds=perf_counter() - began + work / ENTRIES_PER_SECOND,
                )
            )
        longest = max(longest, perf_counter() - began)
    return costs


def measured_facts(model: GraphicalModel, queries: int) -> dict[str, Any]:
    """What only a search can tell: the cost of steps, and whether training on this many queries would pay."""
    gls = make_strategy("gls+")
    for strategy in (gls, make_strategy("auto")):
        warm_up(strategy, compile_model(model))
    prospect = prospect_of(model, queries)
    return {
        "seconds_per_1000_steps": seconds_per_1000_steps(model, gls),
        "training": prospect.to_dict() if prospect else None,
    }


def _whole(number: float) -> int | None:
    """A count; None for infinity, which JSON does not have."""
    return int(number) if number < math.inf else None


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
        ("width bound", f"{facts['width_bound']:,} ({WIDTH_BOUNDS[facts['width_bound_is_rough']]})"),
        ("fingerprint", facts["fingerprint"]),
    ]
    if facts["exactness"] is not None:
        rows += _exactness_in_words(facts["exactness"])
    if cost is not None:
        speed = f"{float(f'{1000 / cost:.2g}'):,.0f} steps a second"  # 0.1 s measure no more than two digits
        rows.append(("search cost", f"{1000 * cost:.2g} ms for 1,000 gls+ steps, {speed}"))
    if facts["training"] is not None:
        rows += _training_in_words(facts["training"])
    return rows


def _exactness_in_words(exactness: dict[str, Any]) -> list[tuple[str, str]]:
    """What typical evidence leaves, and what its exact solution costs."""
    count, exact = exactness["queries"], exactness["exact_queries"]
    kind = "sampled queries" if exactness["sampled"] else "queries of random evidence"
    looked_at = f"medians of {count} {kind}" if count > 1 else "one " + kind.replace("queries", "query")
    width = "unknown" if exactness["width"] is None else exactness["width"]
    left = f"{exactness['free_variables']:,} variables, width {width} ({looked_at})"
    cost = f"for {exact} of {count} queries"
    if exact:
        memory, milliseconds = _size(exactness["bytes"]), f"{exactness['milliseconds']:.2g} ms"
        cost += f", in about {milliseconds}, with {memory} of tables at most"
    elif exactness["entries"] is not None:
        cost += f": the tables would have about 10^{math.log10(exactness['entries']):.0f} entries"
    return [("evidence leaves", left), ("exact", cost)]


def _training_in_words(training: dict[str, Any]) -> list[tuple[str, str]]:
    references, learning = (duration(training[f"{stage}_seconds"]) for stage in ("reference", "training"))
    cost = f"about {references} for the references of {training['queries']:,} queries"
    return [
        ("to train", f"{cost}, then {learning} for the fast guide"),
        ("training is", training["sentence"]),
    ]


def _size(num_bytes: int) -> str:
    power = min(3, max(0, num_bytes.bit_length() - 1) // 10)
    return f"{num_bytes / 1024**power:,.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"
