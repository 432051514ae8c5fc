"""The best joint assignment of a block, all else fixed: its variables eliminated one by one, then set.

Zero factors come first, as on forests: a zero counts ``hard_zero``.
"""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.block_state import BlockState
from beacon.strategies.tree.max_product import log_potential


@inlined
def _prepare(model: FlatModel, blocks: BlockState, member: int) -> None:
    """Clear the sums over a member alone and over it and one of its bucket."""
    domain, start = model.domain_sizes[blocks.members[member]], 0
    for value in range(domain):
        blocks.own[value] = 0.0
    for k in range(blocks.widths[member]):
        number = blocks.buckets[member, k]
        blocks.slots[number] = k
        blocks.pair_starts[k] = start
        start += domain * model.domain_sizes[blocks.members[number]]
    for k in range(start):
        blocks.pairs[k] = 0.0


@inlined
def _add_alone(model: FlatModel, blocks: BlockState, hard_zero: float, domain: int, at: int, by: int) -> None:
    for value in range(domain):
        blocks.own[value] += log_potential(model, hard_zero, at + value * by)


@inlined
def _add_pair(
    model: FlatModel,
    blocks: BlockState,
    hard_zero: float,
    domain: int,
    at: int,
    by: int,
    other: int,
    step: int,
) -> None:
    """Add a factor over the member (values ``by`` apart) and another (``step`` apart) of the block."""
    number = blocks.numbers[other]
    into, size = blocks.pair_starts[blocks.slots[number]], model.domain_sizes[other]
    for value in range(domain):
        for its in range(size):
            blocks.pairs[into + value * size + its] += log_potential(
                model, hard_zero, at + value * by + its * step
            )


