"""Random streams: reproducible, uniform, the same compiled and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beacon.model.flat import as_fixed
from beacon.rng import random_below, stream
from tests.kernels import draw

interpreted: Any = getattr(random_below, "py_func", random_below)


def draws(rng: NDArray[np.uint64], limit: int, count: int) -> list[int]:
    return [draw(rng, limit) for _ in range(count)]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(-(2**70), 2**70), limit=st.integers(1, 2**31 - 1))
def test_the_stream_is_the_same_compiled_and_interpreted(seed: int, limit: int) -> None:
    compiled_rng, interpreted_rng = stream(seed, {}), stream(seed, {})
    for _ in range(50):
        assert draw(compiled_rng, limit) == interpreted(interpreted_rng, limit)
    assert compiled_rng == interpreted_rng


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**9), limit=st.sampled_from([1, 2, 3, 7, 1000, 2**31 - 1]))
def test_numbers_lie_below_the_limit(seed: int, limit: int) -> None:
    assert all(0 <= number < limit for number in draws(stream(seed, {}), limit, 200))


@pytest.mark.parametrize("limit", [2, 3, 10])
def test_numbers_are_roughly_uniform(limit: int) -> None:
    count = 30_000
    counts = np.bincount(draws(stream(7, {}), limit, count), minlength=limit)
    deviation = np.sqrt(count * (1 / limit) * (1 - 1 / limit))
    assert np.abs(counts - count / limit).max() < 5 * deviation


def test_successive_numbers_are_not_tied_to_each_other() -> None:
    numbers = np.array(draws(stream(3, {}), 2, 30_000))
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.03


def test_the_stream_depends_on_the_seed_and_the_evidence() -> None:
    streams = [stream(0, {}), stream(1, {}), stream(0, {1: 0}), stream(0, {1: 1}), stream(0, {2: 0})]
    assert len({int(rng[0]) for rng in streams}) == len(streams)


def test_the_stream_does_not_depend_on_the_order_of_the_evidence() -> None:
    assert stream(5, {3: 1, 0: 2}) == stream(5, {0: 2, 3: 1})


def test_streams_of_neighbouring_seeds_begin_far_apart() -> None:
    firsts = [draw(stream(seed, {}), 1000) for seed in range(200)]
    assert len(set(firsts)) > 150
    assert 400 < np.mean(firsts) < 600


def test_no_stream_begins_at_zero_where_it_would_stay() -> None:
    assert all(stream(seed, {})[0] != 0 for seed in range(100))


def test_a_seed_means_the_same_on_every_machine() -> None:
    assert draws(stream(0, {1: 2}), 1000, 5) == [381, 561, 106, 626, 559]


def test_fixed_values_have_the_stream_of_the_same_evidence() -> None:
    for evidence in ({}, {0: 0}, {3: 12, 9: 0, 105: 7, 1199: 3}):
        assert stream(4, as_fixed(evidence, 1200)) == stream(4, evidence)
