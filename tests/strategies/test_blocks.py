"""Blocks of bounded width and exact moves on them, against brute force and plain elimination of sets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from beacon.strategies.tree.block_elimination import best_on_block
from beacon.strategies.tree.block_state import MAX_BLOCK_ENTRIES
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import draw_assignment
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.tree import Tree
from beacon.strategies.tree.block import grow_block
from beacon.strategies.tree.state import next_stamp
from tests.engine.helpers import new_search, small_models, some_evidence
from tests.reference import Naive
from tests.small_strategies import small_models as random_models
from tests.small_strategies.test_tree_moves import best_completion, has_cycle

MODELS = small_models()
ENTRIES = [4, 9, 32, 512]


def random_block(search: Search, held: int = 0) -> list[int]:
    """Grow a block over all free variables, without the first ``held``: its members as they joined."""
    free, trees = np.flatnonzero(search.state.is_free), search.state.trees
    trees.region[: len(free)] = free
    trees.region_stamps[free] = next_stamp(trees)
    entries = len(trees.blocks.table)
    count = grow_block(search.model, search.state, entries, len(free), held)
    return [int(variable) for variable in trees.blocks.members[:count]]


def eliminated(model: GraphicalModel, members: list[int]) -> dict[int, set[int]]:
    """By member, last to join first: the others in its table, by elimination on plain sets."""
    scopes = [set(factor.scope) & set(members) for factor in model.factors]
    tables = {}
    for variable in reversed(members):
        joined = set().union(*(scope for scope in scopes if variable in scope)) - {variable}
        scopes = [scope for scope in scopes if variable not in scope] + [joined]
        tables[variable] = joined
    return tables


def check_move(search: Search, naive: Naive, held: int = 0) -> None:
    """One move from a random assignment: the best joint assignment of the members, nothing else changed."""
    draw_assignment(search.model, search.state)
    before = search.state.assignment.tolist()
    members = random_block(search, held)
    changes, _ = best_on_block(search.model, search.state, search.model.hard_zero, len(members))
    after = search.state.assignment.tolist()
    changed = {i for i in range(len(after)) if before[i] != after[i]}
    assert len(changed) == changes
    assert changed <= set(members)
    zeros, score = best_completion(naive, before, members)
    assert (naive.zeros(after), naive.score(after)) == (zeros, pytest.approx(score, abs=1e-6))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("entries", ENTRIES)
def test_a_block_move_gives_the_best_joint_assignment_of_its_members(name: str, entries: int) -> None:
    model = MODELS[name]
    for observed in range(3):
        evidence = some_evidence(model, observed, 2)
        search = new_search(model, evidence, Tree(block_entries=entries))
        naive = Naive(model, evidence, search.model.log_zero)
        for held in (0, 0, 1, 2):
            check_move(search, naive, held)


@settings(max_examples=80, deadline=None)
@given(
    model=random_models(max_variables=6, max_factors=8, max_scope=4),
    seed=st.integers(0, 10**6),
    entries=st.sampled_from(ENTRIES),
)
def test_a_block_move_is_exact_on_any_model(model: GraphicalModel, seed: int, entries: int) -> None:
    evidence = some_evidence(model, seed % 2, seed)
    search = new_search(model, evidence, Tree(block_entries=entries), seed)
    if search.state.is_free.any():
        check_move(search, Naive(model, evidence, search.model.log_zero))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("entries", ENTRIES)
def test_the_tables_are_those_of_elimination_and_none_is_too_large(name: str, entries: int) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, 1, 1), Tree(block_entries=entries))
    blocks, sizes = search.state.trees.blocks, model.domain_sizes
    for _ in range(5):
        members = random_block(search)
        for variable, joined in eliminated(model, members).items():
            number = members.index(variable)
            bucket = blocks.buckets[number, : blocks.widths[number]].tolist()
            assert bucket == sorted((members.index(other) for other in joined), reverse=True)
            assert blocks.sizes[number] == math.prod(int(sizes[other]) for other in joined)
            assert blocks.sizes[number] * sizes[variable] <= entries


def test_tables_of_two_two_valued_variables_leave_a_forest() -> None:
    model = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)
    search = new_search(model, {}, Tree(block_entries=4))
    for _ in range(5):
        members = random_block(search)
        assert len(members) > 12
        assert not has_cycle(model, set(members))


def test_a_region_that_is_narrow_enough_is_a_block_as_a_whole_and_its_best_is_the_optimum() -> None:
    model = families.ising_grid(rows=3, columns=4, seed=1)
    search = new_search(model, {}, Tree(block_entries=256))
    assert sorted(random_block(search)) == list(range(12))
    best_on_block(search.model, search.state, search.model.hard_zero, 12)
    optimum = Naive(model, {}, search.model.log_zero).best()[1]
    assert model.log_score(search.state.assignment) == pytest.approx(optimum)


def test_held_variables_and_values_too_many_for_a_table_stay_out() -> None:
    rng = np.random.default_rng(0)
    tables = [((0, 1), rng.normal(size=(20, 2))), ((1, 2), rng.normal(size=(2, 3)))]
    search = new_search(GraphicalModel.from_tables([20, 2, 3], tables), {}, Tree(block_entries=16))
    assert sorted(random_block(search)) == [1, 2]
    assert random_block(search, held=2) == [2]
    assert random_block(search, held=3) == []
    assert best_on_block(search.model, search.state, search.model.hard_zero, 0) == (0, 0)


def test_all_messages_of_a_block_fit_the_room_for_them() -> None:
    model = families.ising_grid(rows=20, columns=20, seed=1)
    search = new_search(model, {}, Tree(block_entries=8))
    blocks = search.state.trees.blocks
    count = len(random_block(search))
    assert 0 < count < 400
    assert blocks.sizes[:count].sum() <= len(blocks.messages) < 8 * 400


@settings(max_examples=30, deadline=None)
@given(
    model=random_models(max_variables=7, max_factors=8, max_scope=4),
    seed=st.integers(0, 10**6),
    entries=st.sampled_from(ENTRIES),
)
def test_a_search_by_blocks_keeps_its_books_and_the_evidence(
    model: GraphicalModel, seed: int, entries: int
) -> None:
    evidence = some_evidence(model, seed % 3, seed)
    strategy = Tree(min_region=1, max_region=5, restart_idle=4, block_entries=entries)
    search = new_search(model, evidence, strategy, seed)
    naive = Naive(model, evidence, search.model.log_zero)
    worths = [(search.best_zeros, round(-search.best_score, 6))]
    for steps in (1, 30, 200):
        search.run(MaxSteps(steps))
        current, best = search.state.assignment.tolist(), search.best_assignment.tolist()
        assert search.score == pytest.approx(naive.score(current), abs=1e-6)
        assert search.zeros == naive.zeros(current)
        assert search.best_score == pytest.approx(naive.score(best), abs=1e-6)
        assert all(best[variable] == value for variable, value in evidence.items())
        worths.append((search.best_zeros, round(-search.best_score, 6)))
    assert worths == sorted(worths, reverse=True)


def test_ties_are_broken_at_random() -> None:
    search = new_search(GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -1.0, 0.0])]), {}, Tree())
    ends = set()
    for _ in range(40):
        best_on_block(search.model, search.state, search.model.hard_zero, len(random_block(search)))
        ends.add(tuple(search.state.assignment.tolist()))
    assert ends == {(0, 0), (1, 1)}


@pytest.mark.parametrize("entries", [-1, MAX_BLOCK_ENTRIES + 1])
def test_a_size_of_tables_that_cannot_be_is_refused(entries: int) -> None:
    expected = f"block_entries must be a whole number from 0 to {MAX_BLOCK_ENTRIES}; found {entries}"
    with pytest.raises(UsageError, match=expected):
        Tree(block_entries=entries)


def test_only_searches_with_blocks_have_room_for_them() -> None:
    for strategy in (GlsPlus(), Tree(block_entries=0), Auto(tree=Tree(block_entries=0))):
        assert new_search(MODELS["grid"], {}, strategy).state.trees.blocks.messages.size == 0
    assert new_search(MODELS["grid"], {}, Auto()).state.trees.blocks.messages.size > 0
