"""Learned starts that were tried: see research/learning.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import beacon
from beacon.engine.construct import _add_pair, _add_wide, _best_value, _order, _Room, construct_assignment
from beacon.engine.core import CoreState, recount
from beacon.engine.incumbent import first_best, harvest_clusters, note_all_changed, save_all_best
from beacon.guide.fast_guide import FastGuide
from beacon.guided.moves import Moves
from beacon.learn.train import FastSettings
from beacon.model.flat import FlatModel
from beacon.query.gibbs import _change, fill_scores
from beacon.strategies.auto.profile import Profile
from beacon.strategies.gls import default_penalty_weight

if TYPE_CHECKING:
    from starts import Begin, Case

Row = NDArray[np.int64]
SHARE = 0.2  # of the time limit, for opinions
SECONDS_PER_VALUE = 2e-8  # to descend from an opinion and to cross it
MOST_OPINIONS = 10


def library(case: Case) -> NDArray[np.int16]:
    """[training queries, variables] what short searches found."""
    seconds = 1.0 if case.is_large else 0.2

    def make() -> NDArray[np.int16]:
        rows = [case.solved(case.evidence_of(fixed), seconds) for fixed in case.train_fixed]
        return np.array(rows, dtype=np.int16)

    return case.kept(f"library {case.num_train}", make)


def nearest(case: Case, k: int, count: int) -> NDArray[np.intp]:
    """The training queries whose references agree best with the evidence, the best first."""
    given = np.flatnonzero(case.fixed[k] >= 0)
    hits = (case.library[:, given] == case.fixed[k, given]).sum(axis=1)
    return np.argsort(-hits, kind="stable")[:count]


@njit(nogil=True, error_model="numpy")
def _descend(model: FlatModel, core: CoreState, scores: NDArray[np.float64]) -> None:
    """Give one free variable after the other its best value, until a sweep changes next to nothing."""
    fill_scores(model, core.assignment, scores)
    for _ in range(20):
        changes = 0
        for variable in range(len(core.assignment)):
            if core.is_free[variable]:
                first, now = model.move_starts[variable], core.assignment[variable]
                best = now
                for value in range(model.domain_sizes[variable]):
                    if scores[first + value] > scores[first + best] + 1e-9:
                        best = value
                if best != now:
                    _change(model, core.assignment, scores, variable, best)
                    changes += 1
        if changes <= len(core.assignment) // 1000:
            break


@njit(nogil=True, error_model="numpy")
def _cross(
    model: FlatModel, core: CoreState, row: Any, members: NDArray[np.int32], scores: NDArray[np.float64]
) -> None:
    """Give the best assignment every cluster of a descended row that is better."""
    for variable in range(len(row)):
        if core.is_free[variable]:
            core.assignment[variable] = row[variable]
    _descend(model, core, scores)
    recount(model, core)
    note_all_changed(core)
    harvest_clusters(model, core, members)
    save_all_best(core)
    for part in range(len(core.parts)):
        core.parts[part]["num_changed"] = 0
    core.is_changed[:] = False


def crossed(case: Case, k: int, seconds: float, is_learned: bool = True) -> Begin:
    """Begin at the vote; where time allows, crossed with a constructed start and some near references.

    The control takes random assignments in place of references.
    """
    from starts import Begin  # noqa: PLC0415

    size, flat = case.model.num_variables, case.runner.flat
    room = np.empty(size, dtype=np.int32), np.empty(flat.num_moves)
    cost = SECONDS_PER_VALUE * float(flat.domain_sizes[flat.scopes[:, 0]].sum())
    count = min(MOST_OPINIONS, int(SHARE * seconds / cost))

    def begin(model: FlatModel, core: CoreState) -> None:
        if is_learned:
            chosen = nearest(case, k, 15)
            first, others = vote(case, case.library[chosen]), case.library[chosen[:count]]
        else:
            rng = np.random.default_rng(k)
            first, *others = rng.integers(0, case.model.domain_sizes, (count + 1, size))
        construct_assignment(model, core)
        if count == 0:
            if is_learned:
                core.assignment[core.is_free] = first[core.is_free]
            return
        _descend(model, core, room[1])
        recount(model, core)
        first_best(core)
        for row in (first, *others):
            _cross(model, core, row.astype(np.int16), *room)
        core.assignment[:] = core.best
        core.counters[0]["num_events"] = 0

    return Begin(begin=begin)


def vote(case: Case, rows: NDArray[np.int16]) -> Row:
    """The most frequent value of each variable."""
    counts = [(rows == value).sum(axis=0) for value in range(int(case.model.domain_sizes.max()))]
    return np.argmax(counts, axis=0)


def from_nearest(case: Case, k: int) -> Begin:
    """Begin at the reference of the nearest query."""
    from starts import Begin  # noqa: PLC0415

    began = thread_time()
    start = case.library[nearest(case, k, 1)[0]].astype(np.int64)
    return Begin(start, thread_time() - began)


def tuned(case: Case) -> Begin:
    """The profile that `beacon tune` finds on training queries."""
    from starts import Begin  # noqa: PLC0415

    path = case.cache / f"{case.name} profile.json"
    if not path.exists():
        evidences = [case.evidence_of(fixed) for fixed in case.train_fixed[:16]]
        queries = beacon.QuerySet.from_evidence(evidences, case.model, splits=(0.0, 1.0, 0.0))
        settings = beacon.TuneSettings(seconds=(0.01, 0.03, 0.1), queries=16)
        best = beacon.tune(case.model, queries, settings=settings).best.profile
        assert best is not None
        path.write_text(json.dumps(best.to_dict()), encoding="utf-8")
    return Begin(profile=Profile.from_dict(json.loads(path.read_text(encoding="utf-8"))))


@njit(nogil=True, error_model="numpy")
def _construct(
    model: FlatModel, core: CoreState, order: NDArray[np.int32], room: _Room, prior: NDArray[np.float64]
) -> None:
    """A constructed start whose prospects begin at a prior for each move."""
    core.counters[0]["stamp"] += 1
    stamp = core.counters[0]["stamp"]
    for k in range(len(order)):
        variable = order[k]
        if core.is_free[variable]:
            core.stamps[variable] = stamp
            domain = model.domain_sizes[variable]
            for value in range(domain):
                room.sums[value] = prior[model.move_starts[variable] + value]
            for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
                _add_pair(model, core, room, variable, link, stamp)
            for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
                _add_wide(model, core, room, variable, model.wides[link, 0], model.wides[link, 1], stamp)
            core.assignment[variable] = _best_value(core, room.sums, domain)


def votes(case: Case, k: int, count: int = 15) -> NDArray[np.float64]:
    """[moves] how often each value is that of a near reference; each begins with a small count."""
    rows, moves = case.library[nearest(case, k, count)], Moves.of(case.model)
    counts = np.bincount(moves.of_assignments(rows).ravel(), minlength=len(moves)) + 0.5
    found: NDArray[np.float64] = counts / moves.per_move(moves.total(counts[None]))[0]
    return found


def fast_scores(case: Case, k: int) -> NDArray[np.float64]:
    fixed = case.fixed[k : k + 1]
    found: NDArray[np.float64] = case.fast.probabilities(np.maximum(fixed, 0).astype(np.int64), fixed >= 0)[0]
    return found


def constructed(case: Case, k: int, scores: Callable[[Case, int], NDArray[Any]], weight: float) -> Begin:
    """A constructed start that heeds a guide: log probabilities are added, times a penalty's weight."""
    from starts import Begin  # noqa: PLC0415

    def begin(model: FlatModel, core: CoreState) -> None:
        sizes = int(model.domain_sizes.max()), int(np.diff(model.scope_starts).max())
        room = _Room(np.empty(sizes[0]), np.empty(sizes[0]), np.empty(sizes[1], dtype=np.int32))
        scale = weight * default_penalty_weight(model)
        _construct(model, core, _order(model), room, scale * np.log(np.maximum(scores(case, k), 1e-3)))

    return Begin(begin=begin)


