"""Guides without a network."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.errors import EvidenceError, UsageError
from beacon.guide.trivial import FrequencyGuide, OracleGuide, UniformGuide
from tests.guide.helpers import MIXED, random_states


def test_the_uniform_guide_finds_every_value_equally_likely() -> None:
    (row,) = UniformGuide(MIXED).score(random_states(MIXED, 1))
    expected = [1 / 2] * 2 + [1 / 3] * 3 + [1] + [1 / 4] * 4 + [1 / 2] * 2
    np.testing.assert_allclose(row, expected, rtol=1e-6)


def test_the_oracle_names_the_reference_of_each_row() -> None:
    references = [[0, 2, 0, 3, 1], [1, 0, 0, 1, 0]]
    scores = OracleGuide(MIXED, references).score(random_states(MIXED, 2))
    assert np.flatnonzero(scores[0]).tolist() == [0, 4, 5, 9, 11]
    assert np.flatnonzero(scores[1]).tolist() == [1, 2, 5, 7, 10]


def test_an_oracle_with_too_few_references_is_refused() -> None:
    oracle = OracleGuide(MIXED, [[0, 0, 0, 0, 0]] * 2)
    with pytest.raises(UsageError, match="one reference for each of 3 states, or one for all; found 2"):
        oracle.score(random_states(MIXED, 3))


def test_an_oracle_checks_its_references() -> None:
    with pytest.raises(EvidenceError, match=r"variable 'x1' has values 0\.\.2; found 3"):
        OracleGuide(MIXED, [0, 3, 0, 0, 0])


def test_frequencies_count_values_where_they_were_asked_for() -> None:
    references = np.array([[0, 1, 0, 3, 0], [0, 1, 0, 3, 1], [1, 2, 0, 0, 1]])
    observed = np.zeros(references.shape, dtype=np.bool_)
    observed[2, 1] = True
    guide = FrequencyGuide.from_references(MIXED, references, observed, smoothing=0.5)
    expected = [2.5 / 4, 1.5 / 4, 0.5 / 3.5, 2.5 / 3.5, 0.5 / 3.5, 1, 1.5 / 5, 0.5 / 5, 0.5 / 5, 2.5 / 5]
    expected += [1.5 / 4, 2.5 / 4]
    np.testing.assert_allclose(guide.frequencies, expected, rtol=1e-6)


def test_a_variable_that_was_never_asked_for_has_equally_likely_values() -> None:
    references = np.zeros((4, 5), dtype=np.int64)
    guide = FrequencyGuide.from_references(MIXED, references, np.ones(references.shape, dtype=np.bool_))
    np.testing.assert_allclose(guide.frequencies, UniformGuide(MIXED).score(random_states(MIXED, 1))[0])


def test_frequencies_need_smoothing() -> None:
    states = random_states(MIXED)
    with pytest.raises(UsageError, match="smoothing must be positive; found 0"):
        FrequencyGuide.from_references(MIXED, states.assignments, states.observed, smoothing=0)


def test_frequencies_must_fit_the_model() -> None:
    with pytest.raises(UsageError, match=r"expected 12 frequencies, one per move; found \(3,\)"):
        FrequencyGuide(MIXED, np.ones(3, dtype=np.float32))
