"""The best joint assignment of a block, all else fixed: its variables eliminated one by one, then set.

Zero factors come first: a zero counts ``hard_zero``, which outweighs everything else in the model together.
"""

from __future__ import annotations

from beacon.engine.core import CoreState
from beacon.jit import called, inlined
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.state import BlockState, TreeState, next_stamp


@inlined
def _log_potential(model: FlatModel, hard_zero: float, entry: int) -> float:
    """An entry's log-potential, with zeros at ``hard_zero``."""
    value = model.log_table[entry]
    return hard_zero if value == model.log_zero else value


@inlined
def _prepare(model: FlatModel, blocks: BlockState, member: int) -> None:
    """Clear the sums over a member alone and over it and one of its bucket."""
    domain, start = model.domain_sizes[blocks.members[member]["variable"]], 0
    for value in range(domain):
        blocks.own[value] = 0.0
    for k in range(blocks.members[member]["width"]):
        number = blocks.buckets[member, k]
        blocks.members[number]["slot"] = k
        blocks.pair_starts[k] = start
        start += domain * model.domain_sizes[blocks.members[number]["variable"]]
    for k in range(start):
        blocks.pairs[k] = 0.0


@inlined
def _add_alone(model: FlatModel, blocks: BlockState, hard_zero: float, domain: int, at: int, by: int) -> None:
    for value in range(domain):
        blocks.own[value] += _log_potential(model, hard_zero, at + value * by)


@inlined
def _add_pair(
    model: FlatModel,
    own: TreeState,
    hard_zero: float,
    domain: int,
    at: int,
    by: int,
    other: int,
    step: int,
) -> None:
    """Add a factor over the member (values ``by`` apart) and another (``step`` apart) of the block."""
    blocks, number = own.blocks, own.marks[other]["number"]
    into, size = blocks.pair_starts[blocks.members[number]["slot"]], model.domain_sizes[other]
    for value in range(domain):
        for its in range(size):
            blocks.pairs[into + value * size + its] += _log_potential(
                model, hard_zero, at + value * by + its * step
            )


