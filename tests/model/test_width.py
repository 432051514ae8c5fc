"""Upper bounds on treewidth."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.formats import read_model
from beacon.model import width
from beacon.model.families import ising_grid
from beacon.model.min_fill import eliminate_by_min_fill, new_room
from tests.small_strategies import small_models

Graph = list[set[int]]


def graph_of(num_variables: int, edges: list[tuple[int, int]]) -> Graph:
    graph: Graph = [set() for _ in range(num_variables)]
    for a, b in edges:
        graph[a].add(b)
        graph[b].add(a)
    return graph


def grid_graph(rows: int, columns: int) -> Graph:
    return ising_grid(rows, columns).primal_graph()


def as_arrays(graph: Graph) -> width.Graph:
    starts = np.cumsum([0, *map(len, graph)], dtype=np.int64)
    return width.Graph(starts, np.fromiter(itertools.chain.from_iterable(graph), np.int64))


def min_fill_width(graph: Graph) -> int:
    return width.min_fill_bound(as_arrays(graph)).width


def treewidth(graph: Graph) -> int:
    """The exact width, by dynamic programming over the sets eliminated first."""

    def num_later_neighbours(eliminated: frozenset[int], i: int) -> int:
        seen, stack, later = {i}, [i], set()
        while stack:
            for j in graph[stack.pop()] - seen:
                seen.add(j)
                if j in eliminated:
                    stack.append(j)
                else:
                    later.add(j)
        return len(later)

    @cache
    def best(eliminated: frozenset[int]) -> int:
        """Least width of an order that starts with exactly these."""
        if not eliminated:
            return 0
        return min(max(best(eliminated - {i}), num_later_neighbours(eliminated - {i}, i)) for i in eliminated)

    return best(frozenset(range(len(graph))))


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> Graph:
    num_variables = draw(st.integers(1, most))
    pairs = list(itertools.combinations(range(num_variables), 2))
    return graph_of(num_variables, [pair for pair in pairs if draw(st.booleans())])


def random_tree(num_variables: int, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    return graph_of(num_variables, [(int(rng.integers(i)), i) for i in range(1, num_variables)])


CYCLE = graph_of(70, [(i, (i + 1) % 70) for i in range(70)])
CLIQUE = graph_of(66, list(itertools.combinations(range(66), 2)))


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ([], 0),
        ([set()], 0),
        ([set()] * 130, 0),
        (random_tree(200, seed=0), 1),
        (CYCLE, 2),
        (CLIQUE, 65),
        (grid_graph(3, 3), 3),
        (grid_graph(4, 4), 4),
        (grid_graph(5, 20), 5),
    ],
)
def test_known_widths_are_found(graph, expected):
    assert min_fill_width(graph) == expected


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_it_is_never_below_the_treewidth(graph):
    bound = min_fill_width(graph)
    assert treewidth(graph) <= bound <= max(0, len(graph) - 1)


def naive_min_fill_width(graph: Graph) -> int:
    """Count the missing edges of every variable anew at every step; ties go to the lowest index."""
    graph_now = {i: set(others) for i, others in enumerate(graph)}
    found = 0
    while graph_now:

        def num_missing(i: int) -> int:
            return sum(b not in graph_now[a] for a, b in itertools.combinations(graph_now[i], 2))

        chosen = min(graph_now, key=num_missing)
        clique = graph_now.pop(chosen)
        found = max(found, len(clique))
        for i in clique:
            graph_now[i] = (graph_now[i] | clique) - {i, chosen}
    return found


@settings(max_examples=30, deadline=None)
@given(graphs(most=12))
def test_counts_kept_up_to_date_lead_to_the_same_order_as_counting_anew(graph):
    starts = np.cumsum([0, *map(len, graph)], dtype=np.int64)
    flat = np.array([j for others in graph for j in others], dtype=np.int64)
    found, _ = eliminate_by_min_fill(
        starts, flat, np.arange(len(graph)), len(graph), 10**9, new_room(len(graph))
    )
    assert found == naive_min_fill_width(graph)


def test_the_graph_is_left_as_it_was():
    graph = grid_graph(4, 4)
    min_fill_width(graph)
    assert graph == grid_graph(4, 4)


def test_the_same_graph_gives_the_same_bound():
    graph = grid_graph(12, 12)
    assert min_fill_width(graph) == min_fill_width(graph)


def naive_min_degree(graph: Graph, target: int) -> tuple[int, Graph]:
    """The width so far, and the graph that is left, its variables numbered anew."""
    graph_now, found = {i: set(others) for i, others in enumerate(graph)}, 0
    while len(graph_now) > target:
        chosen = min(graph_now, key=lambda i: len(graph_now[i]))
        clique = graph_now.pop(chosen)
        found = max(found, len(clique))
        for i in clique:
            graph_now[i] = (graph_now[i] | clique) - {i, chosen}
    number = {i: k for k, i in enumerate(graph_now)}
    return found, [{number[j] for j in others} for others in graph_now.values()]


def sets_of(graph: width.Graph) -> Graph:
    bounds = itertools.pairwise(graph.starts.tolist())
    return [set(graph.neighbours[begin:end].tolist()) for begin, end in bounds]


@settings(max_examples=60, deadline=None)
@given(small_models())
def test_a_graph_as_arrays_is_the_primal_graph(model):
    assert sets_of(width.graph_of(model.factors)) == model.primal_graph()


class TestLargeGraphs:
    def test_they_are_made_smaller_first(self, monkeypatch):
        monkeypatch.setattr(width, "MAX_MIN_FILL_VARIABLES", 40)
        assert min_fill_width(random_tree(200, seed=1)) == 1
        assert min_fill_width(CYCLE) == 2
        assert 10 <= min_fill_width(grid_graph(10, 10)) <= 20

    @settings(max_examples=40, deadline=None)
    @given(graphs(), st.integers(0, 60))
    def test_the_bound_holds_wherever_min_degree_stops(self, graph, budget):
        shrunk_width, rest = width._shrink_by_min_degree(as_arrays(graph), 2, budget)
        assert max(shrunk_width, len(rest.starts) - 2) >= treewidth(graph)

    @settings(max_examples=40, deadline=None)
    @given(graphs(), st.integers(1, 8))
    def test_min_degree_takes_the_first_of_the_lowest_degree(self, graph, target):
        shrunk_width, rest = width._shrink_by_min_degree(as_arrays(graph), target, 10**6)
        assert (shrunk_width, sets_of(rest)) == naive_min_degree(graph, target)

    def test_without_budget_all_that_remains_is_one_clique(self, monkeypatch):
        monkeypatch.setattr(width, "MAX_MIN_FILL_VARIABLES", 40)
        monkeypatch.setattr(width, "MIN_DEGREE_BUDGET", 0)
        assert min_fill_width(CYCLE) == 69

    @pytest.mark.parametrize("budget", [1, 1000, 20_000, 100_000])
    def test_the_bound_holds_wherever_min_fill_stops(self, monkeypatch, budget):
        monkeypatch.setattr(width, "MIN_FILL_BUDGET", budget)
        assert 8 <= min_fill_width(grid_graph(8, 10)) <= 79


@pytest.mark.parametrize(
    ("file", "published"),
    [("BN_45", 24), ("pedigree18", 20), ("grid20x20.f5.wrap", 46), ("rus_20_40_9_3", 30), ("wcsp_14", 46)],
)
def test_published_models_have_the_width_their_paper_gives(benchmark_files, file, published):
    assert read_model(benchmark_files / f"paper/{file}.uai.xz").width_bound <= published + 1
