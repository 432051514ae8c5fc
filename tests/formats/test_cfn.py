"""CFN files: the relaxed notation, both directions, forbidden costs, and damage named with its line."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError, UsageError
from beacon.formats import cfn, tokens
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line, same_factors, small_models

SMALL = """{ "problem": { "name": "small", "mustbe": "<10.0" },
  "variables": { "sky": ["clear", "grey"], "n": 3 },
  "functions": {
    "f": { "scope": ["sky", "n"], "costs": [0, 1, 2, 3.5, 10, 12] },
    "g": { "scope": ["n"], "defaultcost": 1, "costs": [2, 4] },
    "h": { "scope": [], "costs": [0.5] } } }
"""
HEAD = '{ problem: { name: p, mustbe: "<10" }, variables: { a: [x, y], b: 2, c: 3 }, functions: {\n'


def read(text: str) -> GraphicalModel:
    return cfn.read(text, "p.cfn")


def tables(functions: str, mustbe: str = "<10") -> list[Any]:
    """The log tables of functions over the variables a: [x, y], b: 2, c: 3."""
    model = read(HEAD.replace("<10", mustbe) + functions + "} }")
    return [factor.log_table.tolist() for factor in model.factors]


def test_names_labels_and_costs_are_read() -> None:
    model = read(SMALL)
    assert model.names == ("sky", "n")
    assert model.labels == (("clear", "grey"), ("0", "1", "2"))
    assert [factor.scope for factor in model.factors] == [(0, 1), (1,), ()]
    assert model.factors[0].log_table.tolist() == [[0, -1, -2], [-3.5, -np.inf, -np.inf]]
    assert model.factors[1].log_table.tolist() == [-1, -1, -4]
    assert model.log_score([1, 0]) == -3.5 - 1 - 0.5


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace('"', "").replace(",", " ").replace(":", " "),
        SMALL.replace("{", "[").replace("}", "]"),
        "# made by hand\n// twice\n" + SMALL.replace("\n", " # here { ends a line\n"),
        SMALL.replace("3.5", '"3.5"'),
        SMALL.rstrip().removesuffix("}"),
        SMALL.replace('"f": {', "{").replace('"scope": ["sky", "n"]', "scope: [0 1]"),
        SMALL.replace(
            '"costs": [0, 1, 2, 3.5, 10, 12]', "defaultcost: inf costs: [0 0 0 clear 1 1 clear 2 2 1 0 3.5]"
        ),
        SMALL.replace('"costs": [0, 1, 2, 3.5, 10, 12]', "costs: f2").replace(
            '"g"', "f2: { scope: [sky n] costs: [0 1 2 3.5 10 12] } g"
        ),
    ],
)
def test_the_notation_is_free(text: str) -> None:
    model = read(text)
    expected = read(SMALL)
    assert same_factors(
        GraphicalModel(model.names, model.labels, (model.factors[0], *model.factors[-2:])), expected
    )


def test_field_names_may_be_left_out() -> None:
    text = "{{short <10} [[clear grey] 3] [f [[0 1] [0 1 2 3.5 10 12]] g{{1} 1 {2 4}} [[] [0.5]]]}"
    model = read(text)
    assert model.names == ("x0", "x1")
    assert same_factors(model, read(SMALL))


def test_a_problem_may_be_maximised() -> None:
    assert tables("f: { scope: [a] costs: [3, -9] }", mustbe=">-9") == [[3, -np.inf]]


@pytest.mark.parametrize(("mustbe", "finite"), [("<10", -2), (">-10", 2)])
def test_inf_is_forbidden_in_both_directions(mustbe: str, finite: float) -> None:
    assert tables("f: { scope: [a] costs: [inf, 2] }", mustbe) == [[-np.inf, finite]]


def test_negative_costs_elsewhere_may_keep_a_cost_below_the_bound() -> None:
    functions = "f: { scope: [a] costs: [12, 15] } g: { scope: [b] costs: [-5, 0] }"
    assert tables(functions) == [[-12, -np.inf], [5, 0]]


def test_a_published_maximisation_has_its_known_optimum() -> None:
    model = read("""{ problem: { name: "maximization_example", mustbe: ">-5.0"},
      variables: { v1: [a, b], v2: [c, d] },
      functions: { c0: {scope: [], costs: [-6.0]}, c1: {scope: [v1], costs: [1.0, 0.5]},
        c2: {scope: [v2], costs: [1.0, 0.5]}, c12: {scope: [v1, v2], costs: [-1.0, 0.5, -2.0, 5.5]} } }""")
    scores = model.log_scores([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert scores.tolist() == [-5.0, -4.0, -6.5, 0.5]


def test_a_shared_table_serves_other_variables() -> None:
    functions = "f: { scope: [a] costs: g } g: { scope: [b] costs: [1, 2] } { scope: [b] costs: g }"
    assert tables(functions) == [[-1, -2]] * 3


def test_quoted_names_may_hold_json_escapes() -> None:
    text = json.dumps(
        {
            "problem": {"name": "é [x]", "mustbe": "<5"},
            "variables": {"two words": ['a"b', "größer"]},
            "functions": {"": {"scope": ["two words"], "defaultcost": 1, "costs": ["größer", 2]}},
        }
    )
    model = read(text)
    assert (model.names, model.labels) == (("two words",), (('a"b', "größer"),))
    assert model.factors[0].log_table.tolist() == [-1, -2]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: the file ends too early: expected an opening bracket"),
        ("problem", "expected an opening bracket, found 'problem'"),
        ("{ problem { title: p", "line 1: expected 'name', found 'title'"),
        ("{ problem: { name: p\nmustbe: 10 }", "line 2: expected a bound such as <10.0 or >0, found '10'"),
        ("{ problem: { name: p mustbe: <ten }", "expected a bound such as <10.0 or >0, found '<ten'"),
        ("{ problem: { name: p mustbe: <1 more }", "expected a closing bracket, found 'more'"),
        ("{ problem: { name: p mustbe: <1 } functions", "expected 'variables', found 'functions'"),
        ("{{p <1} {a 0}", "variable 'a': expected labels or a number of values, found '0'"),
        ("{{p <1} {a -5}", r"found '-5' \(an interval variable, which cannot be read\)"),
        ("{{p <1} {a []}", "variable 'a' needs at least one value, found none"),
        ("{{p <1} {a [x x]}", "variable 'a' has the value 'x' twice"),
        ("{{p <1} {a [0 1]}", "variable 'a': expected labels that begin with no digit, .* found '0'"),
        ('{{p <1} {"1": [x y]}', "expected a variable whose name begins with no digit, found '\"1\"'"),
        ("{{p <1} {a 2\na 2}", "line 2: variable 'a' is there twice"),
        ("{{p <1} {a 999999999}", r"expected at most \d+ values in all, found 999999999"),
        ("{{p <1} {a 2", "the file ends too early: expected a variable or a closing bracket"),
        (SMALL + "}", "line 7: expected the end of the file, found ']'"),
    ],
)
def test_damage_is_named_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"^p\.cfn, (?=line \d).*{problem}"):
        read(text)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("{ costs: [1] }", "line 2: expected 'scope', found 'costs'"),
        ("{ scope: [d] costs: [1] }", "no variable is called 'd'"),
        ("{ scope: [3] costs: [1] }", "no variable is called '3'"),
        ("{ scope: [a 0] costs: [1] }", r"different variables, found one of them twice: \[0, 0\]"),
        ("{ scope: [a] price: [1] }", "expected 'costs', found 'price'"),
        ("{ scope: [a] costs: [1] }", "expected 2 costs, one per tuple of values, found 1"),
        ("{ scope: [a c] costs: [1 2 3] }", "expected 6 costs, one per tuple of values, found 3"),
        ("{ scope: [a] costs: [1\nlow] }", "line 3: expected a cost, a number, found 'low'"),
        ("{ scope: [a] costs: [[1] [2]] }", r"expected a cost, a number, found '\['"),
        ("{ scope: [a] costs: [1 nan] }", "expected a cost, a number, found 'nan'"),
        ("{ scope: [a] costs: [1 -inf] }", "a problem that minimises cannot have the cost -inf"),
        ("{ scope: [a] defaultcost: none costs: [] }", "expected a cost, a number, found 'none'"),
        ('{ scope: [a] defaultcost: "" costs: [] }', "expected a cost, a number, found ''"),
        ("{ scope: [a] defaultcost: 0 costs: [x] }", "expected tuples of 1 values and a cost, found 1 words"),
        ("{ scope: [a b] defaultcost: 0\ncosts: [x z 1] }", "line 3: variable 'b' has no value 'z'"),
        ("{ scope: [b] defaultcost: 0 costs: [2 1] }", "variable 'b' has no value '2'"),
        (
            "{ scope: [a] defaultcost: 0 costs: [x 1\n0 2] }",
            "line 2: a tuple has two different costs, this is the first",
        ),
        ("{ scope: [a b] type: wsum params: { metric: hard } }", "a function of type 'wsum' cannot be read"),
        ("{ scope: [a] costs: f }", "expected costs or the name of one function with costs, found 'f'"),
        (
            "{ scope: [a] costs: g } g { scope: [c] costs: [1 2 3] }",
            r"'g' has domains \[3\]; found domains \[2\]",
        ),
        ("{ scope: [a] costs: [1 2] more }", "expected a closing bracket, found 'more'"),
        ("{ scope: [a] costs: [1 2", "the file ends too early: expected costs and ']'|closing bracket"),
    ],
)
def test_wrong_functions_are_named_with_their_line(function: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"^p\.cfn, (?=line \d).*({problem})"):
        tables(function)


def test_a_short_function_of_a_type_is_refused() -> None:
    with pytest.raises(
        FormatError, match="a function of type 'salldiff' cannot be read; expected a table of costs"
    ):
        read("{{p <1} {a 2} {f [[a] salldiff [var 1]]}}")


@pytest.mark.parametrize(("arity", "problem"), [(40, "at most 32 variables"), (30, r"of 1\.07e\+09")])
def test_a_small_file_cannot_ask_for_a_huge_table(arity: int, problem: str) -> None:
    scope = " ".join(map(str, range(arity)))
    with pytest.raises(FormatError, match=problem):
        read(f"{{{{p <1}} [{'2 ' * arity}] [[[{scope}] 0 []]]}}")


@pytest.mark.parametrize("costs", ["defaultcost: 0 costs: []", "costs: big"])
def test_many_small_functions_cannot_ask_for_a_huge_model(
    costs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = "big { scope: [a c] defaultcost: 0 costs: [] }" + f"{{ scope: [a c] {costs} }}" * 3
    assert len(tables(functions)) == 4
    monkeypatch.setattr(tokens, "ENTRY_BYTES", 1 << 26)
    with pytest.raises(FormatError, match=r"line 2: expected what fits into 1 GiB of memory, found 1\.1"):
        tables(functions)


@pytest.mark.parametrize("piece", ['" \\" ', "// ", "#", '""', "[", "/", "a 2 "])
def test_repeated_pieces_are_cut_in_linear_time(piece: str) -> None:
    start = time.process_time()
    with pytest.raises(FormatError):
        read("{{p <1} {" + piece * 100_000)
    assert time.process_time() - start < 5


def in_json(model: GraphicalModel) -> str:
    """The model as a dense CFN that minimises, with every log-potential at most 0."""
    functions = {}
    for index, factor in enumerate(model.factors):
        costs = [float(-log) if log > -np.inf else "inf" for log in factor.log_table.ravel()]
        functions[f"f{index}"] = {"scope": [model.names[i] for i in factor.scope], "costs": costs}
    variables = {name: len(values) for name, values in zip(model.names, model.labels, strict=True)}
    problem = {"name": "random", "mustbe": "<1e9"}
    return json.dumps({"problem": problem, "variables": variables, "functions": functions}, indent=1)


@settings(deadline=None, max_examples=60)
@given(model=small_models())
def test_plain_json_is_read_exactly(model: GraphicalModel) -> None:
    assert same_factors(read(in_json(model)), model)


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_damage_gives_a_model_or_one_line(data: st.DataObject) -> None:
    text = SMALL
    for mark in "[]{},:":
        text = text.replace(mark, f" {mark} ")
    broken = data.draw(damaged(text))
    model = read_or_one_line(lambda: read(broken))
    assert model is None or model.num_variables >= 0


class TestWriting:
    @settings(deadline=None, max_examples=60)
    @given(small_models())
    def test_a_written_model_is_read_back(self, model: GraphicalModel) -> None:
        again = cfn.read(cfn.write(model), "m.cfn")
        assert same_factors(again, model)
        assert (again.names, again.labels) == (model.names, model.labels)

    def test_names_and_labels_are_kept(self) -> None:
        model = GraphicalModel.from_tables([2], [((0,), [0.5, -np.inf])], ['a "b'], [["x y", "é"]])
        again = cfn.read(cfn.write(model), "m.cfn")
        assert (again.names, again.labels) == (model.names, model.labels)
        assert again.factors[0].log_table.tolist() == [0.5, -np.inf]

    def test_what_begins_like_a_number_is_told_by_its_index(self) -> None:
        model = GraphicalModel.from_tables([2, 2], [], ["1st", "b"], [["10", "20"], ["-", "+"]])
        again = cfn.read(cfn.write(model), "m.cfn")
        assert again.names == ("x0", "x1")
        assert again.labels == (("0", "1"), ("0", "1"))

    def test_the_bound_says_how_many_decimals_solvers_keep(self) -> None:
        model = GraphicalModel.from_tables([2], [((0,), [-1.5, 0.25])])
        assert '"mustbe": "<2.500"' in cfn.write(model, precision=3)
        with pytest.raises(UsageError, match=r"precision must be a number of digits in 0\.\.15; found 16"):
            cfn.write(model, precision=16)
