"""GLS+: climb the penalised score; at its local optima penalise the entries most worth it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import (
    CoreState,
    has_own_table,
    model_entry,
    own_table,
    rebuild,
    tops_of,
)
from beacon.engine.flip import Utilities, climb, utility
from beacon.engine.incumbent import (
    EPSILON,
    RUNNING,
    STALLED,
    Limits,
    harvest_clusters,
    may_continue,
    outcome,
    restart,
)
from beacon.engine.max_tree import LOWEST, build_tree, collect_top, level_starts, set_leaf, tree_top
from beacon.engine.rows import Rows, fade_rows, forget_rows, lower_entry
from beacon.errors import check_at_least, check_count, check_number, check_positive
from beacon.jit import called, inlined, kernel
from beacon.model.factors import of_tables
from beacon.model.flat import FlatModel, once_per_model
from beacon.strategies.strategy import Strategy

LANDSCAPE_SHARE = 0.25  # of the median loss
LEAST_SHARE = 1e-3  # of the weight by tables: where most variables lose nothing, the median says nothing


class GlsConstants(NamedTuple):
    """The numbers of GLS+ as its kernel takes them."""

    weight: float
    """What one unit of penalty costs, in nats."""
    by_landscape: bool
    """Is the weight found at the first local optimum? ``weight`` stands in where that says nothing."""
    smoothing: float
    """What all penalties are multiplied by now and then."""
    smoothing_interval: int
    """Local optima between two smoothings; 0: never."""
    restart_interval: int
    """Steps between two restarts; 0: never."""
    restart_idle: float
    """Restart after this many steps per free variable without a new best; 0: never."""
    restart_doubling: bool
    """Take this 1, 1, 2, 1, 1, 2, 4, 1 ... times, from restart to restart?"""
    harvest_share: float
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool
    """Count costs from the best entry of the same table, or from probability one as published."""


class GlsState(NamedTuple):
    """What GLS+ remembers beside the core, whose ``table`` holds the penalised log-potentials."""

    weight: NDArray[np.float64]
    """[2] what one unit of penalty costs, in nats, and what it would by the landscape; 0: not known before
    the first local optimum."""
    next_harvest: NDArray[np.int64]
    """[1] the work from which better clusters are next looked for."""
    utilities: Utilities
    """The penalties, and what penalising each entry would be worth: cost / (1 + penalty)."""
    tied_factors: NDArray[np.int32]
    """[factors] room for the factors of one penalty round."""
    cluster: NDArray[np.int32]
    """[variables] room for one cluster."""

    @property
    def penalties(self) -> NDArray[np.float32]:
        """[entries]"""
        return self.utilities.penalties


def new_gls_state(model: FlatModel, core: CoreState, constants: GlsConstants) -> GlsState:
    """A search without penalties so far."""
    levels = level_starts(model.num_factors)
    num_penalties = len(core.table) if core.rows is None else model.num_entries
    utilities = Utilities(
        tops=core.tops if constants.relative_utilities else _published_tops(model, core),
        penalties=np.zeros(num_penalties, dtype=np.float32),  # memory that is not used until written to
        tree=np.full(levels[-1], LOWEST, dtype=np.float32),
        levels=levels,
    )
    weight = 0.0 if constants.by_landscape else constants.weight
    return GlsState(
        weight=np.array([weight, 0.0]),
        next_harvest=np.zeros(1, dtype=np.int64),
        utilities=utilities,
        tied_factors=np.empty(model.num_factors, dtype=np.int32),
        cluster=np.empty(model.num_variables, dtype=np.int32),
    )


def _published_tops(model: FlatModel, core: CoreState) -> NDArray[np.float64]:
    """Costs count from probability one, but for factors that the search cannot change."""
    owners = np.repeat(np.arange(model.num_factors), np.diff(model.scope_starts))
    num_free = np.bincount(owners, core.is_free[model.scopes[:, 0]], model.num_factors)
    return np.where(num_free > 0, 0.0, core.tops)


@inlined
def _own_range(model: FlatModel, core: CoreState, factor: int) -> tuple[int, int]:
    """Where a factor's own table begins and ends in the search's; the same twice if it has none."""
    if not has_own_table(model, core, factor):
        return 0, 0
    first = model.bases[factor] + (core.own_shifts[factor] if len(core.own_shifts) > 0 else 0)
    return first, first + model.table_starts[factor + 1] - model.table_starts[factor]


@kernel
def clear_penalties(model: FlatModel, core: CoreState, own: GlsState) -> None:
    """Begin anew without penalties. Cost: all table entries that are no longer shared."""
    _clear(model, core, core.rows, own)


@inlined
def _clear(model: FlatModel, core: CoreState, rows: Rows | None, own: GlsState) -> None:
    stored, penalties = len(model.log_table), own.utilities.penalties
    if rows is not None:
        fade_rows(model, core, rows, penalties, np.float32(0), own.weight[0])
        forget_rows(core, rows)
        return
    for factor in range(len(core.entries)):
        first, last = _own_range(model, core, factor)
        for entry in range(first, last):
            if penalties[entry] > 0:
                penalties[entry] = 0
                core.table[entry] = model.log_table[model_entry(model, core, factor, entry)]
        if core.entries[factor] >= stored:
            core.entries[factor] -= core.own_shifts[factor]
    core.counters[0]["own_entries"] = 0


@kernel
def rebuild_utilities(model: FlatModel, core: CoreState, own: GlsState) -> None:
    """Find the utility of every factor's current entry anew. Cost: the number of factors."""
    for factor in range(len(core.entries)):
        own.utilities.tree[factor] = utility(model, core, own.utilities, factor, core.entries[factor])
    build_tree(own.utilities.tree, own.utilities.levels)