def most_likely(case: Case, k: int, scores: Callable[[Case, int], NDArray[Any]]) -> Begin:
    from starts import Begin  # noqa: PLC0415

    began = thread_time()
    start = Moves.of(case.model).best_values(scores(case, k)[None])[0]
    return Begin(start, thread_time() - began)


def train_fast(case: Case) -> FastGuide:
    """The fast guide of the training queries; a tenth of them decides when it is done."""
    from beacon.learn.fast import Examples, _epochs, measured  # noqa: PLC0415

    rows, observed = case.library.astype(np.int64), case.train_fixed >= 0
    cut, settings = len(rows) * 9 // 10, FastSettings()
    train, validation = Examples(rows[:cut], observed[:cut]), Examples(rows[cut:], observed[cut:])
    losses, guides = list[float](), list[FastGuide]()
    for _, weights in _epochs(case.model, train, settings, 0):
        guides.append(FastGuide(case.model, weights))
        losses.append(measured(guides[-1], validation).loss)
        if int(np.argmin(losses)) + settings.patience < len(losses):
            break
    return guides[int(np.argmin(losses))]


LEARNED = {
    "nearest": lambda case, k, _: from_nearest(case, k),
    "vote": lambda case, k, _: most_likely(case, k, votes),
    "fast": lambda case, k, _: most_likely(case, k, fast_scores),
    "vote in construction": lambda case, k, _: constructed(case, k, votes, 1.0),
    "fast in construction": lambda case, k, _: constructed(case, k, fast_scores, 1.0),
    "crossed": crossed,
    "crossed, not learned": lambda case, k, seconds: crossed(case, k, seconds, is_learned=False),
    "tuned": lambda case, k, _: tuned(case),
}