@inlined
def _look_at_wide(
    model: FlatModel, state: SearchState, factor: int, member: int, block: int
) -> tuple[int, int, int, int]:
    """Of a factor's members but one: their number (-1: the factor was summed before), one of them, its
    stride; and the factor's entry with all members at their first value."""
    trees = state.trees
    count, one, step, entry = 0, -1, 0, model.table_starts[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if trees.forest_stamps[variable] != block:
            entry += state.assignment[variable] * model.scopes[place, 1]
        elif trees.blocks.numbers[variable] > member:
            return -1, -1, 0, 0
        elif trees.blocks.numbers[variable] < member:
            count, one, step = count + 1, variable, model.scopes[place, 1]
    return count, one, step, entry


@inlined
def _sum_small_factors(
    model: FlatModel, state: SearchState, hard_zero: float, member: int, block: int
) -> bool:
    """Sum the factors over a member and at most one of its bucket; True if there are larger ones."""
    trees, blocks, has_larger = state.trees, state.trees.blocks, False
    variable = blocks.members[member]
    domain = model.domain_sizes[variable]
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        by, other, step = model.pairs[link, 1], model.pairs[link, 2], model.pairs[link, 3]
        at = model.table_starts[model.pairs[link, 0]]
        if other < 0:
            _add_alone(model, blocks, hard_zero, domain, at, by)
        elif trees.forest_stamps[other] != block:
            _add_alone(model, blocks, hard_zero, domain, at + state.assignment[other] * step, by)
        elif blocks.numbers[other] < member:
            _add_pair(model, blocks, hard_zero, domain, at, by, other, step)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor, by = model.wides[link, 0], model.wides[link, 1]
        count, other, step, at = _look_at_wide(model, state, factor, member, block)
        if count == 0:
            _add_alone(model, blocks, hard_zero, domain, at, by)
        elif count == 1:
            _add_pair(model, blocks, hard_zero, domain, at, by, other, step)
        has_larger |= count > 1
    return has_larger


@inlined
def _spread_small_sums(model: FlatModel, blocks: BlockState, member: int) -> None:
    """Begin the table with these sums, doubling it variable by variable. Cost: its entries."""
    table, size = blocks.table, blocks.sizes[member]
    for value in range(model.domain_sizes[blocks.members[member]]):
        begin, done = value * size, 1
        table[begin] = blocks.own[value]
        for k in range(blocks.widths[member] - 1, -1, -1):
            domain = model.domain_sizes[blocks.members[blocks.buckets[member, k]]]
            pair = blocks.pair_starts[k] + value * domain
            for its in range(domain - 1, -1, -1):
                more, to = blocks.pairs[pair + its], begin + its * done
                for j in range(done):
                    table[to + j] = table[begin + j] + more
            done *= domain


@inlined
def _map_places(model: FlatModel, blocks: BlockState, member: int, base: int) -> int:
    """Fill ``places`` from ``base`` and ``strides``; return the table's entries, which are the cost."""
    places, size = blocks.places, 1
    places[0] = base
    for k in range(blocks.widths[member], -1, -1):
        number = blocks.buckets[member, k - 1] if k > 0 else member
        domain, stride = model.domain_sizes[blocks.members[number]], blocks.strides[k]
        for value in range(1, domain):
            more, to = value * stride, value * size
            for j in range(size):
                places[to + j] = places[j] + more
        size *= domain
    return size


@inlined
def _add_larger_factors(
    model: FlatModel, state: SearchState, hard_zero: float, member: int, block: int
) -> None:
    """Add the factors over a member and several of its bucket. Cost: the table's entries, each."""
    trees, blocks = state.trees, state.trees.blocks
    variable, width = blocks.members[member], blocks.widths[member]
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        count, _, _, entry = _look_at_wide(model, state, factor, member, block)
        if count > 1:
            for k in range(1, width + 1):
                blocks.strides[k] = 0
            blocks.strides[0] = model.wides[link, 1]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                other = model.scopes[place, 0]
                if other != variable and trees.forest_stamps[other] == block:
                    blocks.strides[blocks.slots[blocks.numbers[other]] + 1] = model.scopes[place, 1]
            for at in range(_map_places(model, blocks, member, entry)):
                blocks.table[at] += log_potential(model, hard_zero, blocks.places[at])


@inlined
def _add_message(model: FlatModel, blocks: BlockState, member: int, child: int) -> None:
    """Add what a child has sent. Cost: the table's entries."""
    for k in range(1, blocks.widths[member] + 1):
        blocks.strides[k] = 0
    stride = 1
    for k in range(blocks.widths[child] - 1, -1, -1):
        number = blocks.buckets[child, k]
        blocks.strides[blocks.slots[number] + 1 if number != member else 0] = stride
        stride *= model.domain_sizes[blocks.members[number]]
    for at in range(_map_places(model, blocks, member, blocks.starts[child])):
        blocks.table[at] += blocks.messages[blocks.places[at]]


@inlined
def _maximise(state: SearchState, domain: int, member: int) -> None:
    """Keep the best of a member's values for each joint value of its bucket; of equal ones a random one."""
    blocks = state.trees.blocks
    table, size, start = blocks.table, blocks.sizes[member], blocks.starts[member]
    first = random_below(state.rng, domain)
    for j in range(size):
        blocks.messages[start + j] = table[first * size + j]
        blocks.choices[start + j] = first
    for shift in range(1, domain):
        value = (first + shift) % domain
        for j in range(size):
            score = table[value * size + j]
            if score > blocks.messages[start + j]:
                blocks.messages[start + j] = score
                blocks.choices[start + j] = value


@inlined
def _eliminate(model: FlatModel, state: SearchState, hard_zero: float, member: int, block: int) -> None:
    """Sum all that concerns a member, maximise over it, and send the outcome to the next of its bucket."""
    blocks = state.trees.blocks
    _prepare(model, blocks, member)
    has_larger = _sum_small_factors(model, state, hard_zero, member, block)
    _spread_small_sums(model, blocks, member)
    if has_larger:
        _add_larger_factors(model, state, hard_zero, member, block)
    child = blocks.first_children[member]
    while child >= 0:
        _add_message(model, blocks, member, child)
        child = blocks.next_children[child]
    _maximise(state, model.domain_sizes[blocks.members[member]], member)
    if blocks.widths[member] > 0:
        parent = blocks.buckets[member, 0]
        blocks.next_children[member] = blocks.first_children[parent]
        blocks.first_children[parent] = member


@inlined
def _set_value(model: FlatModel, state: SearchState, member: int) -> int:
    """Give a member the value chosen for those of its bucket, which have theirs; 1 if it is a new one."""
    blocks, variable = state.trees.blocks, state.trees.blocks.members[member]
    at, stride = blocks.starts[member], 1
    for k in range(blocks.widths[member] - 1, -1, -1):
        other = blocks.members[blocks.buckets[member, k]]
        at += state.assignment[other] * stride
        stride *= model.domain_sizes[other]
    changed = state.assignment[variable] != blocks.choices[at]
    state.assignment[variable] = blocks.choices[at]
    return 1 if changed else 0


@kernel
def best_on_block(model: FlatModel, state: SearchState, hard_zero: float, count: int) -> tuple[int, int]:
    """Give the block its best joint assignment; return how many variables changed, and the work done.

    Cost: the tables' entries, once for each message and wide factor added, and the block's links.
    """
    blocks, changes, work, start = state.trees.blocks, 0, 0, 0
    block = state.trees.forest_stamps[blocks.members[0]] if count > 0 else 0
    for member in range(count):
        blocks.first_children[member] = -1
        blocks.starts[member] = start
        start += blocks.sizes[member]
        work += blocks.sizes[member] * model.domain_sizes[blocks.members[member]]
    for member in range(count - 1, -1, -1):
        _eliminate(model, state, hard_zero, member, block)
    for member in range(count):
        changes += _set_value(model, state, member)
    return changes, work
