"""The order of a forest: parents before children, breadth first, the children of a factor side by side."""

from __future__ import annotations

from beacon.jit import inlined
from beacon.model.flat import FlatModel
from beacon.strategies.tree.state import TreeState, next_stamp


@inlined
def _visit(
    trees: TreeState, variable: int, parent: int, factor: int, lead: bool, domain: int, visit: int, tail: int
) -> int:
    trees.visit_stamps[variable] = visit
    trees.parents[variable] = parent
    trees.parent_factors[variable] = factor
    trees.leads[variable] = lead
    trees.order[tail] = variable
    if lead and parent >= 0:  # each factor is some child's parent once, so its table bounds the room
        trees.choice_starts[variable] = trees.num_choices[0]
        trees.num_choices[0] += domain
    return tail + 1


@inlined
def _visit_neighbours(
    model: FlatModel, trees: TreeState, variable: int, forest: int, visit: int, tail: int
) -> int:
    """Append the forest variables that share a factor with this one and have not been reached."""
    domain = model.domain_sizes[variable]
    for link in range(model.pair_starts[variable], model.pair_starts[variable + 1]):
        other = model.pairs[link, 2]
        if other >= 0 and trees.forest_stamps[other] == forest and trees.visit_stamps[other] != visit:
            tail = _visit(trees, other, variable, model.pairs[link, 0], True, domain, visit, tail)
    for link in range(model.wide_starts[variable], model.wide_starts[variable + 1]):
        factor, lead = model.wides[link, 0], True
        for place in range(model.scope_starts[factor], model.scope_starts[factor + 1]):
            other = model.scopes[place, 0]
            if trees.forest_stamps[other] == forest and trees.visit_stamps[other] != visit:
                tail = _visit(trees, other, variable, factor, lead, domain, visit, tail)
                lead = False
    return tail


@inlined
def order_forest(model: FlatModel, trees: TreeState, size: int, forest: int) -> int:
    """List the forest in ``order``, parents before children, children of a factor together; its length."""
    visit = next_stamp(trees)
    head, tail = 0, 0
    trees.num_choices[0] = 0
    for k in range(size):
        root = trees.region[k]
        if trees.forest_stamps[root] == forest and trees.visit_stamps[root] != visit:
            tail = _visit(trees, root, -1, -1, True, 0, visit, tail)
            while head < tail:
                tail = _visit_neighbours(model, trees, trees.order[head], forest, visit, tail)
                head += 1
    return tail
