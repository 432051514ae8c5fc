"""UAI and LG files: exact round trips, and every kind of damage named with its place."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import BeaconError, FormatError, ModelError
from beacon.formats import uai
from beacon.io.files import read_text
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line, same_factors, small_models

TWO_VARIABLES = """MARKOV
2
2 3
2
1 0
2 0 1

2
 0.25 0.75
6
 1 2 3
 4 5 0
"""
ANY_POTENTIAL = st.floats(0, allow_infinity=False)  # subnormal numbers included
ANY_LOG = st.floats(allow_nan=False, max_value=np.finfo(np.float64).max)


def read(text: str, *, logs: bool = False) -> GraphicalModel:
    return uai.read(text, "m.uai", logs=logs)


@pytest.mark.parametrize("header", ["MARKOV", "BAYES", "markov"])
def test_the_last_variable_of_a_scope_varies_fastest(header: str) -> None:
    model = read(TWO_VARIABLES.replace("MARKOV", header))
    assert model.domain_sizes.tolist() == [2, 3]
    assert [factor.scope for factor in model.factors] == [(0,), (0, 1)]
    np.testing.assert_array_equal(model.factors[1].log_table[0], np.log([1.0, 2.0, 3.0]))
    assert model.log_score([1, 0]) == pytest.approx(np.log(0.75 * 4))
    assert model.log_score([1, 2]) == -np.inf


def test_an_lg_file_holds_natural_logs() -> None:
    model = read("MARKOV 1 3 1 1 0 3 -0.5 2 -inf", logs=True)
    assert model.factors[0].log_table.tolist() == [-0.5, 2.0, -np.inf]


def test_a_model_may_have_nothing_or_constants_alone() -> None:
    assert read("MARKOV 0 0").num_variables == 0
    assert read("MARKOV 1 2 1 0 1 5").log_score([0]) == np.log(5)


@settings(deadline=None, max_examples=60)
@given(small_models(min_variables=0, potentials=ANY_POTENTIAL))
def test_a_written_model_is_read_back_bit_for_bit(model: GraphicalModel) -> None:
    assert same_factors(read(uai.write(model)), model)
    assert same_factors(read(uai.write(model, logs=True), logs=True), model)


@settings(deadline=None, max_examples=60)
@given(st.lists(ANY_LOG, min_size=4, max_size=4))
def test_any_log_table_survives_an_lg_file(log_table: list[float]) -> None:
    model = GraphicalModel.from_tables([2, 2], [((1, 0), log_table)])
    assert same_factors(read(uai.write(model, logs=True), logs=True), model)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, allow_infinity=False), min_size=1, max_size=40))
def test_potentials_invert_logs_exactly(numbers: list[float]) -> None:
    with np.errstate(divide="ignore"):
        logs = np.log(numbers)
        np.testing.assert_array_equal(np.log(uai.potentials(logs)), logs)


def test_a_log_that_no_potential_has_is_written_as_nearly_as_can_be() -> None:
    logs = np.random.default_rng(0).uniform(-1, 1, 1000)
    np.testing.assert_allclose(np.log(uai.potentials(logs)), logs, rtol=0, atol=3e-16)


@pytest.mark.parametrize("log_potential", [-740.123, -1e4, 710.0, 1e300])
def test_a_potential_out_of_range_is_refused_with_a_way_out(log_potential: float) -> None:
    model = GraphicalModel.from_tables([2], [((0,), [0.0, 0.0]), ((0,), [0.0, log_potential])])
    with pytest.raises(
        ModelError, match=r"^factor 1: exp\(.*\) is out of the range of a UAI file; write an \.lg file"
    ):
        uai.write(model)
    assert same_factors(read(uai.write(model, logs=True), logs=True), model)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "MARKOV",
            "MARKVO",
            r"line 1 \(token 1\): expected MARKOV or BAYES as the first word, found 'MARKVO'",
        ),
        ("2 3\n", "2 0\n", r"line 3 \(token 4\): expected a domain size, an integer at least 1, found '0'"),
        ("2 3\n", "2 x\n", r"line 3 \(token 4\): expected a domain size, an integer, found 'x'"),
        (
            "2 0 1",
            "2 0 2",
            r"line 6 \(token 10\): expected a variable in the scope of factor 1.* in 0\.\.1, found '2'",
        ),
        (
            "2 0 1",
            "2 0 0",
            r"line 6 \(token 10\): factor 1: a scope must not repeat a variable, found \[0, 0\]",
        ),
        ("2 0 1", "3 0 1", r"line 6 \(token 8\): expected the number of variables in the scope of factor 1"),
        ("\n6\n", "\n5\n", r"line 10 \(token 14\): the table of factor 1: expected 6, .*found '5'"),
        ("0.25", "0.25 0.3", r"line 9 \(token 14\): the table of factor 1: expected 6, .*found '0.75'"),
        (
            "0.25",
            "-0.25",
            r"line 9 \(token 12\): expected a table entry, a finite number of at least 0, found '-0.25'",
        ),
        ("0.25", "nan", r"line 9 \(token 12\): expected a table entry, a finite number .*, found 'nan'"),
        ("0.25", "1e999", r"line 9 \(token 12\): expected a table entry, a finite number .*, found '1e999'"),
        ("0.25", "1/4", r"line 9 \(token 12\): expected a table entry, a number, found '1/4'"),
        (
            " 4 5 0\n",
            " 4 5\n",
            "line 12 .*: the file ends too early: expected 10 tokens for the tables .*, found 9",
        ),
        (
            " 4 5 0\n",
            " 4 5 0\n7 8",
            r"line 13 \(token 21\): expected the end of the file, found 2 more tokens",
        ),
    ],
)
def test_damage_is_named_with_its_place(old: str, new: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"^m\.uai, {problem}"):
        read(TWO_VARIABLES.replace(old, new, 1))


@pytest.mark.parametrize("entry", ["nan", "inf", "x"])
def test_an_lg_entry_is_a_number_below_infinity(entry: str) -> None:
    with pytest.raises(FormatError, match=rf"expected a table entry, .*found '{entry}'"):
        read(f"MARKOV 1 2 1 1 0 2 0 {entry}", logs=True)


@pytest.mark.parametrize("length", range(len(TWO_VARIABLES.split())))
def test_a_file_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(FormatError, match="the file ends too early"):
        read(" ".join(TWO_VARIABLES.split()[:length]))


SIXTY = " ".join(map(str, range(60)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("MARKOV 1000000000000 2", "expected 1000000000000 tokens"),
        ("MARKOV 1 2 1000000000000 1 0", "expected 1000000000000 factors, found 2 tokens"),
        ("MARKOV 1 1000000000000 0", "expected at most 16777216 values in all, found 1000000000000"),
        (f"MARKOV 30000 {'1000000 ' * 30000} 0", "at most 16777216 values in all"),
        (f"MARKOV 60 {'2 ' * 60} 1 60 {SIXTY} 1152921504606846976 1", "at most 32 variables, found 60"),
        (f"MARKOV 60 {'1 ' * 60} 1 60 {SIXTY} 1 1", "at most 32 variables, found 60"),
        (f"MARKOV 30 {'2 ' * 30} 1 30 {SIXTY[:79]} 1073741824 1", "would have more than 268435456 entries"),
        (f"MARKOV 28 {'2 ' * 28} 1 28 {SIXTY[:73]} 268435456 1", "expected 268435457 tokens for the tables"),
    ],
)
def test_a_crafted_header_takes_no_memory(text: str, problem: str) -> None:
    tracemalloc.start()
    with pytest.raises(BeaconError, match=problem):
        read(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_random_damage_gives_a_model_or_one_line(data: st.DataObject) -> None:
    logs = data.draw(st.booleans())
    text = uai.write(data.draw(small_models()), logs=logs)
    text = data.draw(damaged(text))
    model = read_or_one_line(lambda: read(text, logs=logs))
    assert model is None or model.num_variables >= 0


def test_published_models_are_read_and_written_exactly(benchmark_files: Path) -> None:
    for name in ("pedigree1", "or_chain_10.fg", "404.wcsp", "BN_11"):
        model = read(read_text(benchmark_files / "more" / f"{name}.uai.xz"))
        assert same_factors(read(uai.write(model)), model)
