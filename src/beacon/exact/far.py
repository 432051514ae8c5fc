"""The best assignment that differs from each of some others in a number of variables, exactly.

Every table of the tree gets one more axis: how many variables differ from each of the others, counted up to
the distance asked for. These counts, one digit each, make up a *state*.
"""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.k_best import Choices
from beacon.exact.relaxation import Relaxation
from beacon.exact.subtables import BLOCK, LARGE, MAP, NUM_AXES, SIDE_BY_SIDE, Scopes, next_block
from beacon.exact.tree import Tree
from beacon.jit import inlined, kernel
from beacon.model.factors import starts_of

MAX_STATES = 4096


class Counting(NamedTuple):
    """The tables of a tree with states. The last cluster has no variable: it joins the roots."""

    relaxation: Relaxation
    scopes: Scopes
    order: NDArray[np.int32]
    base: NDArray[np.float64]
    """The clusters' tables without states."""
    children_starts: NDArray[np.int64]
    """[clusters + 2] first child of each cluster in ``children``."""
    children: NDArray[np.int64]
    separators: NDArray[np.int64]
    """[clusters] the separator above each cluster, -1 for a root."""
    value_starts: NDArray[np.int32]
    """[variables + 1] first value of each variable."""
    steps: NDArray[np.int64]
    """[values] the state of a value by itself: 1 for each of the others that has another one."""
    joins: NDArray[np.int64]
    """[states, states] the state of two sets of variables together."""
    sums: NDArray[np.float64]
    """[largest table, states] room for one cluster."""
    message_starts: NDArray[np.int64]
    """[clusters + 1] first message of each cluster: one for each joint value of its other variables."""
    messages: NDArray[np.float64]
    """[messages, states] the best score below, by state."""
    folds: NDArray[np.float64]
    """[most children + 1, states] room for what a variable and its children add up to, child by child."""
    targets: NDArray[np.int64]
    """[clusters] the state that each cluster must come to."""
    choices: NDArray[np.int32]
    """[variables] the values chosen so far."""


def num_states(distance: int, others: int) -> int:
    """How many states there are, for one more alternative to this many others."""
    return int(min((distance + 1) ** others, MAX_STATES + 1))


def counting_work(tree: Tree, distance: int, others: int) -> float:
    """What :func:`far_best` costs: pairs of states for each entry; infinite if there are too many states."""
    states = num_states(distance, others)
    return float(len(tree.base)) * states * states if states <= MAX_STATES else np.inf


def far_best(tree: Tree, others: Sequence[Choices], distance: int) -> Choices | None:
    """A best assignment that differs from each of the others in ``distance`` variables or more, if any."""
    counting = _counting(tree, others, distance)
    for cluster in range(len(tree.order) + 1):
        add_up(counting, cluster)
    goal = counting.messages.shape[1] - 1  # every digit at its most
    if counting.messages[-1, goal] == -np.inf:
        return None
    choose_far(counting, goal)
    return counting.choices


