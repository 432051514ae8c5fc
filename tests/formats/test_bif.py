"""BIF files: all forms of a distribution, exact round trips, and every kind of damage named with its line."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError, ModelError
from beacon.formats import bif
from beacon.io.files import read_text
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line, same_factors

VARIABLES = """network small { property author "nobody; at all" ; }
variable sky { type discrete [ 2 ] { clear, grey }; property position = (3, 4) ; }
variable rain { type discrete [ 3 ] { none, some, much }; }
"""
SKY = "probability ( sky ) { table 0.75, 0.25; }\n"
RAIN = """probability ( rain | sky ) {
  (grey) 0.2, 0.3, 0.5;
  (clear) 1, 0, 0.0;
}
"""


def read(text: str) -> GraphicalModel:
    return bif.read(text, "n.bif")


def rain_given_sky(entries: str) -> list[list[float]]:
    """The distribution of rain, by sky, in a network where it has these entries."""
    model = read(VARIABLES + SKY + "probability ( rain | sky ) {" + entries + "}")
    table: list[list[float]] = np.exp(model.factors[1].log_table).round(12).tolist()
    return table


def test_the_child_is_the_last_variable_of_its_factor() -> None:
    model = read(VARIABLES + RAIN + SKY)
    assert model.names == ("sky", "rain")
    assert model.labels == (("clear", "grey"), ("none", "some", "much"))
    assert [factor.scope for factor in model.factors] == [(0, 1), (0,)]
    np.testing.assert_array_equal(model.factors[0].log_table[1], np.log([0.2, 0.3, 0.5]))
    assert model.log_score([0, 1]) == -np.inf


@pytest.mark.parametrize(
    "entries",
    [
        "(clear) 1, 0, 0; (grey) 0.2, 0.3, 0.5;",
        "(grey)0.2 0.3 .5;\n(clear)1e0 0 0;",
        "default 0.2, 0.3, 0.5; (clear) 1, 0, 0;",
        "property certain; (clear) 1, 0, 0; default 0.2, 0.3, 0.5;",
        "table 1, 0.2, 0, 0.3, 0, 0.5;",
        '("clear") 1, 0, 0; /* (clear) 0, 1, 0; */ ("grey") 0.2, 0.3, 0.5; // so far\n',
    ],
)
def test_a_distribution_has_many_forms(entries: str) -> None:
    assert rain_given_sky(entries) == [[1, 0, 0], [0.2, 0.3, 0.5]]


def test_a_table_lists_the_first_value_of_the_child_for_all_parents_first() -> None:
    text = """
    variable a { type discrete [ 2 ] { t, f }; } variable b { type discrete [ 3 ] { x, y, z }; }
    variable c { type discrete [ 2 ] { t, f }; }
    probability ( a ) { table 0.5, 0.5; } probability ( b ) { table 0.2, 0.3, 0.5; }
    probability ( c | a, b ) { table .1 .2 .3 .4 .5 .6  .9 .8 .7 .6 .5 .4; }
    """
    probabilities = np.exp(read(text).factors[2].log_table)
    np.testing.assert_allclose(probabilities[..., 0], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


@pytest.mark.parametrize(
    "header", ["(rain|sky)", "( rain sky )", '( "rain" | "sky" )', "(\nrain\n|\nsky // above\n)"]
)
def test_the_parents_follow_the_child_in_any_spacing(header: str) -> None:
    model = read(VARIABLES + SKY + "probability" + header + "{ default 0.2, 0.3, 0.5; }")
    assert model.factors[1].scope == (0, 1)


def test_names_may_be_quoted_and_hold_anything() -> None:
    text = """variable "two words" { type discrete [ 3 ] { "a, b", <5, >=5/6 } ; }
    probability ( "two words" ) { table 0.5, 0.25, 0.25; }"""
    model = read(text)
    assert model.names == ("two words",)
    assert model.labels == (("a, b", "<5", ">=5/6"),)


def test_rounded_rows_are_kept_as_they_are() -> None:
    assert rain_given_sky("default 0.333, 0.333, 0.333;") == [[0.333, 0.333, 0.333]] * 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: expected 'network', 'variable' or 'probability', found nothing"),
        ("hello", "line 1: expected 'network', 'variable' or 'probability', found 'hello'"),
        (VARIABLES + SKY, "variable 'rain' lacks its 'probability' block"),
        (VARIABLES + SKY + RAIN + SKY, "line 9: the distribution of 'sky' is defined twice"),
        (VARIABLES + "variable sky { }", "line 4: variable 'sky' is defined twice"),
        ("variable x { }", r"variable 'x' lacks a line type discrete \[ 2 \]"),
        ("variable x { kind }", "expected 'type', 'property' or '}', found 'kind'"),
        ("variable { }", "line 1: expected the name of a variable, found '{'"),
        ("variable x { type continuous", "variable 'x': expected the type 'discrete', found 'continuous'"),
        (
            "variable x {\n type discrete [ 3 ] { a, b }; }",
            "line 2: variable 'x': expected 3 values, found 2",
        ),
        ("variable x { type discrete [ 2 ] { a, a }; }", "variable 'x' has the value 'a' twice"),
        ("variable x { type discrete [ 2 ] { a,", "the file ends too early: expected the values and '}'"),
        ("variable x { type discrete ( 2 )", r"expected '\[', found '\('"),
        ('variable "x {', "the file ends too early: expected '{'"),
        ("variable x { /* type", "the file ends too early: expected '}'"),
        (VARIABLES + "probability ( )\n{ }", r"line 4: expected \( child \| parents \), found no variable"),
        (VARIABLES + "probability ( snow ) { }", "line 4: no variable is called 'snow'"),
        (VARIABLES + "probability ( sky | sky ) { }", "different variables, found one of them twice"),
        (VARIABLES + "probability sky { }", r"line 4: expected '\(', found 'sky'"),
    ],
)
def test_damage_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"^n\.bif, (?=line \d).*{problem}"):
        read(text)


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("", r"the distribution of 'rain' lacks the row \('clear'\)"),
        ("(clear) 1, 0, 0;", r"the distribution of 'rain' lacks the row \('grey'\)"),
        ("\n(clear) 1, 0, 0;\n(clear) 1, 0, 0;", r"line 7: the row \('clear'\) is there twice"),
        ("\n(blue) 1, 0, 0;", "line 6: variable 'sky' has no value 'blue'"),
        ("(clear, grey) 1, 0, 0;", "expected 1 values, one per parent, found 2"),
        ("(clear) 1, 0;", "expected 3 probabilities for 'rain', found 2"),
        ("default 1;", "expected 3 probabilities for 'rain', found 1"),
        ("table 1, 0, 0;", "expected 6 probabilities for 'rain', found 3"),
        ("(clear)\n1, zero, 0; (grey) 1, 0, 0;", "line 6: expected a probability, a number, found 'zero'"),
        ("(clear) 1, 0, nan; (grey) 1, 0, 0;", "expected a probability, a number, found 'nan'"),
        ("(clear) 1, 0, 1_0; (grey) 1, 0, 0;", "expected a probability, a number, found '1_0'"),
        ("(clear) 1, -1, 1; (grey) 1, 0, 0;", r"a number in 0\.\.1, found -1"),
        ("(clear) 1, 0, 0;\n(grey) .2, .3, .4;", "line 6: .* of 'rain' that sum to 1, found 0.9"),
        ("default .2, .3, .4;", "expected probabilities of 'rain' that sum to 1, found 0.9"),
        ("table 1, 0, 0, 0.2, 0.3, 0.5;", "expected probabilities of 'rain' that sum to 1, found 1.3"),
        ("default 1, 0, 0; default 1, 0, 0;", "the distribution of 'rain' has a second 'default'"),
        ("table 1, 1, 0, 0, 0, 0; (grey) 1, 0, 0;", "'rain' has a 'table' and other entries too"),
        ("row 1, 0, 0;", r"expected 'table', 'default', '\(' or '}', found 'row'"),
    ],
)
def test_wrong_entries_are_named_with_their_line(entries: str, problem: str) -> None:
    text = VARIABLES + SKY + "probability ( rain | sky ) {" + entries + "}"
    with pytest.raises(FormatError, match=rf"^n\.bif, (?=line \d).*{problem}"):
        read(text)


def test_a_cycle_of_parents_is_refused() -> None:
    blocks = (
        """probability ( sky | rain ) { default 1, 0; } probability ( rain | sky ) { default 1, 0, 0; }"""
    )
    with pytest.raises(
        FormatError, match=r"expected parents without a cycle, found '(sky|rain)' -> '(sky|rain)' -> "
    ):
        read(VARIABLES + blocks)


@pytest.mark.parametrize(("num_parents", "problem"), [(40, "at most 32 variables"), (29, "of 1.07e\\+09")])
def test_a_small_file_cannot_ask_for_a_huge_table(num_parents: int, problem: str) -> None:
    names = [f"v{i}" for i in range(num_parents + 1)]
    variables = "".join(f"variable {name} {{ type discrete [2] {{ a, b }}; }}" for name in names)
    block = f"probability ( {' '.join(names)} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(FormatError, match=problem):
        read(variables + block)


@pytest.mark.parametrize("piece", ["/* ", '" \\" ', "// ", '""', "/", "(", "{", "variable "])
def test_repeated_pieces_are_cut_in_linear_time(piece: str) -> None:
    start = time.process_time()
    with pytest.raises(FormatError):
        read("variable x { property " + piece * 100_000)
    assert time.process_time() - start < 5


@st.composite
def networks(draw: st.DrawFn) -> GraphicalModel:
    """Small Bayesian networks with arbitrary names, zeros, and scopes in any order."""
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True))
    labels = [draw(st.lists(st.text(max_size=3), min_size=1, max_size=3, unique=True)) for _ in names]
    sizes = [len(values) for values in labels]
    tables = []
    for child in draw(st.permutations(range(len(names)))):
        parents = draw(st.lists(st.integers(0, child - 1), max_size=2, unique=True)) if child else []
        shape = [*(sizes[i] for i in parents), sizes[child]]
        count = int(np.prod(shape))
        weights = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=count, max_size=count))
        table = np.array(weights).reshape(-1, sizes[child]) + np.eye(1, sizes[child])
        with np.errstate(divide="ignore"):
            logs = np.log(table / table.sum(axis=1, keepdims=True)).reshape(shape)
        tables.append(([*parents, child], logs))
    return GraphicalModel.from_tables(sizes, tables, names, labels)


@settings(deadline=None, max_examples=80)
@given(model=networks())
def test_a_written_network_reads_back_bit_for_bit(model: GraphicalModel) -> None:
    again = read(bif.write(model))
    assert (again.names, again.labels) == (model.names, model.labels)
    assert same_factors(again, model)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_damage_gives_a_model_or_one_line(data: st.DataObject) -> None:
    text = VARIABLES + SKY + RAIN
    for mark in ";,(){}|[]":
        text = text.replace(mark, f" {mark} ")
    broken = data.draw(damaged(text))
    model = read_or_one_line(lambda: read(broken))
    assert model is None or model.num_factors == model.num_variables


def test_a_child_need_not_be_last_in_its_factor() -> None:
    tables = [([0], np.log([0.5, 0.5])), ([1, 0], np.log([[0.1, 0.6], [0.9, 0.4]]))]
    model = GraphicalModel.from_tables([2, 2], tables)
    again = read(bif.write(model))
    assert again.factors[1].scope == (0, 1)
    assert again.fingerprint == model.fingerprint


def test_only_a_bayesian_network_can_be_written() -> None:
    model = GraphicalModel.from_tables([2], [([0], [0.0, 0.0])])
    with pytest.raises(
        ModelError, match=r"only Bayesian networks can be written as BIF.*\.uai, \.lg and \.wcsp"
    ):
        bif.write(model)


def test_a_probability_too_small_for_a_number_is_refused() -> None:
    model = GraphicalModel.from_tables([2], [([0], [0.0, -800.0])])
    with pytest.raises(ModelError, match=r"exp\(-800\) is too small for a BIF file; write an \.lg file"):
        bif.write(model)


@pytest.mark.parametrize(
    ("name", "num_variables"),
    [("asia", 8), ("alarm", 37), ("child", 20), ("link", 724), ("munin1", 186), ("pathfinder", 109)],
)
def test_published_networks_read_fast_and_survive_writing(
    benchmark_files: Path, name: str, num_variables: int
) -> None:
    text = read_text(benchmark_files / "bif" / f"{name}.bif.xz")
    start = time.process_time()
    model = read(text)
    assert time.process_time() - start < 3
    assert model.num_variables == model.num_factors == num_variables
    again = read(bif.write(model))
    assert (again.names, again.labels) == (model.names, model.labels)
    assert same_factors(again, model)


def test_asia_has_its_known_probability(benchmark_files: Path) -> None:
    model = read(read_text(benchmark_files / "bif" / "asia.bif.xz"))
    assert model.log_score([1] * 8) == pytest.approx(
        np.log(0.99 * 0.99 * 0.5 * 0.99 * 0.7 * 1.0 * 0.95 * 0.9)
    )
