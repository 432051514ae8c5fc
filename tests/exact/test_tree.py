"""The tree of an elimination against whole joint tables of thousands of small models."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import beacon
from beacon.exact.far import MAX_STATES, counting_work, far_best
from beacon.exact.k_best import ranked
from beacon.exact.tree import Tree, grow_tree, log_sum
from beacon.exact.value_bounds import value_bounds
from beacon.model.evidence import resolve_evidence
from beacon.model.flat import as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from tests.exact.small_models import KINDS, flat_query, joint_table, small_queries

COUNT = 250  # of each kind
NUM_BEST = 7


def possible_trees(
    kind: str, seed: int
) -> Iterator[tuple[GraphicalModel, dict[int, int], Tree, NDArray[np.float64]]]:
    """Small queries with an assignment of non-zero probability, their trees and joint tables."""
    for model, evidence in small_queries(kind, COUNT, seed):
        joint = joint_table(model, evidence)
        tree = grow_tree(*flat_query(model, evidence))
        if joint.max() > -math.inf:
            assert tree is not None
            yield model, evidence, tree, joint
        elif tree is not None:
            assert not tree.is_possible(tree.best_scores()) or tree.reduced.constant == -math.inf
            assert list(ranked(tree)) == [] or tree.reduced.constant == -math.inf


def tolerance(joint: NDArray[np.float64]) -> float:
    return 1e-9 * (1 + float(np.abs(joint[np.isfinite(joint)]).max()))


def assignments(joint: NDArray[np.float64], evidence: dict[int, int]) -> NDArray[np.int64]:
    """[variables, assignments] in the order of the flattened joint table."""
    rows = np.indices(joint.shape).reshape(joint.ndim, -1)
    for variable, value in evidence.items():
        rows[variable] = value
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_score_with_every_value_is_that_of_the_joint_table(kind: str) -> None:
    for _, _, tree, joint in possible_trees(kind, seed=1):
        reduced, scores = tree.reduced, tree.best_scores()
        losses = np.repeat(tree.tops(scores), reduced.tables.sizes) - scores
        owners = np.repeat(reduced.variables, reduced.tables.sizes)
        for variable, value, loss in zip(owners, reduced.values, losses, strict=True):
            expected = joint.max() - np.take(joint, value, axis=variable).max()
            assert loss == expected or abs(loss - expected) <= tolerance(joint)


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_ruled_out_before_are_impossible(kind: str) -> None:
    for _, evidence, tree, joint in possible_trees(kind, seed=2):
        left = set(
            zip(
                np.repeat(tree.reduced.variables, tree.reduced.tables.sizes), tree.reduced.values, strict=True
            )
        )
        for variable in set(range(joint.ndim)) - set(evidence):
            for value in range(joint.shape[variable]):
                if (variable, value) not in left and tree.reduced.fixed[variable] != value:
                    assert np.take(joint, value, axis=variable).max() == -math.inf


@pytest.mark.parametrize("kind", KINDS)
def test_assignments_come_in_the_order_of_their_scores(kind: str) -> None:
    for model, _, tree, joint in possible_trees(kind, seed=3):
        found = [tree.assignment_of(choices) for choices in itertools.islice(ranked(tree), NUM_BEST)]
        expected = np.sort(joint[joint > -math.inf])[::-1][:NUM_BEST]
        scores = [model.log_score(assignment) for assignment in found]
        assert len({tuple(assignment.tolist()) for assignment in found}) == len(found) == len(expected)
        assert np.allclose(scores, expected, rtol=0, atol=tolerance(joint))


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_assignment_that_is_far_from_others_is_found(kind: str) -> None:
    for number, (model, evidence, tree, joint) in enumerate(possible_trees(kind, seed=4)):
        distance, others, scores = 1 + number % 4, [next(ranked(tree))], joint.ravel()
        rows = assignments(joint, evidence)
        for _ in range(2):
            is_far = scores > -math.inf
            for other in others:
                is_far &= (rows != tree.assignment_of(other)[:, None]).sum(axis=0) >= distance
            choices = far_best(tree, others, distance)
            assert (choices is None) == (not is_far.any())
            if choices is None:
                break
            assignment = tree.assignment_of(choices)
            assert all(np.count_nonzero(assignment != tree.assignment_of(o)) >= distance for o in others)
            assert abs(model.log_score(assignment) - scores[is_far].max()) <= tolerance(joint)
            others.append(choices)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_the_joint_table(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT, seed=5):
        joint = joint_table(model, evidence)
        found = log_sum(*flat_query(model, evidence))
        if joint.max() == -math.inf:
            assert found == -math.inf
        else:
            expected = joint.max() + math.log(np.exp(joint - joint.max()).sum())
            assert found == pytest.approx(expected, rel=1e-9, abs=tolerance(joint))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_on_values_hold(kind: str) -> None:
    for model, evidence in small_queries(kind, COUNT, seed=6):
        reduced = reduce_query(*flat_query(model, evidence), eliminate=False)
        if reduced.is_impossible:
            continue
        joint, bounds = joint_table(model, evidence), value_bounds(reduced)
        owners = np.repeat(reduced.variables, reduced.tables.sizes)
        for variable, value, bound in zip(owners, reduced.values, bounds, strict=True):
            assert bound >= np.take(joint, value, axis=variable).max() - 1e-13 * abs(bound)


def test_bounds_on_values_of_trees_tell_most_bad_values_from_good_ones() -> None:
    rng = np.random.default_rng(0)
    tables = [((k, k + 1), rng.normal(size=(3, 3))) for k in range(5)]
    model = beacon.GraphicalModel.from_tables([3] * 6, tables)
    reduced = reduce_query(*flat_query(model, {}), eliminate=False)
    joint = joint_table(model, {})
    expected = [joint.max(axis=tuple(set(range(6)) - {i}))[v] for i in range(6) for v in range(3)]
    bounds, best = value_bounds(reduced), float(joint.max())
    is_best = np.isclose(expected, best)
    assert np.allclose(bounds[is_best], best, atol=1e-4)
    assert np.mean(bounds[~is_best] < best - 1e-4) > 0.8
    assert (bounds < best + 1e-4).all()


def test_a_tree_that_is_too_large_is_not_grown() -> None:
    model = beacon.GraphicalModel.from_tables([2] * 6, [(range(6), np.zeros(64))])
    flat, fixed = flat_query(model, {})
    assert grow_tree(flat, fixed, max_entries=63) is None
    assert log_sum(flat, fixed, max_entries=63) is None
    assert grow_tree(flat, fixed) is not None


def test_too_many_counts_are_told_before_they_are_made() -> None:
    tree = grow_tree(*flat_query(beacon.GraphicalModel.from_tables([2], [((0,), [0.0, 1.0])]), {}))
    assert tree is not None
    assert counting_work(tree, 3, 2) == 2 * 16 * 16
    assert counting_work(tree, MAX_STATES, 2) == math.inf


@pytest.mark.parametrize(
    ("name", "evidence"),
    [("asia", {}), ("asia", {"dysp": "yes"}), ("alarm", {})],
)
def test_the_best_of_published_networks_are_those_of_full_enumeration(
    benchmark_files: Path, name: str, evidence: dict[str, str]
) -> None:
    model = beacon.read_model(benchmark_files / "bif" / f"{name}.bif.xz")
    given = resolve_evidence(model, evidence)
    if name == "alarm":  # evidence that leaves few enough to enumerate
        best = beacon.solve(model).assignment.tolist()
        given = {i: best[i] for i in range(37) if i % 3}
    tree = grow_tree(compile_model(model), as_fixed(given, model.num_variables))
    assert tree is not None
    small, free = model.condition(given)
    joint = joint_table(small, {})
    expected = np.sort(joint[joint > -math.inf])[::-1][:100]
    scores = [model.log_score(tree.assignment_of(c)) for c in itertools.islice(ranked(tree), 100)]
    assert len(free) <= 13
    assert np.allclose(scores, expected, rtol=0, atol=1e-9)