def _counting(tree: Tree, others: Sequence[Choices], distance: int) -> Counting:
    relaxation, tables, count = tree.relaxation, tree.reduced.tables, len(tree.order)
    pairs = relaxation.links.pairs[:, LARGE]
    separators, parents = np.full(count, -1), np.full(count, count)
    separators[pairs[::2]], parents[pairs[::2]] = np.arange(len(pairs) // 2), pairs[1::2]
    num_children = np.bincount(parents, minlength=count + 1)
    digits = num_states(distance, len(others))
    sizes = np.diff(relaxation.table_starts)
    outers = np.append(sizes // tables.sizes[tree.order], 1)
    return Counting(
        relaxation=relaxation,
        scopes=tree.scopes,
        order=tree.order,
        base=tree.base,
        children_starts=starts_of(num_children),
        children=np.argsort(parents, kind="stable"),
        separators=separators,
        value_starts=tables.unary_starts,
        steps=_steps(tree, others, distance),
        joins=_joins(distance, len(others)),
        sums=np.empty((int(sizes.max(initial=1)), digits)),
        message_starts=starts_of(outers),
        messages=np.empty((int(outers.sum()), digits)),
        folds=np.empty((int(num_children.max(initial=0)) + 1, digits)),
        targets=np.empty(count, dtype=np.int64),
        choices=np.zeros(count, dtype=np.int32),
    )


def _steps(tree: Tree, others: Sequence[Choices], distance: int) -> NDArray[np.int64]:
    starts = tree.reduced.tables.unary_starts[:-1]
    steps = np.zeros(tree.num_values, dtype=np.int64)
    for number, other in enumerate(others):
        differs = np.ones(tree.num_values, dtype=np.int64)
        differs[starts + other] = 0
        steps += differs * (distance + 1) ** number
    return steps


def _joins(distance: int, others: int) -> NDArray[np.int64]:
    states = np.arange(num_states(distance, others))
    joins = np.zeros((len(states), len(states)), dtype=np.int64)
    for number in range(others):
        scale = (distance + 1) ** number
        digits = states // scale % (distance + 1)
        joins += np.minimum(digits[:, None] + digits[None, :], distance) * scale
    return joins


@inlined
def _fold(
    joins: NDArray[np.int64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    folded: NDArray[np.float64],
) -> None:
    """The best of two sets of variables together, by state. Cost: the pairs of states."""
    for state in range(len(folded)):
        folded[state] = -np.inf
    for i in range(len(first)):
        if first[i] > -np.inf:
            for j in range(len(second)):
                joined = joins[i, j]
                folded[joined] = max(folded[joined], first[i] + second[j])


@inlined
def _take_child(counting: Counting, child: int, num_entries: int) -> None:
    """Fold what a child has handed on into each entry of a cluster."""
    sums, start, room = counting.sums, counting.message_starts[child], counting.folds[0]
    links, digits = counting.relaxation.links, counting.relaxation.digits
    pair = 2 * counting.separators[child] + 1
    block, inside = links.pairs[pair, BLOCK], links.pairs[pair, MAP]
    for axis in range(links.pairs[pair, NUM_AXES]):
        digits[axis] = 0
    at = 0
    for entry in range(0, num_entries, block):
        for k in range(block):
            place = at + (k if inside == SIDE_BY_SIDE else links.maps[inside + k])
            _fold(counting.joins, sums[entry + k], counting.messages[start + place], room)
            for state in range(len(room)):
                sums[entry + k, state] = room[state]
        at = next_block(links, pair, digits, at)


@inlined
def _keep_best(counting: Counting, cluster: int, num_entries: int) -> None:
    """Hand on the best over a cluster's own variable, for each joint value of the others and each state."""
    start, end = counting.message_starts[cluster], counting.message_starts[cluster + 1]
    outer = end - start
    for place in range(outer):
        for state in range(counting.messages.shape[1]):
            best = -np.inf
            for entry in range(place, num_entries, outer):
                best = max(best, counting.sums[entry, state])
            counting.messages[start + place, state] = best


@inlined
def _place_of(counting: Counting, cluster: int) -> int:
    """The joint value of a cluster's other variables."""
    scopes, place = counting.scopes, np.int64(0)
    for other in range(scopes.starts[cluster] + 1, scopes.starts[cluster + 1]):
        place += counting.choices[scopes.variables[other]] * scopes.strides[other]
    return place  # type: ignore[return-value]


@inlined
def _fold_children(counting: Counting, cluster: int) -> int:
    """Fold all children of a cluster, given the values of its variables; return how many there are.

    The first of ``folds`` is given.
    """
    begin, end = counting.children_starts[cluster], counting.children_starts[cluster + 1]
    for k in range(end - begin):
        child = counting.children[begin + k]
        place = counting.message_starts[child] + _place_of(counting, child)
        _fold(counting.joins, counting.folds[k], counting.messages[place], counting.folds[k + 1])
    return end - begin


@inlined
def _set_targets(counting: Counting, cluster: int, goal: int) -> None:
    """Share a state out among the children of a cluster, after :func:`_fold_children`."""
    begin, states = counting.children_starts[cluster], counting.messages.shape[1]
    for k in range(counting.children_starts[cluster + 1] - begin - 1, -1, -1):
        child = counting.children[begin + k]
        place = counting.message_starts[child] + _place_of(counting, child)
        found = -1
        for pair in range(states * states):
            i, j = pair // states, pair % states
            total = counting.folds[k, i] + counting.messages[place, j]
            if found < 0 and counting.joins[i, j] == goal and total == counting.folds[k + 1, goal]:
                found = i
                counting.targets[child] = j
        goal = found


@inlined
def _begin_fold(counting: Counting, cluster: int) -> None:
    """The first of ``folds``: a cluster by itself, given the values of its variables."""
    for state in range(counting.folds.shape[1]):
        counting.folds[0, state] = -np.inf
    if cluster == len(counting.order):
        counting.folds[0, 0] = 0.0
        return
    variable, place = counting.order[cluster], counting.scopes.starts[cluster]
    entry = counting.relaxation.table_starts[cluster] + _place_of(counting, cluster)
    entry += counting.choices[variable] * counting.scopes.strides[place]
    state = counting.steps[counting.value_starts[variable] + counting.choices[variable]]
    counting.folds[0, state] = counting.base[entry]


@kernel
def add_up(counting: Counting, cluster: int) -> None:
    """What a cluster and all below it come to. Cost: the pairs of states for each entry and child."""
    if cluster == len(counting.order):  # the best of all parts together
        _begin_fold(counting, cluster)
        last = _fold_children(counting, cluster)
        for state in range(counting.messages.shape[1]):
            counting.messages[counting.message_starts[cluster], state] = counting.folds[last, state]
        return
    begin, end = counting.relaxation.table_starts[cluster], counting.relaxation.table_starts[cluster + 1]
    outer = counting.message_starts[cluster + 1] - counting.message_starts[cluster]
    first = counting.value_starts[counting.order[cluster]]
    for entry in range(end - begin):
        for state in range(counting.sums.shape[1]):
            counting.sums[entry, state] = -np.inf
        counting.sums[entry, counting.steps[first + entry // outer]] = counting.base[begin + entry]
    for k in range(counting.children_starts[cluster], counting.children_starts[cluster + 1]):
        _take_child(counting, counting.children[k], end - begin)
    _keep_best(counting, cluster, end - begin)


@kernel
def choose_far(counting: Counting, goal: int) -> None:
    """Choose values that come to a state with the best score, parents first.

    Cost: the pairs of states for each child and value.
    """
    for cluster in range(len(counting.order), -1, -1):
        if cluster < len(counting.order):
            goal = counting.targets[cluster]
            variable, best, chosen = counting.order[cluster], -np.inf, 0
            size = counting.value_starts[variable + 1] - counting.value_starts[variable]
            for value in range(size):
                counting.choices[variable] = value
                _begin_fold(counting, cluster)
                last = _fold_children(counting, cluster)
                if counting.folds[last, goal] > best:
                    best, chosen = counting.folds[last, goal], value
            counting.choices[variable] = chosen
        _begin_fold(counting, cluster)
        _fold_children(counting, cluster)
        _set_targets(counting, cluster, goal)
