"""WCSP files: costs become scores and back, and every kind of damage is named with its place."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError, ModelError, UsageError
from beacon.formats import read_model, tokens, uai, wcsp
from beacon.io.files import read_text
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line, same_factors, small_models

SMALL = """two_variables 2 3 3 10
2 3
2 0 1 1 2
0 2 4
1 0 10
1 0 0 1
1 7
0 3 0
"""


def read(text: str) -> GraphicalModel:
    return wcsp.read(text, "p.wcsp")


def test_a_log_potential_is_minus_the_cost_and_the_upper_bound_is_forbidden() -> None:
    model = read(SMALL)
    assert [factor.scope for factor in model.factors] == [(0, 1), (0,), ()]
    assert model.factors[0].log_table.tolist() == [[-1, -1, -4], [-np.inf, -1, -1]]
    assert model.factors[1].log_table.tolist() == [0, -7]
    assert model.log_score([0, 2]) == -4 + 0 - 3


def test_zero_cost_is_plus_zero() -> None:
    assert not np.signbit(read("p 1 2 1 5 2 1 0 0 0").factors[0].log_table).any()


def test_a_shared_table_is_used_again_for_other_variables() -> None:
    model = read("p 3 2 4 9  2 2 2  -2 0 1 0 1 0 0 5  -1 2 1 0  2 2 1 0 -1  1 0 1 -2")
    assert [factor.scope for factor in model.factors] == [(0, 1), (2,), (2, 1), (0,)]
    assert model.factors[2].log_table.tolist() == [[-5, 0], [0, 0]]
    assert model.factors[3].log_table.tolist() == [-1, -1]


def test_costs_beyond_64_bits_are_read() -> None:
    huge = "9" * 30
    model = read(f"p 1 2 1 {huge}\n2\n1 0 {huge} 1\n0 7")
    assert model.factors[0].log_table.tolist() == [-7, -np.inf]


def test_a_tuple_may_come_twice_with_the_same_cost() -> None:
    assert read("p 1 2 1 9 2 1 0 0 2 1 4 1 4").factors[0].log_table.tolist() == [0, -4]


def test_a_problem_may_have_no_variables() -> None:
    assert read("p 0 0 1 9 0 4 0").log_score(np.array([], dtype=np.int64)) == -4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("p", r"line 1 \(token 1\): the file ends too early: expected the number of variables"),
        ("p 1000000000000 2 1 9", r"expected 1000000000000 tokens \(a domain size\), found nothing"),
        ("p 2 2 1 9\n2", r"expected 2 tokens \(a domain size\), found 1"),
        ("p 1 2 1 0 2", "expected the upper bound, an integer of at least 1, found '0'"),
        ("p 1 2 1 9.5 2", "expected the upper bound, an integer of at least 1, found '9.5'"),
        ("p 1 2 0 9\n3", r"line 2 .*variable 0: expected a domain size in 1\.\.2, .* header, found 3"),
        ("p 1 2 0 9\n0", r"variable 0: expected a domain size in 1\.\.2, .*, found 0"),
        ("p 1 2 0 9\n-5", r"variable 0 is an interval variable \(-5\), which cannot be read"),
        ("p 1 999999999 0 9\n999999999", r"expected at most \d+ values in all, found 999999999"),
        ("p 1 2 1 9\n2\n3 0 0 0 0", "expected the arity of a function, an integer in -1..1, found '3'"),
        ("p 1 2 1 9\n2\n1 1 0 0", "expected a variable in a scope, an integer in 0..0, found '1'"),
        ("p 2 2 1 9\n2 2\n2 1 1 0 0", r"a scope of different variables, found one of them twice: \[1, 1\]"),
        ("p 1 2 1 9\n2\n1 0 -1 salldiff var 1", "the keyword function 'salldiff', which cannot be read"),
        ("p 1 2 1 9\n2\n1 0 -2 0", "expected a default cost, an integer of at least -1, found '-2'"),
        ("p 1 2 1 9\n2\n1 0 0 -1", "expected a number of tuples, an integer at least 0, found '-1'"),
        ("p 1 2 1 9\n2\n1 0 0 1000000000000\n0 1", "expected 2000000000000 tokens .*, found 2 tokens"),
        ("p 1 2 1 9\n2\n1 0 0 1\n2 1", r"line 4 .*expected a value, an integer in 0\.\.1, found '2'"),
        ("p 1 2 1 9\n2\n1 0 0 1\n0.5 1", r"expected a value, an integer in 0\.\.1, found '0\.5'"),
        ("p 1 2 1 9\n2\n1 0 0 1\n0 -1", r"line 4 .*expected a cost, an integer of at least 0, found '-1'"),
        ("p 1 2 1 9\n2\n1 0 0 1\n0 nan", "expected a cost, an integer of at least 0, found 'nan'"),
        ("p 1 2 1 9\n2\n1 0 0 2\n1 3\n1 4", r"the tuple \[1\] has two different costs"),
        ("p 1 2 1 9\n2\n1 0 0 0\n7", "expected the end of the file, found 1 more tokens?.* '7'"),
        ("p 2 3 2 9 2 3 -1 0 0 0 1 1 0 -1", r"shared table 1 has domains \[2\] .*; found domains \[3\]"),
        ("p 2 2 2 9 2 2 -1 0 0 0 1 1 5 -1", "default cost 0; found domains .* and default cost 5"),
    ],
)
def test_damage_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"^p\.wcsp, (?=line \d).*{problem}"):
        read(text)


@pytest.mark.parametrize(
    ("arity", "problem"), [(60, "at most 32 variables"), (30, "at most 268435456 entries")]
)
def test_a_small_file_cannot_ask_for_a_huge_table(arity: int, problem: str) -> None:
    scope = " ".join(map(str, range(arity)))
    tracemalloc.start()
    with pytest.raises(FormatError, match=problem):
        read(f"p {arity} 2 1 9\n{'2 ' * arity}\n{arity} {scope} 0 0")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("functions", ["2 0 1 0 1 0 0 4\n" * 3, "-2 0 1 0 1 0 0 4\n" + "2 0 1 0 -1\n" * 2])
def test_many_small_functions_cannot_ask_for_a_huge_model(
    functions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"p 2 50 3 9\n50 50\n{functions}"
    assert read(text).num_entries == 7500
    monkeypatch.setattr(tokens, "ENTRY_BYTES", 1 << 18)
    with pytest.raises(FormatError, match=r"token .*: expected what fits into 1 GiB of memory, found 1\.\d"):
        read(text)


@settings(deadline=None, max_examples=80)
@given(model=small_models(), precision=st.integers(0, 9), seed=st.integers(0, 99))
def test_the_score_is_the_offset_minus_the_scaled_cost(
    model: GraphicalModel, precision: int, seed: int
) -> None:
    costs = read(wcsp.write(model, precision))
    assignment = np.random.default_rng(seed).integers(0, model.domain_sizes)
    expected, cost = model.log_score(assignment), -costs.log_score(assignment)
    assert (cost == np.inf) == (expected == -np.inf)
    if cost < np.inf:
        rounding = 0.51 * model.num_factors * 10.0**-precision
        score = wcsp.score_offset(model) - cost / 10.0**precision
        assert score == pytest.approx(expected, abs=rounding + 1e-9)


@settings(deadline=None, max_examples=60)
@given(model=small_models())
def test_no_possible_assignment_reaches_the_upper_bound(model: GraphicalModel) -> None:
    text = wcsp.write(model)
    upper_bound = int(text.split()[4])
    largest = (-factor.log_table[factor.log_table > -np.inf] for factor in read(text).factors)
    assert sum(float(costs.max(initial=0)) for costs in largest) < upper_bound


@settings(deadline=None, max_examples=60)
@given(model=small_models())
def test_a_written_problem_reads_back_the_same(model: GraphicalModel) -> None:
    first = read(wcsp.write(model))
    assert same_factors(read(wcsp.write(first, precision=0)), first)


def test_a_factor_of_zeros_alone_forbids_everything() -> None:
    model = GraphicalModel.from_tables([2], [([0], [-np.inf, -np.inf]), ([0], [0.5, 1.5])])
    text = wcsp.write(model, precision=1)
    assert text == "beacon 1 2 2 11\n2\n1 0 11 0\n1 0 0 1\n0 10\n"
    assert read(text).log_score([1]) == -np.inf
    assert wcsp.score_offset(model) == 1.5


def test_the_most_frequent_cost_is_the_default() -> None:
    model = GraphicalModel.from_tables([4], [([0], [-3.0, -3.0, 0.0, -3.0])])
    assert wcsp.write(model, precision=0) == "beacon 1 4 1 4\n4\n1 0 3 1\n2 0\n"


@pytest.mark.parametrize("lowest", [-1e15, -1e308])
def test_costs_that_need_more_than_64_bits_are_refused(lowest: float) -> None:
    model = GraphicalModel.from_tables([2], [([0], [0.0, lowest])])
    with pytest.raises(ModelError, match=r"with 6 digits .* do not fit into 64 bits; use a lower precision"):
        wcsp.write(model)


@pytest.mark.parametrize("precision", [-1, 16])
def test_precision_out_of_range_is_refused(precision: int) -> None:
    with pytest.raises(UsageError, match=rf"precision must be .* in 0\.\.15; found {precision}"):
        wcsp.write(GraphicalModel.from_tables([2], []), precision)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_damage_gives_a_model_or_one_line(data: st.DataObject) -> None:
    text = data.draw(damaged(data.draw(st.sampled_from([SMALL, wcsp.write(read(SMALL))]))))
    model = read_or_one_line(lambda: read(text))
    assert model is None or model.num_variables >= 0


@pytest.mark.parametrize(
    ("problem", "derived"),
    [("404", "more/404.wcsp.uai.xz"), ("le450_5a_3", "paper/le450_5a_3.wcsp.uai.xz")],
)
def test_published_problems_agree_with_the_uai_files_made_from_them(
    benchmark_files: Path, problem: str, derived: str
) -> None:
    costs = read(read_text(benchmark_files / "wcsp" / f"{problem}.wcsp.xz"))
    potentials = uai.read(read_text(benchmark_files / derived), derived)
    assert [factor.scope for factor in costs.factors] == [factor.scope for factor in potentials.factors]
    # the UAI files hold 10^(-4 cost / largest cost); in them a forbidden tuple has the largest cost
    largest = max(
        float(-factor.log_table[factor.log_table > -np.inf].min(initial=0)) for factor in costs.factors
    )
    forbidden = 164.0 if problem == "404" else largest
    rng = np.random.default_rng(0)
    for assignment in rng.integers(0, costs.domain_sizes, size=(20, costs.num_variables)):
        cost = -costs.floored_log_score(assignment, log_zero=-forbidden)
        expected = -4 * np.log(10) * cost / forbidden
        assert potentials.log_score(assignment) == pytest.approx(expected, rel=1e-6)


def test_many_small_functions_count_as_much_as_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 2000
    path = tmp_path / "p.wcsp"
    path.write_text(f"p 1 2 {count} 9\n2\n" + "1 0 0 1\n1 4\n" * count)
    monkeypatch.setenv("BEACON_MEMORY", str(500 * count / 2**30))
    with pytest.raises(FormatError, match="expected what fits into"):
        read_model(path)
    monkeypatch.setenv("BEACON_MEMORY", str(900 * count / 2**30))
    tracemalloc.start()
    read_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 900 * count


def test_many_tuples_take_less_memory_than_words_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{a} {b} {a + b + 100_000}" for a in range(300) for b in range(300)]
    path, num_tokens = tmp_path / "p.wcsp", 3 * len(lines)
    path.write_text("\n".join(["p 2 300 1 1000000", "300 300", f"2 0 1 0 {len(lines)}", *lines]))
    monkeypatch.setenv("BEACON_MEMORY", str(60 * num_tokens / 2**30))
    tracemalloc.start()
    model = read_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.log_score([299, 299]) == -100_598
    assert peak < 60 * num_tokens
