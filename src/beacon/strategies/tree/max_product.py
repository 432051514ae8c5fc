"""The best joint assignment of a forest, all else fixed: max-product from the leaves to the roots and back.

Zero factors come first: a zero counts ``hard_zero``, which outweighs everything else in the model together.
"""

from __future__ import annotations

from beacon.engine.core import SearchState
from beacon.engine.max_tree import LOWEST
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.tree.forest import forest_part
from beacon.strategies.tree.forest_order import order_forest
from beacon.strategies.tree.state import TreeState


@inlined
def log_potential(model: FlatModel, hard_zero: float, entry: int) -> float:
    """An entry's log-potential, with zeros at ``hard_zero``."""
    value = model.log_table[entry]
    return hard_zero if value == model.log_zero else value


@inlined
def entry_without(model: FlatModel, state: SearchState, factor: int, first: int, second: int) -> int:
    """A factor's entry at the current assignment, with two of its variables (or -1) at their first value."""
    entry = model.table_starts[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if variable != first and variable != second:  # noqa: PLR1714 - kernels have no set membership
            entry += state.assignment[variable] * model.scopes[place, 1]
    return entry  # type: ignore[no-any-return]


@inlined
def _stride_in(model: FlatModel, factor: int, variable: int) -> int:
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        if model.scopes[place, 0] == variable:
            return model.scopes[place, 1]  # type: ignore[no-any-return]
    return 0


@inlined
def _add_entries(
    model: FlatModel, state: SearchState, hard_zero: float, variable: int, entry: int, stride: int
) -> None:
    first = model.move_starts[variable]
    for value in range(model.domain_sizes[variable]):
        state.trees.beliefs[first + value] += log_potential(model, hard_zero, entry + value * stride)


@inlined
def _add_own_factors(
    model: FlatModel, state: SearchState, hard_zero: float, variable: int, forest: int
) -> None:
    """Begin a variable's belief with the factors that touch no other forest variable."""
    trees = state.trees
    for move in range(model.move_starts[variable], model.move_starts[variable + 1]):
        trees.beliefs[move] = 0.0
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other, entry = model.pairs[link, 2], model.table_starts[model.pairs[link, 0]]
        if other >= 0:
            if trees.forest_stamps[other] == forest:
                continue
            entry += state.assignment[other] * model.pairs[link, 3]
        _add_entries(model, state, hard_zero, variable, entry, model.pairs[link, 1])
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor = model.wides[link, 0]
        if forest_part(model, trees, factor, variable, forest)[0] == 0:
            entry = entry_without(model, state, factor, variable, -1)
            _add_entries(model, state, hard_zero, variable, entry, model.wides[link, 1])


@inlined
def _add_to_joint(
    model: FlatModel, state: SearchState, hard_zero: float, factor: int, child: int, parent: int
) -> None:
    """Add a factor over a child and its parent (all else fixed) to the joint table of the two."""
    entry = entry_without(model, state, factor, child, parent)
    child_stride, parent_stride = _stride_in(model, factor, child), _stride_in(model, factor, parent)
    domain = model.domain_sizes[parent]
    for value in range(model.domain_sizes[child]):
        for above in range(domain):
            at = entry + value * child_stride + above * parent_stride
            state.trees.joint[value * domain + above] += log_potential(model, hard_zero, at)


@inlined
def _fill_joint(model: FlatModel, state: SearchState, hard_zero: float, child: int, forest: int) -> None:
    """The joint table of a child and its parent: the factor between them and those parallel to it."""
    trees = state.trees
    parent, factor = trees.parents[child], trees.parent_factors[child]
    for k in range(model.domain_sizes[child] * model.domain_sizes[parent]):
        trees.joint[k] = 0.0
    _add_to_joint(model, state, hard_zero, factor, child, parent)
    if trees.parallel_stamps[factor] != forest:
        return
    for link in range(model.pair_starts[child], model.pair_starts[child + 1]):
        if model.pairs[link, 2] == parent and model.pairs[link, 0] != factor:
            _add_to_joint(model, state, hard_zero, model.pairs[link, 0], child, parent)
    for link in range(model.wide_starts[child], model.wide_starts[child + 1]):
        other = model.wides[link, 0]
        if other != factor:
            count, member, _ = forest_part(model, trees, other, child, forest)
            if count == 1 and member == parent:
                _add_to_joint(model, state, hard_zero, other, child, parent)


@inlined
def _send_to_parent(model: FlatModel, state: SearchState, hard_zero: float, child: int, forest: int) -> None:
    """Maximise over a child for each value of its parent, ties at random."""
    trees = state.trees
    _fill_joint(model, state, hard_zero, child, forest)
    parent, first = trees.parents[child], model.move_starts[child]
    domain, start = model.domain_sizes[parent], trees.choice_starts[child]
    for above in range(domain):
        best, ties = LOWEST, 0
        for value in range(model.domain_sizes[child]):
            score = trees.beliefs[first + value] + trees.joint[value * domain + above]
            if score > best:
                best, ties = score, 1
                trees.choices[start + above] = value
            elif score == best:
                ties += 1
                if random_below(state.rng, ties) == 0:
                    trees.choices[start + above] = value
        trees.beliefs[model.move_starts[parent] + above] += best


@inlined
def _list_digits(model: FlatModel, trees: TreeState, factor: int, parent: int, forest: int) -> int:
    """List a factor's forest variables in ``digits``, the parent first, all at their first value."""
    count = 1
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if trees.forest_stamps[variable] == forest:
            k = 0 if variable == parent else count
            count += variable != parent
            trees.digits[k, 0] = variable
            trees.digits[k, 1] = model.scopes[place, 1]
            trees.digits[k, 2] = 0
    return count


@inlined
def _entry_at_first_values(model: FlatModel, state: SearchState, factor: int, forest: int) -> int:
    entry = model.table_starts[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if state.trees.forest_stamps[variable] != forest:
            entry += state.assignment[variable] * model.scopes[place, 1]
    return entry  # type: ignore[no-any-return]


@inlined
def _best_below(
    model: FlatModel, state: SearchState, hard_zero: float, count: int, entry: int, lead: int, above: int
) -> float:
    """Best score of a factor and its children for one value of the parent; the entry goes to ``choices``."""
    trees = state.trees
    best, ties = LOWEST, 0
    while True:
        score, at = 0.0, entry
        for k in range(1, count):
            at += trees.digits[k, 2] * trees.digits[k, 1]
            score += trees.beliefs[model.move_starts[trees.digits[k, 0]] + trees.digits[k, 2]]
        score += log_potential(model, hard_zero, at)
        if score > best:
            best, ties = score, 1
            trees.choices[trees.choice_starts[lead] + above] = at
        elif score == best:
            ties += 1
            if random_below(state.rng, ties) == 0:
                trees.choices[trees.choice_starts[lead] + above] = at
        k = 1
        while k < count and trees.digits[k, 2] == model.domain_sizes[trees.digits[k, 0]] - 1:
            trees.digits[k, 2] = 0  # carry
            k += 1
        if k == count:
            return best
        trees.digits[k, 2] += 1


@inlined
def _send_jointly(model: FlatModel, state: SearchState, hard_zero: float, lead: int, forest: int) -> None:
    """Maximise over all children of a factor together. Cost: the joint table of its forest variables."""
    trees = state.trees
    parent, factor = trees.parents[lead], trees.parent_factors[lead]
    count = _list_digits(model, trees, factor, parent, forest)
    entry = _entry_at_first_values(model, state, factor, forest)
    for above in range(model.domain_sizes[parent]):
        at = entry + above * trees.digits[0, 1]
        best = _best_below(model, state, hard_zero, count, at, lead, above)
        trees.beliefs[model.move_starts[parent] + above] += best


@inlined
def _has_siblings(model: FlatModel, trees: TreeState, variable: int, forest: int) -> bool:
    """Does the parent factor of a variable join more than it and its parent?"""
    factor = trees.parent_factors[variable]
    if model.scope_starts[factor + 1] - model.scope_starts[factor] <= 2:
        return False
    return forest_part(model, trees, factor, variable, forest)[0] > 1


@inlined
def _set_value(state: SearchState, variable: int, value: int) -> int:
    """Give a variable a value; 1 if it is a new one."""
    changed = state.assignment[variable] != value
    state.assignment[variable] = value
    return 1 if changed else 0


@inlined
def _best_root_value(model: FlatModel, state: SearchState, root: int) -> int:
    best, ties, chosen = LOWEST, 0, 0
    for value in range(model.domain_sizes[root]):
        score = state.trees.beliefs[model.move_starts[root] + value]
        if score > best:
            best, ties, chosen = score, 1, value
        elif score == best:
            ties += 1
            if random_below(state.rng, ties) == 0:
                chosen = value
    return chosen


@inlined
def _assign_children(model: FlatModel, state: SearchState, lead: int, forest: int) -> int:
    """Give all children of a factor the values of the entry chosen for their parent's value."""
    trees, changes = state.trees, 0
    parent, factor = trees.parents[lead], trees.parent_factors[lead]
    entry = trees.choices[trees.choice_starts[lead] + state.assignment[parent]] - model.table_starts[factor]
    for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
        variable = model.scopes[place, 0]
        if trees.forest_stamps[variable] == forest and variable != parent:
            value = entry // model.scopes[place, 1] % model.domain_sizes[variable]
            changes += _set_value(state, variable, value)
    return changes


@kernel
def best_on_forest(model: FlatModel, state: SearchState, hard_zero: float, size: int, forest: int) -> int:
    """Give the forest its best joint assignment; return how many variables changed.

    Cost: the forest's links times domains, and the joint tables of factors with several children.
    """
    trees, changes = state.trees, 0
    length = order_forest(model, trees, size, forest)
    for k in range(length):
        _add_own_factors(model, state, hard_zero, trees.order[k], forest)
    for k in range(length - 1, -1, -1):
        variable = trees.order[k]
        if trees.parents[variable] >= 0 and trees.leads[variable]:
            if _has_siblings(model, trees, variable, forest):
                _send_jointly(model, state, hard_zero, variable, forest)
            else:
                _send_to_parent(model, state, hard_zero, variable, forest)
    for k in range(length):
        variable = trees.order[k]
        if trees.parents[variable] < 0:
            changes += _set_value(state, variable, _best_root_value(model, state, variable))
        elif trees.leads[variable]:
            if _has_siblings(model, trees, variable, forest):
                changes += _assign_children(model, state, variable, forest)
            else:
                above = state.assignment[trees.parents[variable]]
                value = trees.choices[trees.choice_starts[variable] + above]
                changes += _set_value(state, variable, value)
    return changes
