"""Load or compile the kernels of a strategy before any clock runs.

Searches of models with many values have kernels of their own: ``flat`` says which are needed, those without
if there is none.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from beacon.engine.core import new_core, rescore
from beacon.engine.incumbent import note_all_changed
from beacon.engine.rows import layout_of
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, perf_counter
from beacon.strategies.strategy import STRATEGIES, Strategy, make_strategy

if TYPE_CHECKING:
    from beacon.engine.core import Begin

GUIDED = ("greedy", "gls+")
_ONE_AT_A_TIME = threading.RLock()


def _once(prepare: Callable[..., None]) -> Callable[..., None]:
    """Prepare each kind of thing once; threads that need the same wait."""
    done: set[object] = set()

    @wraps(prepare)
    def prepared(*things: Any) -> None:
        kinds = tuple(map(_kind, things))
        with _ONE_AT_A_TIME:
            if kinds not in done:
                prepare(*things)
                done.add(kinds)

    return prepared


def _kind(thing: object) -> object:
    """What matters for kernels: of a model whether it has rows, of a strategy its type, start and arms."""
    if thing is None or isinstance(thing, FlatModel):
        return _has_rows(thing)
    if isinstance(thing, Strategy):
        return (type(thing), _begins_by_messages(thing), *map(_kind, getattr(thing, "arms", ())))
    return thing


def _begins_by_messages(strategy: Strategy) -> bool:
    return isinstance(start := getattr(strategy, "start", None), str) and start == "messages"


@_once
def warm_up(strategy: Strategy, flat: FlatModel | None = None) -> None:
    """Make sure that a strategy's kernels are ready. Takes a moment once, and longer if never compiled."""
    _warm_up_rescoring()
    arms = getattr(strategy, "arms", ())
    for arm in arms:
        warm_up(arm, flat)
    if _begins_by_messages(strategy):
        from beacon.engine.message_start import begin_by_messages  # noqa: PLC0415

        warm_up_start(begin_by_messages, flat)
    search = _small_search(strategy, flat)
    search.run(MaxSteps(50))
    search.best_assignment  # noqa: B018 - loads its kernel
    if arms:
        note_all_changed(search.core)  # called when one arm takes over from another


def warm_up_search(strategy: Strategy, flat: FlatModel | None = None) -> float:
    """The same for all that a search after exact elimination needs; return how long it took."""
    began = perf_counter()
    warm_up_bound()
    warm_up_scoring()
    warm_up(strategy, flat)
    return perf_counter() - began


@_once
def warm_up_start(begin: Begin, flat: FlatModel | None = None) -> None:
    """The same for a kind of start."""
    model = _small_model(_has_rows(flat))
    begin(model, new_core(model, fixed_values(model, {}, None), 0))


@_once
def warm_up_joining() -> None:
    """The same for a model whose factors are to be joined: numpy loads parts of itself then."""
    from beacon.model.join import join_factors  # noqa: PLC0415 - only the mix joins

    join_factors(_small_model())


@_once
def warm_up_exact() -> None:
    """The same for queries that elimination answers at once."""
    _warm_up_rescoring()
    from beacon.exact.at_once import at_once  # noqa: PLC0415
    from beacon.runner.known import Effort  # noqa: PLC0415

    flat = _knotted_model()
    at_once(flat).answer(flat, np.full(flat.num_variables, -1, dtype=np.int32), 0, Effort().caps)


@_once
def warm_up_long_way() -> None:
    """The same for larger queries."""
    from beacon.exact.value_bounds import impossible_moves  # noqa: PLC0415
    from beacon.runner.known import Effort, know  # noqa: PLC0415

    solved = know(_knotted_model(), {}, Effort(), 0)
    solved.complete()
    impossible_moves(solved.reduced)


@_once
def warm_up_bound() -> None:
    """The same for upper bounds and parts that are left open."""
    from beacon.exact.bound import Bound  # noqa: PLC0415
    from beacon.runner import bounding  # noqa: F401, PLC0415
    from beacon.runner.known import Effort, know  # noqa: PLC0415

    solved = know(_knotted_model(), {}, Effort(seconds=0.0), 0)
    solved.complete(solved.fixed)
    bound = Bound(solved)
    bound.run(passes=40)
    bound.decoded()


