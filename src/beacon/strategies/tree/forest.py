"""Random induced forests: sets of free variables on which the factors, all else fixed, have no cycle."""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.state import MAX_JOINT, TreeState, next_stamp


@inlined
def find_root(trees: TreeState, variable: int) -> int:
    """The representative of a variable's tree; paths are halved on the way."""
    roots = trees.roots
    while roots[variable] != variable:
        roots[variable] = roots[roots[variable]]
        variable = roots[variable]
    return variable


@inlined
def forest_part(
    model: FlatModel, trees: TreeState, factor: int, variable: int, forest: int
) -> tuple[int, int, int]:
    """Of a factor's forest variables but one: their number, one of them, their joint table's size."""
    count, member, size = 0, -1, 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        other = model.scopes[place, 0]
        if other != variable and trees.forest_stamps[other] == forest:
            count += 1
            member = other
            size *= model.domain_sizes[other]
    return count, member, size


@inlined
def _meets_again(trees: TreeState, member: int, count: int, probe: int) -> bool:
    """Note that the probed variable meets a tree; True if that closes a cycle.

    Two factors over the same two forest variables count as one and close none.
    """
    root = find_root(trees, member)
    single = member if count == 1 else -1
    if trees.root_stamps[root] == probe:
        return bool(single < 0 or trees.met_at[root] != single)
    trees.root_stamps[root] = probe
    trees.met_at[root] = single
    return False


@inlined
def _fits(model: FlatModel, trees: TreeState, variable: int, forest: int) -> bool:
    """May a variable join the forest? Cost: its links and, of wide factors, their variables."""
    probe, domain = next_stamp(trees), model.domain_sizes[variable]
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other = model.pairs[link, 2]
        if other >= 0 and trees.forest_stamps[other] == forest:
            too_large = domain * model.domain_sizes[other] > MAX_JOINT
            if too_large or _meets_again(trees, other, 1, probe):
                return False
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        count, member, size = forest_part(model, trees, factor, variable, forest)
        if count > 0:
            if domain * size > MAX_JOINT or _meets_again(trees, member, count, probe):
                return False
            if count > 1 and trees.parallel_stamps[factor] == forest:
                return False  # the factor shares its pair with another: a third variable would close a cycle
    return True


@inlined
def _join_through(trees: TreeState, variable: int, factor: int, member: int, count: int, forest: int) -> None:
    root = find_root(trees, member)
    if root != variable:
        trees.roots[root] = variable
    elif count == 1:
        trees.parallel_stamps[factor] = forest
        trees.parallel_stamps[trees.joined_by[member]] = forest
    trees.joined_by[member] = factor


@inlined
def _join(model: FlatModel, trees: TreeState, variable: int, forest: int) -> None:
    """Put a variable that fits into the forest."""
    trees.forest_stamps[variable] = forest
    trees.roots[variable] = variable
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other = model.pairs[link, 2]
        if other >= 0 and trees.forest_stamps[other] == forest:
            _join_through(trees, variable, model.pairs[link, 0], other, 1, forest)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        count, member, _ = forest_part(model, trees, factor, variable, forest)
        if count > 0:
            _join_through(trees, variable, factor, member, count, forest)


@kernel
def grow_forest(model: FlatModel, state: SearchState, size: int) -> int:
    """Choose a random maximal forest among the first ``size`` variables of the region; return its stamp.

    The variables are shuffled in place. Cost: their links.
    """
    trees = state.trees
    forest = next_stamp(trees)
    for i in range(size - 1, 0, -1):
        k = random_below(state.rng, i + 1)
        trees.region[i], trees.region[k] = trees.region[k], trees.region[i]
    for i in range(size):
        if _fits(model, trees, trees.region[i], forest):
            _join(model, trees, trees.region[i], forest)
    return forest
