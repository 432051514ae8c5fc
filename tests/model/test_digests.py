"""Digests of factors, one by one or by a kernel."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.model import blake2b, digests
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import small_models


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_kernel_and_hashlib_agree(data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, 128))
    messages = [data.draw(st.binary(min_size=cut, max_size=cut)) for _ in range(data.draw(st.integers(1, 4)))]
    rows = np.array([list(message) for message in messages], dtype=np.uint8)
    head = data.draw(st.integers(0, cut))
    found = blake2b.digests(rows[:, :head], rows[:, head:])
    assert [row.tobytes() for row in found] == [
        hashlib.blake2b(message, digest_size=16).digest() for message in messages
    ]


@settings(max_examples=60, deadline=None)
@given(small_models())
def test_factors_have_the_same_digests_one_by_one_and_together(model: GraphicalModel) -> None:
    one_by_one = digests.digests_of(model.factors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests, "MANY", 1)
        np.testing.assert_array_equal(digests.digests_of(model.factors), one_by_one)
