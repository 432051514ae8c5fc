"""Blocks: sets of free variables that can be eliminated one after the other through small tables.

Variables join in breadth-first order from a random one, and the last to join is eliminated first. One that
would make any table larger than allowed stays out. So a block is a forest where nothing more is allowed, and
the whole region where that is narrow.
"""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.block_state import MAX_WIDTH, BlockState
from beacon.strategies.tree.state import TreeState, next_stamp

_TOO_LARGE = -1


@inlined
def _put(blocks: BlockState, member: int, number: int, width: int) -> int:
    """Put a number into the sorted bucket of a member; return the bucket's width, also if it is too many."""
    at = 0
    while at < width and blocks.buckets[member, at] > number:
        at += 1
    if at < width and blocks.buckets[member, at] == number:
        return width
    if width < MAX_WIDTH:
        for k in range(width, at, -1):
            blocks.buckets[member, k] = blocks.buckets[member, k - 1]
        blocks.buckets[member, at] = number
    return width + 1


@inlined
def _joint_values(model: FlatModel, blocks: BlockState, bucket: int, width: int, most: int) -> int:
    """Joint values of the bucket of a member, or of the merged one (-1); _TOO_LARGE beyond ``most``."""
    size = 1
    for k in range(width):
        number = blocks.merged[k] if bucket < 0 else blocks.buckets[bucket, k]
        size *= model.domain_sizes[blocks.members[number]]
        if size > most:
            return _TOO_LARGE
    return size


@inlined
def _join_to_neighbours(
    model: FlatModel, trees: TreeState, variable: int, member: int, block: int, most: int
) -> bool:
    """Fill the bucket of a new member with the members that share a factor with it, if that is not too large.

    Cost: the variable's links and, of wide factors, their variables.
    """
    blocks, width = trees.blocks, 0
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other = model.pairs[link, 2]
        if other >= 0 and trees.forest_stamps[other] == block:
            width = _put(blocks, member, blocks.numbers[other], width)
            if width > MAX_WIDTH:
                return False
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            other = model.scopes[place, 0]
            if trees.forest_stamps[other] == block:
                width = _put(blocks, member, blocks.numbers[other], width)
                if width > MAX_WIDTH:
                    return False
    blocks.widths[member] = width
    blocks.sizes[member] = _joint_values(model, blocks, member, width, most)
    return bool(blocks.sizes[member] != _TOO_LARGE)


@inlined
def _merge(blocks: BlockState, parent: int, width: int) -> int:
    """Merge the bucket of ``passed[0]`` with the rest of ``passed``; return the width, also if too many."""
    old, i, k, count = blocks.widths[parent], 1, 0, 0
    while i < width or k < old:
        left = blocks.passed[i] if i < width else -1
        right = blocks.buckets[parent, k] if k < old else -1
        if count == MAX_WIDTH:
            return MAX_WIDTH + 1
        blocks.merged[count] = max(left, right)
        i += left >= right
        k += right >= left
        count += 1
    return count


@inlined
def _hand_on(model: FlatModel, blocks: BlockState, member: int, entries: int, writes: bool) -> int:
    """What eliminating a member joins, its parent must hold, and the parent's parent: see if all of it fits.

    Return by how many entries the messages grow, or _TOO_LARGE. The buckets change only if ``writes``.
    """
    width, growth = blocks.widths[member], blocks.sizes[member]
    for k in range(width):
        blocks.passed[k] = blocks.buckets[member, k]
    while width > 0:
        parent = blocks.passed[0]
        width = _merge(blocks, parent, width)
        if width == blocks.widths[parent]:
            return growth  # type: ignore[no-any-return]
        most = entries // model.domain_sizes[blocks.members[parent]]
        size = _joint_values(model, blocks, -1, width, most) if width <= MAX_WIDTH else _TOO_LARGE
        if size == _TOO_LARGE:
            return _TOO_LARGE
        growth += size - blocks.sizes[parent]
        for k in range(width):
            blocks.passed[k] = blocks.merged[k]
        if writes:
            blocks.sizes[parent] = size
            blocks.widths[parent] = width
            for k in range(width):
                blocks.buckets[parent, k] = blocks.merged[k]
    return growth  # type: ignore[no-any-return]


@inlined
def _visit(state: SearchState, variable: int, region: int, visit: int, tail: int) -> int:
    """Put a variable of the region that has not been reached into the queue; return the queue's new end."""
    trees = state.trees
    if trees.region_stamps[variable] == region and trees.visit_stamps[variable] != visit:
        trees.visit_stamps[variable] = visit
        trees.order[tail] = variable
        tail += 1
    return tail


@inlined
def _visit_neighbours(
    model: FlatModel, state: SearchState, variable: int, region: int, visit: int, tail: int
) -> int:
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        if model.pairs[link, 2] >= 0:
            tail = _visit(state, model.pairs[link, 2], region, visit, tail)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            tail = _visit(state, model.scopes[place, 0], region, visit, tail)
    return tail


@kernel
def grow_block(model: FlatModel, state: SearchState, entries: int, length: int, held: int) -> int:
    """Choose a block among the first ``length`` variables of the region, none of the first ``held`` of them.

    Return its number of members. Cost: the links of the region, and the buckets' sizes for each that joins.
    """
    trees = state.trees
    blocks, region = trees.blocks, trees.region_stamps[trees.region[0]]
    block, visit, head, tail, count, total = next_stamp(trees), next_stamp(trees), 0, 0, 0, 0
    for k in range(held):
        blocks.held_stamps[trees.region[k]] = block
    first = random_below(state.rng, length)
    for shift in range(length):
        tail = _visit(state, trees.region[(first + shift) % length], region, visit, tail)
        while head < tail:
            variable = trees.order[head]
            head += 1
            tail = _visit_neighbours(model, state, variable, region, visit, tail)
            if blocks.held_stamps[variable] == block or count == len(blocks.members):
                continue
            most = entries // model.domain_sizes[variable]
            blocks.members[count] = variable
            if most > 0 and _join_to_neighbours(model, trees, variable, count, block, most):
                growth = _hand_on(model, blocks, count, entries, False)
                if growth != _TOO_LARGE and total + growth <= len(blocks.messages):
                    _hand_on(model, blocks, count, entries, True)
                    total += growth
                    trees.forest_stamps[variable] = block
                    blocks.numbers[variable] = count
                    count += 1
    return count
