"""Blocks: sets of free variables that can be eliminated one after the other through small tables.

Variables join in breadth-first order from a random one, and the last to join is eliminated first. One that
would make any table larger than allowed stays out. So a block is a forest where nothing more is allowed, and
the whole region where that is narrow.
"""

from __future__ import annotations

from beacon.engine.core import CoreState
from beacon.jit import called, inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.state import MAX_WIDTH, BlockState, TreeState, next_stamp

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
        size *= model.domain_sizes[blocks.members[number]["variable"]]
        if size > most:
            return _TOO_LARGE
    return size


@inlined
def _join_to_neighbours(
    model: FlatModel, own: TreeState, variable: int, member: int, block: int, most: int
) -> bool:
    """Fill the bucket of a new member with the members that share a factor with it, if that is not too large.

    Cost: the variable's neighbours.
    """
    blocks, width = own.blocks, 0
    for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
        mark = own.marks[model.neighbours[k]]
        if mark["block"] == block:
            width = _put(blocks, member, mark["number"], width)
            if width > MAX_WIDTH:
                return False
    blocks.members[member]["width"] = width
    blocks.members[member]["size"] = _joint_values(model, blocks, member, width, most)
    return bool(blocks.members[member]["size"] != _TOO_LARGE)


@inlined
def _merge(blocks: BlockState, parent: int, width: int) -> int:
    """Merge the bucket of ``passed[0]`` with the rest of ``passed``; return the width, also if too many."""
    old, i, k, count = blocks.members[parent]["width"], 1, 0, 0
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
    width, growth = blocks.members[member]["width"], blocks.members[member]["size"]
    for k in range(width):
        blocks.passed[k] = blocks.buckets[member, k]
    while width > 0:
        parent = blocks.passed[0]
        width = _merge(blocks, parent, width)
        if width == blocks.members[parent]["width"]:
            return growth  # type: ignore[no-any-return]
        most = entries // model.domain_sizes[blocks.members[parent]["variable"]]
        size = _joint_values(model, blocks, -1, width, most) if width <= MAX_WIDTH else _TOO_LARGE
        if size == _TOO_LARGE:
            return _TOO_LARGE
        growth += size - blocks.members[parent]["size"]
        for k in range(width):
            blocks.passed[k] = blocks.merged[k]
        if writes:
            blocks.members[parent]["size"] = size
            blocks.members[parent]["width"] = width
            for k in range(width):
                blocks.buckets[parent, k] = blocks.merged[k]
    return growth  # type: ignore[no-any-return]


@inlined
def _visit(own: TreeState, variable: int, region: int, visit: int, tail: int) -> int:
    """Put a variable of the region that has not been reached into the queue; return the queue's new end."""
    mark = own.marks[variable]
    if mark["region"] == region and mark["visit"] != visit:
        mark["visit"] = visit
        own.order[tail] = variable
        tail += 1
    return tail


@inlined
def _growth(model: FlatModel, own: TreeState, variable: int, count: int, block: int, entries: int) -> int:
    """By how many entries the messages grow if a variable joins as member ``count``, or _TOO_LARGE."""
    most = entries // model.domain_sizes[variable]
    own.blocks.members[count]["variable"] = variable
    if most == 0 or not _join_to_neighbours(model, own, variable, count, block, most):
        return _TOO_LARGE
    return _hand_on(model, own.blocks, count, entries, False)


@called
def grow_block(
    model: FlatModel, core: CoreState, own: TreeState, entries: int, length: int, held: int
) -> int:
    """Choose a block among the first ``length`` variables of the region, none of the first ``held`` of them.

    Return its number of members. Cost: the links of the region, and the buckets' sizes for each that joins.
    """
    blocks, region = own.blocks, own.marks[own.region[0]]["region"]
    block, visit, head, tail, count, total = next_stamp(own), next_stamp(own), 0, 0, 0, 0
    for k in range(held):
        own.marks[own.region[k]]["held"] = block
    first = random_below(core.rng, length)
    for shift in range(length):
        tail = _visit(own, own.region[(first + shift) % length], region, visit, tail)
        while head < tail:
            variable = own.order[head]
            head += 1
            for k in range(model.neighbour_starts[variable], model.neighbour_starts[variable + 1]):
                tail = _visit(own, model.neighbours[k], region, visit, tail)
            mark = own.marks[variable]
            if mark["held"] == block or count == len(blocks.members):
                continue
            growth = _growth(model, own, variable, count, block, entries)
            if growth != _TOO_LARGE and total + growth <= len(blocks.messages):
                _hand_on(model, blocks, count, entries, True)
                total += growth
                mark["block"] = block
                mark["number"] = count
                count += 1
    return count
