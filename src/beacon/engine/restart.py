"""Going on from another assignment."""

from __future__ import annotations

from beacon.engine.core import CoreState, randomise, rebuild
from beacon.engine.incumbent import note_all_changed, save_all_best
from beacon.jit import inlined
from beacon.model.flat import FlatModel


@inlined
def begin_again(model: FlatModel, core: CoreState) -> None:
    """Go on from an assignment that was put in place of the current one. Cost: that of a rebuild."""
    rebuild(model, core)
    core.counters[0]["last_restart"] = core.counters[0]["steps"]
    core.counters[0]["work"] += len(model.scopes)
    note_all_changed(core)


@inlined
def restart(model: FlatModel, core: CoreState) -> None:
    """Go on from a uniformly random assignment. Cost: that of a rebuild."""
    save_all_best(core)
    randomise(model, core)
    begin_again(model, core)
