"""Recorded walks: every step is the greedy move or the best one toward the reference."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.learn.walks import record_walks
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from tests.engine.helpers import small_models, some_evidence
from tests.reference import Naive

SLACK = 1e-7


def walked(model: GraphicalModel, evidence: dict[int, int], runs: int, steps: int, seed: int = 0):
    """Walks toward a random reference that keeps the evidence."""
    reference = np.random.default_rng(seed).integers(0, model.domain_sizes)
    reference[list(evidence)] = list(evidence.values())
    return reference, *record_walks(compile_model(model), evidence, reference, runs, steps, seed)


def states_and_moves(walks, run):
    """Each state of a run as a list, with the move that was made from it."""
    state = walks.starts[run].tolist()
    for move in zip(walks.flip_variables[run].tolist(), walks.flip_values[run].tolist(), strict=True):
        yield list(state), move
        state[move[0]] = move[1]


@pytest.mark.parametrize("name", small_models())
def test_every_step_is_greedy_or_the_best_toward_the_reference(name):
    model = small_models()[name]
    flat, evidence = compile_model(model), some_evidence(model, 2, seed=1)
    naive = Naive(model, evidence, flat.log_zero)
    reference, walks, _ = walked(model, evidence, runs=4, steps=15)
    only_greedy = only_toward = 0
    for run in range(4):
        for state, move in states_and_moves(walks, run):
            gains = {other: naive.gain(state, other) for other in naive.moves(state)}
            closer = {other: gain for other, gain in gains.items() if reference[other[0]] == other[1]}
            is_greedy = gains[move] >= max(gains.values()) - SLACK
            is_toward = move in closer and closer[move] >= max(closer.values()) - SLACK
            assert is_greedy or is_toward
            only_greedy += is_greedy and not is_toward
            only_toward += is_toward and not is_greedy
    assert only_greedy > 0
    assert only_toward > 0


def test_both_kinds_of_steps_come_about_equally_often():
    model = GraphicalModel.from_tables([2] * 2000, [((i,), [0.0, -1.0 - i]) for i in range(2000)])
    reference = np.ones(2000, dtype=np.int64)  # greedy moves go to 0, where they gain; the others to 1
    walks, _ = record_walks(compile_model(model), {}, reference, 5, 400, seed=3)
    share = walks.flip_values.mean()
    assert share == pytest.approx(0.5, abs=0.05)


def test_at_the_reference_only_greedy_moves_are_left():
    model = GraphicalModel.from_tables([2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -5.0])])
    walks, _ = record_walks(compile_model(model), {}, np.zeros(2, dtype=np.int64), 20, 30, seed=0)
    for run in range(20):
        for state, move in states_and_moves(walks, run):
            if state == [0, 0]:
                assert move == (0, 1)  # the smaller loss


@pytest.mark.parametrize("name", small_models())
def test_the_flips_lead_where_the_engine_stands(name):
    model = small_models()[name]
    evidence = some_evidence(model, 2, seed=4)
    _, walks, search = walked(model, evidence, runs=3, steps=40)
    state = walks.starts[-1].copy()
    for variable, value in zip(walks.flip_variables[-1], walks.flip_values[-1], strict=True):
        assert state[variable] != value
        assert variable not in evidence
        state[variable] = value
    assert np.array_equal(state, search.core.assignment)
    assert search.steps == 3 * 40
    assert search.score == pytest.approx(model.floored_log_score(state, search.model.log_zero))


def test_starts_keep_the_evidence_and_are_otherwise_uniform():
    model = GraphicalModel.from_tables([3, 2, 1, 4], [])
    _, walks, _ = walked(model, {1: 1}, runs=4000, steps=0)
    assert (walks.starts[:, 1] == 1).all()
    assert (walks.starts[:, 2] == 0).all()
    for variable, size in ((0, 3), (3, 4)):
        shares = np.bincount(walks.starts[:, variable], minlength=size) / 4000
        assert shares == pytest.approx([1 / size] * size, abs=0.05)


def test_the_seed_decides():
    model = small_models()["grid"]
    first, again, other = (walked(model, {}, 2, 10, seed)[1] for seed in (1, 1, 2))
    assert np.array_equal(first.flip_variables, again.flip_variables)
    assert not np.array_equal(first.starts, other.starts)


def test_where_nothing_can_be_flipped_nothing_is():
    model = small_models()["grid"]
    everything = dict.fromkeys(range(model.num_variables), 1)
    _, walks, _ = walked(model, everything, runs=2, steps=5)
    assert (walks.flip_variables == -1).all()
    assert (walks.flip_values == 0).all()
    assert (walks.starts == 1).all()