@inlined
def _penalise_entry(model: FlatModel, core: CoreState, own: GlsState, factor: int) -> None:
    """One unit more for a factor's current entry. Cost: the factor's variables."""
    weight = own.weight[0]
    _lower(model, core, core.rows, factor, weight)
    entry = core.entries[factor]
    own.utilities.penalties[entry] += np.float32(1)
    set_leaf(
        own.utilities.tree, own.utilities.levels, factor, utility(model, core, own.utilities, factor, entry)
    )
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if core.is_free[variable]:
            core.local_scores[model.move_starts[variable] + core.assignment[variable]] -= weight
            set_leaf(core.gains, core.gain_levels, variable, core.gains[variable] + weight)


@inlined
def _lower(model: FlatModel, core: CoreState, rows: Rows | None, factor: int, weight: float) -> None:
    """Lower what the search sees of a factor's current entry."""
    if rows is not None:
        lower_entry(model, core, rows, factor, weight)
        return
    if not has_own_table(model, core, factor):
        own_table(model, core, factor)
    core.table[core.entries[factor]] -= weight


@called
def _smooth_penalties(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """Let all penalties fade a little. Cost: all table entries that are no longer shared, and all links."""
    _fade(model, core, core.rows, own, np.float32(constants.smoothing))
    rebuild(model, core)
    rebuild_utilities(model, core, own)


@inlined
def _fade(model: FlatModel, core: CoreState, rows: Rows | None, own: GlsState, rate: np.float32) -> None:
    penalties = own.utilities.penalties
    if rows is not None:
        fade_rows(model, core, rows, penalties, rate, own.weight[0])
        return
    for factor in range(len(core.entries)):
        first, last = _own_range(model, core, factor)
        for entry in range(first, last):
            if penalties[entry] > 0:
                penalties[entry] *= rate
                log_potential = model.log_table[model_entry(model, core, factor, entry)]
                core.table[entry] = log_potential - own.weight[0] * float(penalties[entry])


@called
def _median_loss(core: CoreState) -> float:
    """The median, over free variables, of what the best other value loses. Cost: 40 times the variables."""
    low, high, num_free = 0.0, 0.0, core.counters[0]["num_free"]
    for i in range(len(core.assignment)):
        if core.is_free[i]:
            high = max(high, -core.gains[i])
    for _ in range(40):
        middle, below = (low + high) / 2, 0
        for i in range(len(core.assignment)):
            below += core.is_free[i] and -core.gains[i] <= middle
        if 2 * below >= num_free:
            high = middle
        else:
            low = middle
    return high


@inlined
def _find_weight(core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """At the first local optimum: a part of what leaving it takes at a typical variable."""
    weight = LANDSCAPE_SHARE * _median_loss(core)
    own.weight[1] = weight if weight > LEAST_SHARE * constants.weight else constants.weight
    if constants.by_landscape:
        own.weight[0] = own.weight[1]


@inlined
def _penalise(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> int:
    """Smooth when due, then penalise all entries of the largest utility; return their number."""
    counters, interval = core.counters[0], constants.smoothing_interval
    if interval > 0 and counters["local_optima"] % interval == 0:
        _smooth_penalties(model, core, own, constants)
        counters["work"] += len(model.scopes)
    num_tied = collect_top(own.utilities.tree, own.utilities.levels, own.tied_factors)
    for k in range(num_tied):
        _penalise_entry(model, core, own, own.tied_factors[k])
    return num_tied


@inlined
def restart_is_due(core: CoreState, constants: GlsConstants) -> bool:
    """Is it time for a regular restart, or for one because nothing better has come?"""
    counters, interval = core.counters[0], constants.restart_interval
    if interval > 0 and counters["steps"] % interval == 0:
        return True
    idle_steps = counters["steps"] - max(counters["best_step"], counters["last_restart"])
    limit = constants.restart_idle * counters["num_free"]
    if constants.restart_doubling:
        limit *= counters["patience"]
    return bool(limit > 0 and idle_steps >= limit)


@inlined
def _harvest_if_due(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> None:
    """At a local optimum, now and then, give the best assignment what is better here."""
    counters, share = core.counters[0], constants.harvest_share
    if share > 0 and counters["work"] >= own.next_harvest[0]:
        work = harvest_clusters(model, core, own.cluster)
        counters["work"] += work
        own.next_harvest[0] = counters["work"] + int(work / share)


@inlined
def leave_optimum(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants) -> int:
    """Penalise at a local optimum; return how many of ``tied_factors`` were, 0 if no entry is worth it."""
    counters = core.counters[0]
    counters["local_optima"] += 1
    if tree_top(own.utilities.tree, own.utilities.levels) <= 0:
        return 0
    counters["work"] += 2
    if own.weight[1] == 0.0:
        _find_weight(core, own, constants)
    _harvest_if_due(model, core, own, constants)
    return _penalise(model, core, own, constants)


@called
def _start_afresh(model: FlatModel, core: CoreState, own: GlsState) -> None:
    """Restart at random without penalties."""
    clear_penalties(model, core, own)
    restart(model, core)
    rebuild_utilities(model, core, own)


@kernel
def run_gls(model: FlatModel, core: CoreState, own: GlsState, constants: GlsConstants, limits: Limits) -> int:
    """Climb and penalise until a limit is reached."""
    counters = core.counters[0]
    verdict = outcome(core, limits)
    while verdict == RUNNING and may_continue(core, limits):
        if tree_top(core.gains, core.gain_levels) > EPSILON:
            climb(model, core, own.utilities)
            if restart_is_due(core, constants):
                _start_afresh(model, core, own)
        elif leave_optimum(model, core, own, constants) == 0:
            return STALLED
        if counters["best_step"] == counters["steps"]:
            verdict = outcome(core, limits)
    return verdict


@dataclass(frozen=True)
class GlsPlus(Strategy):
    """Guided local search on penalties per table entry; see docs/gls.md for what the settings do.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> gls = beacon.GlsPlus(penalty_weight=2.0, restart_idle=50)
    >>> beacon.solve(ising_grid(4, 4), strategy=gls, stop=beacon.MaxSteps(50)).steps
    50
    """

    penalty_weight: float | None = None
    """What one unit of penalty costs, in nats; None: scaled to the model."""
    by_landscape: bool = False
    """Scale the weight to the first local optimum of each query instead of the model's tables."""
    smoothing: float = 1.0
    """Factor on all penalties at each smoothing; 1: none (published: 0.999)."""
    smoothing_interval: int = 200
    """Local optima between two smoothings; 0: never."""
    restart_interval: int = 0
    """Steps between two restarts from random; 0: never."""
    restart_idle: float = 200.0
    """Restart after this many steps per free variable without a new best; 0: never."""
    restart_doubling: bool = False
    """Take ``restart_idle`` 1, 1, 2, 1, 1, 2, 4, 1 ... times, from restart to restart."""
    harvest_share: float = 0.1
    """Work on looking for better clusters, as a share of the other work; 0: none."""
    relative_utilities: bool = True
    """Count an entry's cost from the best entry of its table rather than from probability one."""

    name: ClassVar[str] = "gls+"

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.penalty_weight is not None:
            check_positive("penalty_weight", self.penalty_weight)
        for name in ("smoothing", "harvest_share"):
            check_number(name, getattr(self, name), 0, 1)
        for name in ("smoothing_interval", "restart_interval"):
            check_count(name, getattr(self, name), 0)
        check_at_least("restart_idle", self.restart_idle, 0)

    @property
    def patience(self) -> float:
        """Fading penalties settle where as much fades as is added, perhaps too low to leave an optimum.

        They are there after a few times ``smoothing_interval / (1 - smoothing)`` local optima.
        """
        if self.smoothing == 1 or self.smoothing_interval == 0:
            return math.inf
        return 1000 + 100 * self.smoothing_interval / (1 - self.smoothing)

    def fitted(self, model: FlatModel) -> GlsPlus:
        """Fill in the penalty weight."""
        if self.penalty_weight is not None:
            return self
        return replace(self, penalty_weight=default_penalty_weight(model))

    def weighted(self, penalty_weight: float) -> GlsPlus:
        """The same with this penalty weight."""
        return replace(self, penalty_weight=penalty_weight)

    def constants(self, model: FlatModel) -> GlsConstants:
        """The settings as the kernel takes them."""
        return GlsConstants(
            weight=float(self.fitted(model).penalty_weight or 0.0),
            by_landscape=self.by_landscape,
            smoothing=float(self.smoothing),
            smoothing_interval=int(self.smoothing_interval) if self.smoothing < 1 else 0,
            restart_interval=int(self.restart_interval),
            restart_idle=float(self.restart_idle),
            restart_doubling=bool(self.restart_doubling),
            harvest_share=float(self.harvest_share),
            relative_utilities=self.relative_utilities,
        )

    def new_state(self, model: FlatModel, core: CoreState) -> GlsState:
        """Start without penalties."""
        return new_gls_state(model, core, self.constants(model))

    def settle(self, model: FlatModel, core: CoreState, own: GlsState) -> None:
        """Rebuild the core and the utilities; penalties stay."""
        rebuild(model, core)
        rebuild_utilities(model, core, own)

    def advance(self, model: FlatModel, core: CoreState, own: GlsState, limits: Limits) -> int:
        """Run the kernel."""
        return run_gls(model, core, own, self.constants(model), limits)


@once_per_model
def default_penalty_weight(model: FlatModel) -> float:
    """A typical range of the tables, less where variables have many factors.

    Where a tenth of the tables or more have zeros, these hard constraints set the scale. The figures are in
    research/gls-settings.md.
    """
    has_choice = np.diff(model.table_starts) > 1
    if not has_choice.any():
        return 1.0  # no table distinguishes anything: any weight will do
    lowest = of_tables(np.minimum, model.log_table, model.bases)[has_choice]
    ranges, is_hard = tops_of(model)[has_choice] - lowest, lowest == model.log_zero
    typical_range = float(np.sqrt(np.mean(ranges[is_hard] ** 2 if is_hard.mean() >= 0.1 else ranges**2)))
    num_choices = int(np.count_nonzero(model.domain_sizes > 1))
    factors_per_variable = len(model.scopes) / max(1, num_choices)
    return typical_range * math.sqrt(min(1.0, 4 / max(1.0, factors_per_variable))) or 1.0
