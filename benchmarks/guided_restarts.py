"""Restarts that begin where solved queries' answers say, or at a construction, for starts.py.

An arm of the mix that restarts at such a place instead of a random one, and is the same in all else. What it
needs of the kernels is done here, call by call, since the kernels know random restarts alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.construct import construct_assignment
from beacon.engine.core import CoreState, draw_assignment, rebuild
from beacon.engine.incumbent import RUNNING, Limits, note_all_changed, save_all_best
from beacon.model.flat import FlatModel
from beacon.strategies.auto import Auto, OtherWeight
from beacon.strategies.gls import GlsPlus, GlsState, clear_penalties, rebuild_utilities
from beacon.strategies.tree import Tree

if TYPE_CHECKING:
    from starts import Begin, Case

NOISE = 0.1  # of the variables have a random value
NEAREST = {"votes": 15, "answers": 50}
Place = Callable[[FlatModel, CoreState], None]


@dataclass(frozen=True)
class RestartsAt(OtherWeight):
    """The arm that restarts soon, at a place of our own."""

    place: Place = field(default=draw_assignment)
    soon: float = OtherWeight.restart_idle
    restart_idle: float = 0.0  # the kernel leaves restarts to us

    def advance(self, model: FlatModel, core: CoreState, own: GlsState, limits: Limits) -> int:
        """Run the kernel from one restart to the next."""
        counters, verdict = core.counters[0], RUNNING
        while verdict == RUNNING and counters["steps"] < limits.steps and counters["work"] < limits.work:
            patience = self.soon * counters["num_free"] * counters["patience"]
            due = int(max(counters["best_step"], counters["last_restart"]) + patience) + 1
            if counters["steps"] >= due:
                self._begin_again(model, core, own)
                continue
            before = int(counters["steps"]), int(counters["num_events"])
            verdict = super().advance(model, core, own, limits._replace(steps=min(limits.steps, due)))
            if (int(counters["steps"]), int(counters["num_events"])) == before:
                break
        return verdict

    def _begin_again(self, model: FlatModel, core: CoreState, own: GlsState) -> None:
        """What the kernel does at a restart."""
        counters = core.counters[0]
        clear_penalties(model, core, own)
        save_all_best(core)
        self.place(model, core)
        rebuild(model, core)
        turn, patience = int(counters["restart_turn"]), int(counters["patience"])
        if turn & -turn == patience:
            counters["restart_turn"], counters["patience"] = turn + 1, 1
        else:
            counters["patience"] = 2 * patience
        counters["last_restart"] = counters["steps"]
        counters["work"] += len(model.scopes)
        note_all_changed(core)
        rebuild_utilities(model, core, own)


def restarting(case: Case, k: int, kind: str) -> Begin:
    """`auto` with restarts of a kind; all else as it is."""
    from starts import Begin  # noqa: PLC0415

    began, rng = thread_time(), np.random.default_rng(k)
    place = _PLACES[kind](case, k, rng)
    count = case.model.num_variables  # kernels are first tried on a small model
    own: Place = lambda m, c: (place if m.num_variables == count else draw_assignment)(m, c)  # noqa: E731
    arms = (GlsPlus(), Tree(), RestartsAt(place=own))
    return Begin(seconds=thread_time() - began, strategy=Auto(arms))


def _nearest(case: Case, k: int, count: int) -> NDArray[Any]:
    fixed = case.fixed[k]
    return case.solved_guide().opinions(np.maximum(fixed, 0), fixed >= 0, count)


def _put(core: CoreState, values: NDArray[Any]) -> None:
    np.copyto(core.assignment, values, where=core.is_free, casting="unsafe")


def votes(case: Case, k: int, rng: np.random.Generator) -> Place:
    """Each variable by the votes of the nearest answers."""
    rows = _nearest(case, k, NEAREST["votes"])
    columns = np.arange(rows.shape[1])

    def place(_: FlatModel, core: CoreState) -> None:
        _put(core, rows[rng.integers(0, len(rows), len(columns)), columns])

    return place


def answers(case: Case, k: int, rng: np.random.Generator) -> Place:
    """One of the nearest answers, with noise."""
    rows = _nearest(case, k, NEAREST["answers"])

    def place(model: FlatModel, core: CoreState) -> None:
        drawn = rng.integers(0, model.domain_sizes)
        row = rows[rng.integers(0, len(rows))]
        _put(core, np.where(rng.random(len(row)) < NOISE, drawn, row))

    return place


def constructed(case: Case, k: int, rng: np.random.Generator) -> Place:
    """A constructed assignment, with noise."""

    def place(model: FlatModel, core: CoreState) -> None:
        construct_assignment(model, core)
        drawn = rng.integers(0, model.domain_sizes)
        _put(core, np.where(rng.random(len(drawn)) < NOISE, drawn, core.assignment))

    return place


_PLACES = {
    "votes": votes,
    "answers": answers,
    "construction": constructed,
    "random": lambda case, k, rng: draw_assignment,
}
RESTARTS = {
    f"restarts at {kind}": lambda case, k, _, kind=kind: restarting(case, k, kind) for kind in _PLACES
}