@inlined
def _look_at_wide(
    model: FlatModel, core: CoreState, own: TreeState, factor: int, member: int, block: int
) -> tuple[int, int, int, int]:
    """Of a factor's members but one: their number (-1: the factor was summed before), one of them, its
    stride; and the factor's entry with all members at their first value."""
    count, one, step, entry = 0, -1, 0, model.bases[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if own.marks[variable]["block"] != block:
            entry += core.assignment[variable] * model.scopes[place, 1]
        elif own.marks[variable]["number"] > member:
            return -1, -1, 0, 0
        elif own.marks[variable]["number"] < member:
            count, one, step = count + 1, variable, model.scopes[place, 1]
    return count, one, step, entry


@inlined
def _sum_small_factors(
    model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, member: int, block: int
) -> bool:
    """Sum the factors over a member and at most one of its bucket; True if there are larger ones."""
    blocks, has_larger = own.blocks, False
    variable = blocks.members[member]["variable"]
    domain = model.domain_sizes[variable]
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        by, other, step = model.pairs[link, 1], model.pairs[link, 2], model.pairs[link, 3]
        at = model.bases[model.pairs[link, 0]]
        if other < 0:
            _add_alone(model, blocks, hard_zero, domain, at, by)
        elif own.marks[other]["block"] != block:
            _add_alone(model, blocks, hard_zero, domain, at + core.assignment[other] * step, by)
        elif own.marks[other]["number"] < member:
            _add_pair(model, own, hard_zero, domain, at, by, other, step)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor, by = model.wides[link, 0], model.wides[link, 1]
        count, other, step, at = _look_at_wide(model, core, own, factor, member, block)
        if count == 0:
            _add_alone(model, blocks, hard_zero, domain, at, by)
        elif count == 1:
            _add_pair(model, own, hard_zero, domain, at, by, other, step)
        has_larger |= count > 1
    return has_larger


@inlined
def sum_alone(model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, variable: int) -> None:
    """Sum a variable's factors for each of its values, all else fixed, as if it were a block by itself."""
    own.marks[variable]["block"] = next_stamp(own)
    own.marks[variable]["number"] = 0
    own.blocks.members[0]["variable"] = variable
    own.blocks.members[0]["width"] = 0
    _prepare(model, own.blocks, 0)
    _sum_small_factors(model, core, own, hard_zero, 0, own.marks[variable]["block"])


@inlined
def _spread_small_sums(model: FlatModel, blocks: BlockState, member: int) -> None:
    """Begin the table with these sums, doubling it variable by variable. Cost: its entries."""
    table, size = blocks.table, blocks.members[member]["size"]
    for value in range(model.domain_sizes[blocks.members[member]["variable"]]):
        begin, done = value * size, 1
        table[begin] = blocks.own[value]
        for k in range(blocks.members[member]["width"] - 1, -1, -1):
            domain = model.domain_sizes[blocks.members[blocks.buckets[member, k]]["variable"]]
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
    for k in range(blocks.members[member]["width"], -1, -1):
        number = blocks.buckets[member, k - 1] if k > 0 else member
        domain, stride = model.domain_sizes[blocks.members[number]["variable"]], blocks.strides[k]
        for value in range(1, domain):
            more, to = value * stride, value * size
            for j in range(size):
                places[to + j] = places[j] + more
        size *= domain
    return size


@inlined
def _add_larger_factors(
    model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, member: int, block: int
) -> None:
    """Add the factors over a member and several of its bucket. Cost: the table's entries, each."""
    blocks = own.blocks
    variable, width = blocks.members[member]["variable"], blocks.members[member]["width"]
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        count, _, _, entry = _look_at_wide(model, core, own, factor, member, block)
        if count > 1:
            for k in range(1, width + 1):
                blocks.strides[k] = 0
            blocks.strides[0] = model.wides[link, 1]
            for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
                other = model.scopes[place, 0]
                if other != variable and own.marks[other]["block"] == block:
                    blocks.strides[blocks.members[own.marks[other]["number"]]["slot"] + 1] = model.scopes[
                        place, 1
                    ]
            for at in range(_map_places(model, blocks, member, entry)):
                blocks.table[at] += _log_potential(model, hard_zero, blocks.places[at])


@inlined
def _add_message(model: FlatModel, blocks: BlockState, member: int, child: int) -> None:
    """Add what a child has sent. Cost: the table's entries."""
    for k in range(1, blocks.members[member]["width"] + 1):
        blocks.strides[k] = 0
    stride = 1
    for k in range(blocks.members[child]["width"] - 1, -1, -1):
        number = blocks.buckets[child, k]
        blocks.strides[blocks.members[number]["slot"] + 1 if number != member else 0] = stride
        stride *= model.domain_sizes[blocks.members[number]["variable"]]
    for at in range(_map_places(model, blocks, member, blocks.members[child]["start"])):
        blocks.table[at] += blocks.messages[blocks.places[at]]


@inlined
def _maximise(core: CoreState, blocks: BlockState, domain: int, member: int) -> None:
    """Keep the best of a member's values for each joint value of its bucket; of equal ones a random one."""
    table, size, start = blocks.table, blocks.members[member]["size"], blocks.members[member]["start"]
    first = random_below(core.rng, domain)
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
def _eliminate(
    model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, member: int, block: int
) -> None:
    """Sum all that concerns a member, maximise over it, and send the outcome to the next of its bucket."""
    blocks = own.blocks
    _prepare(model, blocks, member)
    has_larger = _sum_small_factors(model, core, own, hard_zero, member, block)
    _spread_small_sums(model, blocks, member)
    if has_larger:
        _add_larger_factors(model, core, own, hard_zero, member, block)
    child = blocks.members[member]["first_child"]
    while child >= 0:
        _add_message(model, blocks, member, child)
        child = blocks.members[child]["next_child"]
    _maximise(core, blocks, model.domain_sizes[blocks.members[member]["variable"]], member)
    if blocks.members[member]["width"] > 0:
        parent = blocks.buckets[member, 0]
        blocks.members[member]["next_child"] = blocks.members[parent]["first_child"]
        blocks.members[parent]["first_child"] = member


@inlined
def _set_value(model: FlatModel, core: CoreState, own: TreeState, member: int) -> int:
    """Give a member the value chosen for those of its bucket, which have theirs; 1 if it is a new one."""
    blocks, variable = own.blocks, own.blocks.members[member]["variable"]
    at, stride = blocks.members[member]["start"], 1
    for k in range(blocks.members[member]["width"] - 1, -1, -1):
        other = blocks.members[blocks.buckets[member, k]]["variable"]
        at += core.assignment[other] * stride
        stride *= model.domain_sizes[other]
    changed = core.assignment[variable] != blocks.choices[at]
    core.assignment[variable] = blocks.choices[at]
    return 1 if changed else 0


@called
def best_on_block(
    model: FlatModel, core: CoreState, own: TreeState, hard_zero: float, count: int
) -> tuple[int, int]:
    """Give the block its best joint assignment; return how many variables changed, and the work done.

    Cost: the tables' entries, once for each message and wide factor added, and the block's links.
    """
    blocks, changes, work, start = own.blocks, 0, 0, 0
    block = own.marks[blocks.members[0]["variable"]]["block"] if count > 0 else 0
    for member in range(count):
        blocks.members[member]["first_child"] = -1
        blocks.members[member]["start"] = start
        start += blocks.members[member]["size"]
        work += blocks.members[member]["size"] * model.domain_sizes[blocks.members[member]["variable"]]
    for member in range(count - 1, -1, -1):
        _eliminate(model, core, own, hard_zero, member, block)
    for member in range(count):
        changes += _set_value(model, core, own, member)
    return changes, work
