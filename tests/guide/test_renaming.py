"""Values that are mere names are found, and the best way to rename them."""

from __future__ import annotations

import numpy as np

import beacon
from beacon.guide.renaming import best_renaming, renamings
from beacon.model.families import ising_grid, weighted_coloring
from tests.guide.helpers import MIXED


def test_colours_are_mere_names() -> None:
    ways = renamings(weighted_coloring(10, density=0.5, num_colors=3, seed=0))
    assert ways is not None
    assert ways[0].tolist() == [0, 1, 2]
    assert {tuple(way) for way in ways.tolist()} == {
        (0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)
    }  # fmt: skip


def test_values_with_fields_or_of_other_counts_have_a_meaning() -> None:
    assert renamings(ising_grid(4, 4, seed=1)) is None
    assert renamings(MIXED) is None
    equal = np.eye(7).tolist()
    assert renamings(beacon.GraphicalModel.from_tables([7, 7], [((0, 1), equal)])) is None, "too many"


def test_the_best_renaming_is_the_best_of_all_by_brute_force() -> None:
    rng = np.random.default_rng(3)
    ways = renamings(weighted_coloring(8, density=0.9, num_colors=4, seed=0))
    assert ways is not None
    rows, values = rng.integers(0, 4, (6, 5)), rng.integers(0, 4, 6)
    best, hits = best_renaming(ways, rows, values)
    expected = [[(way[column] == values).sum() for way in ways] for column in rows.T]
    assert hits.tolist() == np.max(expected, axis=1).tolist()
    assert best.tolist() == np.argmax(expected, axis=1).tolist()
