"""Ergo files: networks of the older competitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from beacon.errors import FormatError
from beacon.formats import ergo, read_evidence, read_model
from tests.small_strategies import damaged, read_or_one_line

TEXT = """2
2 3
0
1 0
/* Probabilities */
2
 0.4 0.6
6
 0.1 0.2 0.7
 0.25 0.75 0.0
/* Names   */
rain
level
/* Labels  */
no yes
low mid high
"""


def test_the_child_varies_fastest_and_names_are_kept() -> None:
    model = ergo.read(TEXT, "m.erg")
    assert model.names == ("rain", "level")
    assert model.labels == (("no", "yes"), ("low", "mid", "high"))
    assert [factor.scope for factor in model.factors] == [(0,), (0, 1)]
    assert np.exp(model.factors[1].log_table) == pytest.approx(np.array([[0.1, 0.2, 0.7], [0.25, 0.75, 0]]))


def test_names_and_labels_may_be_missing() -> None:
    model = ergo.read(TEXT.partition("/* Names")[0], "m.erg")
    assert (model.names, model.labels[0]) == (("x0", "x1"), ("0", "1"))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "2\n 0.4",
            "3\n 0.4",
            r"line 6 .*expected 2, the number of entries of variable 0",
        ),
        ("0.25", "-0.25", r"line 10 .*expected a probability, found '-0.25'"),
        ("1 0\n", "1 1\n", "expected a scope of different variables"),
        ("1 0\n", "1 2\n", r"line 4 .*expected a parent of variable 1, an integer in 0..1, found '2'"),
        ("0\n1 0", "1 1\n1 0", "expected parents without a cycle"),
        ("low mid high", "low mid", "the file ends too early: expected a label"),
        ("low mid high", "low mid high 5", "expected the end of the file, found 1 more tokens"),
    ],
)
def test_mistakes_are_named_with_their_line(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    with pytest.raises(FormatError, match=problem):
        ergo.read(TEXT.replace(old, new, 1), "m.erg")


@settings(deadline=None, max_examples=100)
@given(damaged(TEXT))
def test_random_damage_gives_a_model_or_one_line(text: str) -> None:
    read_or_one_line(lambda: ergo.read(text, "m.erg"))


def test_published_networks_are_distributions_of_the_child(benchmark_files: Path) -> None:
    folder = benchmark_files / "erg"
    if not folder.is_dir():
        pytest.skip("no Ergo files among the benchmarks")
    for name in ("cpcs54", "BN_17"):
        model = read_model(folder / f"{name}.erg.xz")
        sums = [np.exp(factor.log_table).sum(axis=-1) for factor in model.factors]
        assert max(np.abs(total - 1).max() for total in sums) < 1e-2
    (evidence,) = read_evidence(folder / "BN_17.erg.evid", model)
    assert (len(evidence), evidence[37]) == (100, 2)
    assert read_model(folder / "pedigree9.erg.xz").num_variables == 1118


def test_the_same_network_in_two_formats_is_the_same_model(benchmark_files: Path) -> None:
    if not (benchmark_files / "erg").is_dir():
        pytest.skip("no Ergo files among the benchmarks")
    old = read_model(benchmark_files / "erg" / "cpcs54.erg.xz")
    assert old.fingerprint == read_model(benchmark_files / "more" / "cpcs54.uai.xz").fingerprint
