"""One region perturbed and swept by blocks."""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.block import grow_block
from beacon.strategies.tree.block_elimination import best_on_block

ENTRIES_A_LINK = 16  # entries of a block's tables take as long as looking at one link


@inlined
def _perturb_most(model: FlatModel, state: SearchState, count: int) -> int:
    """Give seven in ten of the first ``count`` variables of the region random other values; how many."""
    changes = 0
    for k in range(count):
        if random_below(state.rng, 10) < 7:
            variable = state.trees.region[k]
            shift = 1 + random_below(state.rng, model.domain_sizes[variable] - 1)
            state.assignment[variable] = (state.assignment[variable] + shift) % model.domain_sizes[variable]
            changes += 1
    return changes


@inlined
def shake_by_blocks(
    model: FlatModel,
    state: SearchState,
    entries: int,
    sweeps: int,
    hard_zero: float,
    length: int,
    core: int,
) -> int:
    """Perturb the core of the region, and give blocks in the region their best joint assignments.

    The first block holds the core, which it would only put back; the later ones free it. Return the changes.
    """
    changes, work = _perturb_most(model, state, core), 0
    for sweep in range(sweeps):
        count = grow_block(model, state, entries, length, core if sweep == 0 else 0)
        more, entries_summed = best_on_block(model, state, hard_zero, count)
        changes += more
        work += entries_summed
    state.counters[0]["work"] += work // ENTRIES_A_LINK
    return changes
