"""Training states against trajectories replayed flip by flip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from beacon.errors import ModelError, UsageError
from beacon.learn.states import Picks, TrajectoryStates
from beacon.model.families import random_bayes_net
from beacon.query.query_set import QuerySet, sample_queries
from tests.learn.trajectory_helpers import walk_trajectories

CPU = torch.device("cpu")
MODEL = random_bayes_net(num_variables=7, max_domain=4, seed=2)
QUERIES = sample_queries(MODEL, 20, 0, query_ratio=(0.2, 0.9), splits=(0.5, 0.3, 0.2))
TRAJECTORIES = walk_trajectories(MODEL, QUERIES, runs=2, steps=9)


def states_of(split: str, queries: QuerySet = QUERIES) -> TrajectoryStates:
    return TrajectoryStates(MODEL, queries, TRAJECTORIES, split, CPU)


def every_state(data: TrajectoryStates) -> Picks:
    queries, states = np.divmod(np.arange(data.num_queries * data.states_per_query), data.states_per_query)
    offsets = torch.full((len(queries),), 0.5)
    return Picks(torch.tensor(queries), torch.tensor(states), offsets)


def replayed(row: int, state: int) -> np.ndarray:
    """The state by making its flips one after another."""
    run, made = divmod(state, TRAJECTORIES.flip_variables.shape[2] + 1)
    x = TRAJECTORIES.starts[row, run].astype(np.int64)
    for i, v in zip(TRAJECTORIES.flip_variables[row, run], TRAJECTORIES.flip_values[row, run], strict=True):
        if made == 0:
            break
        x[i], made = v, made - 1
    return x


@pytest.mark.parametrize(("split", "first"), [("train", 0), ("validation", 10)])
def test_every_state_of_a_split_is_replayed_exactly(split: str, first: int) -> None:
    data = states_of(split)
    picks = every_state(data)
    for x, query, state in zip(data.replay(picks), picks.queries, picks.states, strict=True):
        assert np.array_equal(x, replayed(first + int(query), int(state)))


def test_labels_say_which_moves_reduce_the_distance_to_the_reference() -> None:
    data = states_of("train")
    picks = every_state(data)
    batch = data.batch(picks)
    starts = np.cumsum([0, *MODEL.domain_sizes])
    for row in range(0, picks.size, 7):
        query = int(picks.queries[row])
        x, reference = replayed(query, int(picks.states[row])), TRAJECTORIES.references[query]
        seen = []
        for token, label, is_move in zip(
            batch.move_tokens[row].tolist(), batch.labels[row], batch.is_move[row], strict=True
        ):
            i = int(np.searchsorted(starts, token, side="right")) - 1
            after = x.copy()
            after[i] = token - starts[i]
            if is_move:
                assert bool(label) == ((after != reference).sum() < (x != reference).sum())
                assert not QUERIES.observed[query, i]
                seen.append(token)
        assert len(set(seen)) == len(seen) == (MODEL.domain_sizes - 1)[~QUERIES.observed[query]].sum()


def test_states_are_drawn_evenly_from_every_query_and_anew_each_time() -> None:
    data = states_of("train")
    first, again, other = (data.draw(5, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.bincount(first.queries).tolist() == [5] * data.num_queries
    assert torch.equal(first.states, again.states)
    assert not torch.equal(first.states, other.states)
    pairs = set(zip(first.queries.tolist(), first.states.tolist(), strict=True))
    assert len(pairs) == first.size
    assert data.draw(10**6, np.random.default_rng(0)).size == data.num_queries * data.states_per_query


def test_distances_are_shares_of_the_query_variables() -> None:
    data = states_of("train")
    picks = every_state(data)
    batch = data.batch(picks)
    for row in range(0, picks.size, 5):
        query = int(picks.queries[row])
        free = ~QUERIES.observed[query] & (MODEL.domain_sizes > 1)
        off = (replayed(query, int(picks.states[row])) != TRAJECTORIES.references[query])[free]
        assert float(batch.distances[row]) == pytest.approx(off.mean())


def test_all_batches_have_the_same_width() -> None:
    data = states_of("train")
    for max_moves in (None, 4, 10**6):
        widths = {data.batch(data.draw(2, rng), max_moves).labels.shape[1] for rng in rngs(3)}
        assert widths == {data.width(max_moves)}
    assert data.width(4) == 4
    assert data.width(None) == data.width(10**6) == data.num_moves.max()


def rngs(count: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(count)]


def test_a_limited_number_of_moves_is_spread_over_all_without_repeats() -> None:
    data = states_of("train")
    picks = every_state(data)
    batch, whole = data.batch(picks, max_moves=4), data.batch(picks)
    assert batch.move_tokens.shape[1] == 4
    for row in range(picks.size):
        some = batch.move_tokens[row][batch.is_move[row]].tolist()
        every = whole.move_tokens[row][whole.is_move[row]].tolist()
        assert len(set(some)) == len(some) == min(4, len(every))
        assert set(some) <= set(every)


def test_every_move_has_the_same_chance_where_moves_are_limited() -> None:
    data = states_of("train")
    query = int(data.num_moves.argmax())
    count, tries = int(data.num_moves[query]), 4000
    fill = np.full(tries, query)
    offsets = (torch.arange(tries) + 0.5) / tries
    picks = Picks(torch.tensor(fill), torch.zeros(tries, dtype=torch.int64), offsets)
    batch = data.batch(picks, max_moves=3)
    share = np.bincount(batch.move_tokens.ravel(), minlength=1)
    np.testing.assert_allclose(share[share > 0] / tries, 3 / count, atol=0.01)
    assert (share > 0).sum() == count > 3


def test_queries_that_ask_for_nothing_are_left_out() -> None:
    observed = QUERIES.observed.copy()
    observed[3] = True
    references = np.where(observed, QUERIES.samples, TRAJECTORIES.references)
    data = TrajectoryStates(
        MODEL, replace(QUERIES, observed=observed), replace(TRAJECTORIES, references=references), "train", CPU
    )
    assert data.num_queries == 9


def test_trajectories_of_other_models_queries_or_evidence_are_refused() -> None:
    with pytest.raises(ModelError, match="these trajectories are for another model"):
        TrajectoryStates(MODEL, QUERIES, replace(TRAJECTORIES, fingerprint="0"), "train", CPU)
    with pytest.raises(ModelError, match="these queries are for another model"):
        states_of("train", replace(QUERIES, fingerprint="0"))
    with pytest.raises(UsageError, match="expected trajectories of these 10 queries, found those of 20"):
        states_of("train", QUERIES.split("train"))
    samples = (QUERIES.samples + 1) % MODEL.domain_sizes.astype(np.uint8)
    with pytest.raises(UsageError, match="for other evidence"):
        states_of("train", replace(QUERIES, samples=samples))
