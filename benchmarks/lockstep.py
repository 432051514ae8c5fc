"""Many guided searches in lockstep: every step of every search is scored, all of them in a few calls.

The states of the searches are stacked, so that one compiled call advances a share of them; a step of a search
costs some microseconds. Only candidates are scored: with ``improving`` candidates the few moves that gain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import CoreState
from beacon.engine.flip import Utilities
from beacon.engine.incumbent import EPSILON, Limits
from beacon.engine.max_tree import LOWEST, tree_top
from beacon.guided.guidance import GuidanceConstants, GuideUse
from beacon.guided.kernel import _restart, run_guided_gls, run_guided_greedy
from beacon.guided.state import COUNTERS, GuideState, build_guide
from beacon.jit import called, inlined, kernel
from beacon.model.flat import FlatModel
from beacon.reduce.propagate import fixed_values
from beacon.runner.search import Search
from beacon.strategies.gls import GlsConstants, GlsPlus, GlsState, leave_optimum
from beacon.strategies.greedy import MAX_IDLE_RESTARTS
from beacon.strategies.strategy import Strategy

MIN_SHARE, FEW = 0.6, 96  # states are scored together if their numbers of candidates are alike, or small
SHARES = 8  # of the searches, each advanced by a call of its own; calls cost more than steps
THREADS = max(1, len(os.sched_getaffinity(0)) - 1)

Scorer = Callable[[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int32]], NDArray[np.float32]]
"""Scores of some moves of some states: assignments, observed, moves -> [states, moves]."""


class Rules(NamedTuple):
    """How each search heeds its guide."""

    weights: NDArray[np.float64]
    improving: NDArray[np.bool_]
    stalls: NDArray[np.float64]


class Candidates(NamedTuple):
    """What is to be scored, and what it scored."""

    moves: NDArray[np.int32]
    """[searches, moves] the candidates of each search, as many as ``counts`` says."""
    counts: NDArray[np.int32]
    scores: NDArray[np.float32]
    """[searches, moves] their scores, in the same places."""


class Lockstep:
    """One search per use and query, uses outermost; all of one strategy."""

    def __init__(
        self,
        flat: FlatModel,
        strategy: Strategy,
        evidences: Sequence[dict[int, int]],
        starts: Sequence[NDArray[np.int64]],
        uses: Sequence[GuideUse],
        seed: int,
        propagate: bool = False,
    ) -> None:
        self.flat, strategy = flat, strategy.fitted(flat)

        def begun(query: int) -> Search:
            fixed = fixed_values(flat, evidences[query], None, propagate)
            return Search(flat, fixed, strategy, starts[query], seed)

        with ThreadPoolExecutor(THREADS) as pool:
            searches = list(pool.map(begun, range(len(evidences))))
        states, repeats = [search.core for search in searches], len(uses)
        assert states[0].rows is None, "variables have too many values for searches in lockstep"
        self.stack = _stacked(states, repeats)
        is_gls = isinstance(strategy, GlsPlus)
        self.gls = _stacked([search.own for search in searches], repeats) if is_gls else None
        self.part_starts = np.cumsum([0, *[len(state.parts) for state in states] * repeats])
        count = repeats * len(states)
        self.observed = np.concatenate([[_observed(evidence, flat) for evidence in evidences]] * repeats)
        tree, moves = self.stack.gains.shape[1], flat.num_moves
        self.guides = GuideState(
            np.zeros((count, 1), COUNTERS),
            np.zeros((count, moves), np.float32),
            np.full((count, tree), LOWEST),
            np.full((count, tree), LOWEST),
            np.zeros((count, moves, 2), np.int32),
        )
        numbers = [use.guidance.constants() for use in uses for _ in states]
        self.rules = Rules(
            np.array([number.weight for number in numbers]),
            np.array([number.improving_only for number in numbers]),
            np.array([number.stall for number in numbers]),
        )
        self.constants = (
            strategy if isinstance(strategy, GlsPlus) else GlsPlus(penalty_weight=1.0)
        ).constants(flat)
        self.candidates = Candidates(
            np.zeros((count, moves), np.int32),
            np.zeros(count, np.int32),
            np.zeros((count, moves), np.float32),
        )
        bounds = np.linspace(0, count, min(count, SHARES) + 1).astype(int)
        self._shares = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        self._pool = ThreadPoolExecutor(SHARES)
        self._call(prepare)

    @property
    def assignments(self) -> NDArray[np.int32]:
        """[searches, variables] where the searches stand."""
        return self.stack.assignment

    @property
    def best(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """[searches] the best floored scores so far, and their zero factors."""
        counters = self.stack.counters[:, 0]
        zeros = counters["best_zeros"]
        return counters["best_score"] + zeros * counters["log_zero"], zeros.copy()

    def step(self, number: int) -> None:
        """Let every search make step ``number``, by the scores that are in place."""
        self._call(advance, number)

    def _call(self, function: Callable[..., None], *more: int) -> None:
        def share(bounds: tuple[int, int]) -> None:
            function(
                self.flat,
                self.stack,
                self.part_starts,
                self.gls,
                self.guides,
                self.rules,
                self.constants,
                self.candidates,
                *bounds,
                *more,
            )

        list(self._pool.map(share, self._shares))


def run_together(
    groups: Sequence[Lockstep],
    score: Scorer,
    marks: Sequence[int],
    after_step: Callable[[int], None] | None = None,
) -> list[tuple[NDArray[np.float64], NDArray[np.int64]]]:
    """Run to the last mark; [searches, marks] best scores and zero factors of each group."""
    found: list[list[tuple[NDArray[np.float64], NDArray[np.int64]]]] = [[] for _ in groups]
    for number in range(1, marks[-1] + 1):
        advance_all(groups, score, number)
        if after_step is not None:
            after_step(number)
        if number in marks:
            for own, group in zip(found, groups, strict=True):
                own.append(group.best)
    return [(np.stack([s for s, _ in own], 1), np.stack([z for _, z in own], 1)) for own in found]


def advance_all(groups: Sequence[Lockstep], score: Scorer, number: int) -> None:
    """Score what is to be scored, and let every search make step ``number``."""
    _score_all(groups, score)
    for group in groups:
        group.step(number)


def _score_all(groups: Sequence[Lockstep], score: Scorer) -> None:
    """Score the candidates of all searches, those with about equally many together."""
    counts = np.concatenate([group.candidates.counts for group in groups])
    group_of = np.repeat(np.arange(len(groups)), [len(group.candidates.counts) for group in groups])
    row_of = np.concatenate([np.arange(len(group.candidates.counts)) for group in groups])
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    while len(order):
        width = int(counts[order[0]])
        least = MIN_SHARE * width if width > FEW else 0
        together = int(np.searchsorted(-counts[order], -least, side="right"))
        chosen, order = order[:together], order[together:]
        picked = [(groups[k], row_of[chosen[group_of[chosen] == k]]) for k in range(len(groups))]
        columns = [
            (group.assignments[rows], group.observed[rows], group.candidates.moves[rows, :width])
            for group, rows in picked
        ]
        scores = score(*(np.concatenate(column) for column in zip(*columns, strict=True)))
        first = 0
        for group, rows in picked:
            group.candidates.scores[rows, :width] = scores[first : first + len(rows)]
            first += len(rows)


def _observed(evidence: dict[int, int], flat: FlatModel) -> NDArray[np.bool_]:
    observed = np.zeros(flat.num_variables, dtype=np.bool_)
    observed[list(evidence)] = True
    return observed


def _stacked(states: Sequence[Any], repeats: int) -> Any:
    """The states of all searches in one: arrays with a row for each, parts one after another."""
    fields = {}
    for name in states[0]._fields:
        own = [getattr(state, name) for state in states]
        if own[0] is None:
            fields[name] = None
        elif isinstance(own[0], tuple):
            fields[name] = _stacked(own, repeats)
        elif name == "parts":
            fields[name] = np.concatenate(own * repeats)
        else:
            fields[name] = np.concatenate([np.stack(own)] * repeats)
    return type(states[0])(**fields)


@inlined
def _core_of(stack: CoreState, part_starts: NDArray[np.int64], row: int) -> CoreState:
    """One search of the stack."""
    return CoreState(
        stack.counters[row],
        stack.rng[row],
        stack.assignment[row],
        stack.is_free[row],
        stack.part_of[row],
        stack.tops[row],
        stack.parts[part_starts[row] : part_starts[row + 1]],
        stack.best[row],
        stack.changed[row],
        stack.is_changed[row],
        stack.events[row],
        stack.entries[row],
        stack.table[row],
        stack.own_shifts[row],
        None,
        stack.local_scores[row],
        stack.gains[row],
        stack.gain_levels[row],
        stack.touched[row],
        stack.stamps[row],
    )


@inlined
def _gls_of(stack: GlsState, row: int) -> GlsState:
    stacked = stack.utilities
    utilities = Utilities(stacked.tops[row], stacked.penalties[row], stacked.tree[row], stacked.levels[row])
    return GlsState(
        stack.weight[row],
        stack.next_harvest[row],
        utilities,
        stack.tied_factors[row],
        stack.cluster[row],
    )


@inlined
def _guide_of(guides: GuideState, row: int) -> GuideState:
    return GuideState(
        guides.counters[row], guides.scores[row], guides.losses[row], guides.worths[row], guides.ties[row]
    )


@inlined
def _guidance_of(rules: Rules, row: int) -> GuidanceConstants:
    return GuidanceConstants(rules.weights[row], rules.improving[row], rules.stalls[row], False, True)


@inlined
def _list_candidates(
    model: FlatModel, core: CoreState, improving: bool, candidates: Candidates, row: int
) -> None:
    """List the moves that a search chooses among at its next step."""
    count, lowest = 0, EPSILON if improving else LOWEST
    for variable in range(len(core.assignment)):
        if core.is_free[variable] and core.gains[variable] > lowest:
            first, current = model.move_starts[variable], core.assignment[variable]
            for value in range(model.domain_sizes[variable]):
                gain = core.local_scores[first + value] - core.local_scores[first + current]
                if value != current and gain > lowest:
                    candidates.moves[row, count] = first + value
                    count += 1
    candidates.counts[row] = count


@called
def _settle(
    model: FlatModel,
    core: CoreState,
    gls: GlsState | None,
    guide: GuideState,
    guidance: GuidanceConstants,
    constants: GlsConstants,
) -> None:
    """Penalise or restart until some move gains, as the strategy does at its local optima."""
    while tree_top(core.gains, core.gain_levels) <= EPSILON:
        if gls is not None:
            if leave_optimum(model, core, gls, constants) == 0:
                return
        else:
            core.counters[0]["local_optima"] += 1
            guide.counters[0]["idle_restarts"] += 1
            if guide.counters[0]["idle_restarts"] > MAX_IDLE_RESTARTS:
                return
            _restart(model, core, gls, guide, guidance)
    core.counters[0]["num_events"] = 0


@kernel
def prepare(
    model: FlatModel,
    stack: CoreState,
    part_starts: NDArray[np.int64],
    own: GlsState | None,
    guides: GuideState,
    rules: Rules,
    constants: GlsConstants,
    candidates: Candidates,
    first: int,
    last: int,
) -> None:
    """List the first candidates of some searches."""
    for row in range(first, last):
        core, guide = _core_of(stack, part_starts, row), _guide_of(guides, row)
        if own is not None:
            _settle(model, core, _gls_of(own, row), guide, _guidance_of(rules, row), constants)
        else:
            _settle(model, core, None, guide, _guidance_of(rules, row), constants)
        _list_candidates(model, core, rules.improving[row], candidates, row)


@kernel
def advance(
    model: FlatModel,
    stack: CoreState,
    part_starts: NDArray[np.int64],
    own: GlsState | None,
    guides: GuideState,
    rules: Rules,
    constants: GlsConstants,
    candidates: Candidates,
    first: int,
    last: int,
    step: int,
) -> None:
    """Make one step of some searches, and list what they choose among at the next."""
    limits = Limits(step, 1 << 62, np.inf)
    for row in range(first, last):
        core, guide = _core_of(stack, part_starts, row), _guide_of(guides, row)
        guidance = _guidance_of(rules, row)
        for k in range(candidates.counts[row]):
            guide.scores[candidates.moves[row, k]] = candidates.scores[row, k]
        build_guide(model, core, guide, guidance)
        if own is not None:
            gls = _gls_of(own, row)
            run_guided_gls(model, core, gls, constants, guide, guidance, limits)
            _settle(model, core, gls, guide, guidance, constants)
        else:
            run_guided_greedy(model, core, guide, guidance, limits)
            _settle(model, core, None, guide, guidance, constants)
        if core.counters[0]["steps"] == step:
            _list_candidates(model, core, rules.improving[row], candidates, row)
        else:  # proved optimal, or nothing left to do
            candidates.counts[row] = 0
