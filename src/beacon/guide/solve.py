"""The front door with a guide: solve one query, or many on the same model, from where a guide would begin.

Without a guide this is :mod:`beacon.search.solve`, and nothing else is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guide.checkpoint import load_guide
from beacon.guide.guide import Guide, States
from beacon.guide.moves import Moves
from beacon.guide.start import guided_starts
from beacon.model.evidence import Evidence, resolve_evidence
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.search import solve as unguided
from beacon.search.propagate import implied_values
from beacon.search.result import Result
from beacon.search.rng import stream
from beacon.search.search import Search
from beacon.search.start import Start
from beacon.search.stop import Stop, check_bounded
from beacon.search.strategy import Strategy

AnyGuide = Guide | str | os.PathLike[str]
START_STREAM = 1  # apart from the stream of the search
GuidedStart = Literal["guide"] | Start


def solve(
    model: GraphicalModel,
    evidence: Evidence | None = None,
    *,
    guide: AnyGuide | None = None,
    strategy: str | Strategy = "auto",
    stop: Stop = unguided.DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    on_improvement: Callable[[Search], None] | None = None,
) -> Result:
    """Find the most probable explanation of one query.

    With a ``guide`` (or the path of one) the search begins where the guide would, unless ``start`` says
    otherwise; without, it begins at random. Ctrl-C ends the search and returns the best assignment so far.
    ``on_improvement`` is called, at most every few milliseconds, with the search when it has found
    something better. With ``propagate``, values that the evidence implies (through zero potentials) are
    fixed before the search.
    """
    (result,) = solve_many(
        model,
        [evidence or {}],
        guide=guide,
        strategy=strategy,
        stop=stop,
        start=start,
        propagate=propagate,
        seed=seed,
        log_zero=log_zero,
        threads=1,
        on_improvement=on_improvement,
    )
    return result


def solve_many(
    model: GraphicalModel,
    evidences: Iterable[Evidence],
    *,
    guide: AnyGuide | None = None,
    strategy: str | Strategy = "auto",
    stop: Stop = unguided.DEFAULT_STOP,
    start: GuidedStart | None = None,
    propagate: bool = True,
    seed: int = 0,
    log_zero: float | None = None,
    threads: int | None = None,
    on_result: Callable[[int, Result], None] | None = None,
    on_improvement: Callable[[Search], None] | None = None,
) -> list[Result]:
    """Solve many queries on one model, each under the same ``stop``, spread over ``threads``.

    With a ``guide`` (or the path of one) each search begins where the guide would, unless ``start`` says
    otherwise. All queries are scored together before the first search, outside of its time. A query's
    result depends on the model, its evidence, its start and the seed, not on its place in the list or the
    number of threads (as long as the stop counts steps, not seconds). ``on_result`` hears of each result
    as it comes. Ctrl-C ends all searches and returns what they have. With ``propagate``, values that the
    evidence implies are fixed before the search.
    """
    check_bounded(stop)
    resolved = [resolve_evidence(model, evidence) for evidence in evidences]
    return unguided.solve_many(
        model,
        resolved,
        strategy=strategy,
        stop=stop,
        start=_first(model, resolved, guide, start, propagate=propagate, seed=seed),
        propagate=propagate,
        seed=seed,
        log_zero=log_zero,
        threads=threads,
        on_result=on_result,
        on_improvement=on_improvement,
    )


def guided_assignments(
    model: GraphicalModel,
    evidences: Sequence[Mapping[int, int]],
    guide: Guide,
    *,
    propagate: bool = True,
    seed: int = 0,
) -> NDArray[np.int64]:
    """[queries, variables] where the guide would begin; a row does not depend on the other queries.

    With ``propagate``, what the evidence implies outranks the guide.
    """
    states = random_states(model, evidences, seed)
    starts = guided_starts(Moves.of(model), guide, states)
    if propagate:
        flat = compile_model(model)
        for row, evidence in zip(starts, evidences, strict=True):
            implied = implied_values(flat, evidence)
            row[list(implied)] = list(implied.values())
    return starts


def random_states(model: GraphicalModel, evidences: Sequence[Mapping[int, int]], seed: int) -> States:
    """A random assignment for each query, drawn from a stream of its own."""
    assignments = np.zeros((len(evidences), model.num_variables), dtype=np.int64)
    observed = np.zeros(assignments.shape, dtype=np.bool_)
    for row, mask, evidence in zip(assignments, observed, evidences, strict=True):
        rng = np.random.default_rng([int(stream(seed, evidence)[0]), START_STREAM])
        row[:] = rng.integers(model.domain_sizes)
        row[list(evidence)] = list(evidence.values())
        mask[list(evidence)] = True
    return States(assignments, observed)


def _first(
    model: GraphicalModel,
    evidences: list[dict[int, int]],
    guide: AnyGuide | None,
    start: GuidedStart | None,
    *,
    propagate: bool,
    seed: int,
) -> Start:
    """What the search is to begin with."""
    if start is None:
        start = "random" if guide is None else "guide"
    if not isinstance(start, str) or start != "guide":
        return start
    if guide is None:
        raise UsageError("start='guide' needs a guide; pass guide=..., or start='random'")
    scorer = load_guide(guide, model) if isinstance(guide, str | os.PathLike) else guide
    return guided_assignments(model, evidences, scorer, propagate=propagate, seed=seed)