@_once
def warm_up_guided(name: str, flat: FlatModel | None = None) -> None:
    """The same for a strategy with a guide."""
    from beacon.guided.guidance import Guidance  # noqa: PLC0415 - most searches have no guide

    search = _small_search(make_strategy(name), flat)
    scores = np.full(search.model.num_moves, 0.5, dtype=np.float32)
    search.run(MaxSteps(50), scores=scores, guidance=Guidance())


@_once
def warm_up_scoring() -> None:
    """The same for the scores of assignments that a guide proposes."""
    from beacon.engine.floored import floored_scores  # noqa: PLC0415

    floored_scores(_small_model(), np.zeros((1, 3), dtype=np.int64))


@_once
def warm_up_crossing(flat: FlatModel | None = None) -> None:
    """The same for starts that are crossed with opinions."""
    from beacon.engine.cross import cross_opinions  # noqa: PLC0415

    model = _small_model(_has_rows(flat))
    core = new_core(model, fixed_values(model, {}, None), 0)
    cross_opinions(model, core, np.zeros((1, 3), dtype=np.int64))


@_once
def _warm_up_rescoring() -> None:
    """The same for the check of every result."""
    rescore(_small_model(), np.zeros(3, dtype=np.int64), np.empty(3))


def warm_up_knowledge() -> None:
    """The same for all that is known without a search."""
    warm_up_exact()
    warm_up_long_way()
    warm_up_bound()
    warm_up_scoring()
    warm_up_crossing()
    _warm_up_facts()


def _warm_up_facts() -> None:
    """The same for what is told of a model without a search: its width and its fingerprint."""
    from beacon.model.blake2b import digests  # noqa: PLC0415 - no search needs these
    from beacon.model.min_degree import eliminate_by_min_degree, new_room  # noqa: PLC0415
    from beacon.model.sweep import sweep_width  # noqa: PLC0415
    from beacon.model.width import graph_of, min_fill_bound  # noqa: PLC0415

    factors = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0] * 4)]).factors
    graph = graph_of(factors)
    min_fill_bound(graph)
    sweep_width(factors)
    eliminate_by_min_degree(*graph, 0, 2, new_room(2, 2))
    digests(np.zeros((1, 8), dtype=np.uint8), np.zeros((1, 8), dtype=np.uint8))


def warm_up_named(name: str) -> None:
    """The same for a strategy by its name, guided too where a guide may choose its moves."""
    for flat in (None, _small_model(has_rows=True)):
        warm_up(make_strategy(name), flat)
        if name in GUIDED:
            warm_up_guided(name, flat)


def compile_all() -> None:
    """Compile every kernel of a search, for images and clusters."""
    warm_up_knowledge()
    for name in STRATEGIES:
        warm_up_named(name)


def _has_rows(flat: FlatModel | None) -> bool:
    return flat is not None and layout_of(flat).num_rows > 0


def _small_model(has_rows: bool = False) -> FlatModel:
    if has_rows:
        pairs = [(pair, [0.0, -1.0, -1.0] * 27) for pair in ((0, 1), (0, 2), (1, 2))]
        return compile_model(GraphicalModel.from_tables([9, 9, 9], pairs))
    frustrated = [((0, 1), [0.0, -1.0, -1.0, 0.0]), ((0, 1), [-1.0, 0.0, 0.0, -1.0])]  # never proved optimal
    wide = ((0, 1, 2), [float(-k) for k in range(7)] + [-math.inf])
    return compile_model(GraphicalModel.from_tables([2, 2, 2], [*frustrated, wide]))


def _knotted_model() -> FlatModel:
    """Five variables, each with a factor for every other: reducing it leaves them for elimination."""
    pairs = [(i, j) for i in range(5) for j in range(i)]
    tables = [(pair, [0.0, -1.0 - k, -0.5 * k, -math.inf]) for k, pair in enumerate(pairs)]
    return compile_model(GraphicalModel.from_tables([2] * 5, tables))


def _small_search(strategy: Strategy, flat: FlatModel | None) -> Search:
    model = _small_model(_has_rows(flat))
    return Search(model, fixed_values(model, {}, None), strategy)
