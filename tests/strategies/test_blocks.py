"""Blocks of bounded width and exact moves on them, against brute force and plain elimination of sets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.engine.core import draw_assignment
from beacon.errors import UsageError
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps
from beacon.strategies.tree import Tree
from beacon.strategies.tree.state import MAX_BLOCK_ENTRIES
from tests.engine.helpers import (
    check_against_naive,
    check_best,
    free_variables,
    new_search,
    small_models,
    some_evidence,
    standing,
)
from tests.kernels import best_on_block, grow_block, next_stamp
from tests.reference import Naive
from tests.small_strategies import small_models as random_models

MODELS = small_models()
ENTRIES = [4, 9, 32, 512]


def random_block(search: Search, held: int = 0) -> list[int]:
    """Grow a block over all free variables, without the first ``held``: its members as they joined."""
    free, own = free_variables(search), search.own
    own.region[: len(free)] = free
    own.marks["region"][free] = next_stamp(own)
    count = grow_block(search.model, search.core, own, len(own.blocks.table), len(free), held)
    return [int(variable) for variable in own.blocks.members["variable"][:count]]


def move_block(search: Search, members: list[int]) -> tuple[int, int]:
    """Give the block its best joint assignment; return how many variables changed, and the work."""
    changes, work = best_on_block(search.model, search.core, search.own, search.model.hard_zero, len(members))
    return int(changes), int(work)


def best_completion(naive: Naive, assignment: list[int], variables: list[int]) -> tuple[int, float]:
    """Fewest zeros, then best score, over all values of some variables with the others fixed."""
    best = (10**9, 0.0)
    for values in itertools.product(*(range(len(naive.model.labels[v])) for v in variables)):
        changed = list(assignment)
        for variable, value in zip(variables, values, strict=True):
            changed[variable] = value
        best = min(best, (naive.zeros(changed), -naive.score(changed)))
    return best[0], -best[1]


def is_forest(model: GraphicalModel, variables: set[int]) -> bool:
    """Do the pairs of these variables that factors join make no cycle?"""
    joined = {frozenset(variables.intersection(factor.scope)) for factor in model.factors}
    trees = {v: {v} for v in variables}
    for pair in (join for join in joined if len(join) == 2):
        one, other = (trees[v] for v in pair)
        if one is other:
            return False
        for v in other:
            trees[v] = one
        one |= other
    return True


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
    draw_assignment(search.model, search.core)
    before = standing(search)
    members = random_block(search, held)
    changes, _ = move_block(search, members)
    after = standing(search)
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
    if free_variables(search):
        check_move(search, Naive(model, evidence, search.model.log_zero))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("entries", ENTRIES)
def test_the_tables_are_those_of_elimination_and_none_is_too_large(name: str, entries: int) -> None:
    model = MODELS[name]
    search = new_search(model, some_evidence(model, 1, 1), Tree(block_entries=entries))
    blocks, sizes = search.own.blocks, model.domain_sizes
    for _ in range(5):
        members = random_block(search)
        for variable, joined in eliminated(model, members).items():
            number = members.index(variable)
            member = blocks.members[number]
            bucket = blocks.buckets[number, : member["width"]].tolist()
            assert bucket == sorted((members.index(other) for other in joined), reverse=True)
            assert member["size"] == math.prod(int(sizes[other]) for other in joined)
            assert member["size"] * sizes[variable] <= entries


def test_tables_of_two_two_valued_variables_leave_a_forest() -> None:
    model = families.ising_grid(rows=6, columns=6, wrap=True, seed=1)
    search = new_search(model, {}, Tree(block_entries=4))
    for _ in range(5):
        members = random_block(search)
        assert len(members) > 12
        assert is_forest(model, set(members))


def test_a_region_that_is_narrow_enough_is_a_block_as_a_whole_and_its_best_is_the_optimum() -> None:
    model = families.ising_grid(rows=3, columns=4, seed=1)
    search = new_search(model, {}, Tree(block_entries=256))
    assert sorted(random_block(search)) == list(range(12))
    move_block(search, random_block(search))
    optimum = Naive(model, {}, search.model.log_zero).best()[1]
    assert model.log_score(standing(search)) == pytest.approx(optimum)


def test_held_variables_and_values_too_many_for_a_table_stay_out() -> None:
    rng = np.random.default_rng(0)
    tables = [((0, 1), rng.normal(size=(20, 2))), ((1, 2), rng.normal(size=(2, 3)))]
    search = new_search(GraphicalModel.from_tables([20, 2, 3], tables), {}, Tree(block_entries=16))
    assert sorted(random_block(search)) == [1, 2]
    assert random_block(search, held=2) == [2]
    assert random_block(search, held=3) == []
    assert move_block(search, []) == (0, 0)


def test_all_messages_of_a_block_fit_the_room_for_them() -> None:
    model = families.ising_grid(rows=20, columns=20, seed=1)
    search = new_search(model, {}, Tree(block_entries=8))
    blocks = search.own.blocks
    count = len(random_block(search))
    assert 0 < count < 400
    assert blocks.members["size"][:count].sum() <= len(blocks.messages) < 8 * 400


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
        check_against_naive(search, naive)
        check_best(search, naive)
        worths.append((search.best_zeros, round(-search.best_score, 6)))
    assert worths == sorted(worths, reverse=True)


def test_ties_are_broken_at_random() -> None:
    search = new_search(GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -1.0, 0.0])]), {}, Tree())
    ends = set()
    for _ in range(40):
        move_block(search, random_block(search))
        ends.add(tuple(standing(search)))
    assert ends == {(0, 0), (1, 1)}


@pytest.mark.parametrize("entries", [0, 1, MAX_BLOCK_ENTRIES + 1])
def test_a_size_of_tables_that_cannot_be_is_refused(entries: int) -> None:
    expected = f"block_entries must be a whole number from 2 to {MAX_BLOCK_ENTRIES}; found {entries}"
    with pytest.raises(UsageError, match=expected):
        Tree(block_entries=entries)
