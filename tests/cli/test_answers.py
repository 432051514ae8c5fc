"""What ``beacon solve`` shows besides the answer."""

from __future__ import annotations

import math
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest

import beacon
from beacon.cli import answer
from beacon.model.families import ising_grid
from tests.cli.helpers import run

WEATHER = beacon.GraphicalModel.from_tables(
    [2, 2, 2], [((0,), [0.0, -1.0]), ((1,), [0.0, -3.0]), ((0, 2), [0.0, -2.0, -2.0, 0.0])]
)


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    beacon.write_model(WEATHER, tmp_path / "weather.lg")
    return tmp_path / "weather.lg"


def test_alternatives_are_listed_with_what_differs(weather: Path) -> None:
    out = run("solve", weather, "--alternatives", 3).out
    assert "alternatives   exact; any two differ in at least 1 variable\n" in out
    assert "   1  0.000000  the answer\n   2  -1.000000  1 nats less: x0=1, x2=1\n" in out


def test_distant_alternatives(weather: Path) -> None:
    out = run("solve", weather, "--alternatives", 2, "--distance", 3).out
    assert "differ in at least 3 variables" in out
    assert "   2  -4.000000  4 nats less: x0=1, x1=1, x2=1\n" in out


def test_margins_are_listed_closest_first(weather: Path) -> None:
    out = run("solve", weather, "-e", "x0=0", "--margins").out
    assert "margins        exact; what the best other value" in out
    assert out.endswith("x2           2  1\nx1           3  1\n")


def test_a_supposition_is_told_with_its_price(weather: Path) -> None:
    out = run("solve", weather, "--suppose", "x2=1").out
    assert "supposed       x2=1: log score -1.000000, 1 nats less\n  x0  1\n  x2  1\n" in out


def test_the_probability_is_told(weather: Path) -> None:
    total = sum(math.exp(WEATHER.log_score([a, b, c])) for a in (0, 1) for b in (0, 1) for c in (0, 1))
    assert f"probability    {1 / total:.4g} without any evidence\n" in run("solve", weather).out
    assert "probability" not in run("solve", weather, "--method", "gls+").out


def test_json_has_all_of_it(weather: Path) -> None:
    asked = ("--alternatives", 2, "--margins", "--suppose", "x2=1", "--json")
    found = run("solve", weather, "-e", "x0=0", *asked).json
    assert [one["log_score"] for one in found["alternatives"]] == pytest.approx([0, -2])
    assert found["alternatives"][1]["changes"] == {"x2": "1"}
    assert found["alternatives_exact"]
    assert found["margins"] == {"x1": {"0": 0.0, "1": 3.0}, "x2": {"0": 0.0, "1": 2.0}}
    assert found["margins_exact"]
    assert found["supposed"]["loss"] == pytest.approx(2)
    assert found["supposed"]["changes"] == {"x2": "1"}
    assert 0 < found["probability"] < 1
    assert found["log_evidence"] is None


def test_what_is_searched_says_so(tmp_path: Path) -> None:
    beacon.write_model(ising_grid(30, 30), tmp_path / "grid.uai")
    out = run("solve", tmp_path / "grid.uai", "--steps", 500, "--alternatives", 2, "--margins").out
    assert "alternatives   by search: better ones may exist;" in out
    assert "margins        the least that was seen, and what is proved;" in out
    assert "that lose more; --all lists them, --json has every value" in out


def test_named_variables_alone_are_shown(weather: Path) -> None:
    assert run("solve", weather, "-e", "x1=1", "--show", "x2,x1").out.endswith("\n\nx2  0\nx1  1\n")
    assert run("solve", weather, "-e", "x1=1", "--show", "all").out.endswith("\n\nx0  0\nx1  1\nx2  0\n")
    assert run("solve", weather, "-e", "x1=1", "--show", "query").out.endswith("\n\nx0  0\nx2  0\n")


def test_what_the_evidence_changes_is_shown(weather: Path) -> None:
    out = run("solve", weather, "-e", "x0=1", "--show", "changed").out
    end = "1 other variable is what it would be without any evidence; --show query lists all\n"
    assert out.endswith(f"\n\nx2  1\n{end}")


def test_many_queries_show_named_variables_in_their_lines(weather: Path, tmp_path: Path) -> None:
    table = tmp_path / "days.csv"
    table.write_text("x0\n0\n1\n")
    lines = run("solve", weather, "--table", table, "--show", "x2").out.splitlines()
    assert [line[-6:] for line in lines] == [", x2=0", ", x2=1"]
    error = run("solve", weather, "--table", table, "--show", "query").error
    assert error == "--show query is for one query; for several, name variables (--show A,B) or use --json"


def test_of_many_queries_it_is_said_what_only_json_shows(weather: Path, tmp_path: Path) -> None:
    table = tmp_path / "days.csv"
    table.write_text("x0\n0\n1\n")
    asked = ("solve", weather, "--table", table, "--alternatives", 2, "--suppose", "x2=1", "--trace")
    said = "with several queries, only --json shows what --alternatives, --suppose, --trace asked for"
    assert run(*asked).err == f"beacon: {said}\n"
    assert run(*asked, "--quiet").err == run(*asked, "--json").err == ""
    assert run("solve", weather, "--table", table).err == ""


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("--show", "x7"), "no variable is called 'x7'; `beacon info MODEL --variables` lists them"),
        (("--show", "query,x0"), "--show takes query alone, or names of variables; found 'query,x0'"),
        (("--show", ","), "--show needs query, changed, all, or names of variables; found ','"),
        (("--suppose", "x1="), "variable 'x1' has no value ''; its values are 0, 1"),
        (("--alternatives", 0), "--alternatives must be at least 1; found 0"),
        (
            ("--distance", 2),
            "--distance is that of alternatives; ask for some of them, too (--alternatives K)",
        ),
    ],
)
def test_mistakes_are_one_line(weather: Path, options: tuple[object, ...], error: str) -> None:
    assert run("solve", weather, *options).error == error


def test_a_wcsp_answer_has_its_cost_in_the_units_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "pair.wcsp"
    file.write_text("pair 2 2 2 100\n2 2\n2 0 1 7 1\n0 0 12\n1 0 30 1\n0 5\n")
    said = run("solve", file).out
    assert "cost           12\n" in said
    assert "probability" not in said
    found = run("solve", file, "--json").json
    assert found["log_score"] == -12
    assert (found["cost"], found["cost_at_least"]) == (12, 12)


@pytest.mark.parametrize(("bound", "cost"), [("<100.0", 2.25), (">-100.0", 9.5)])
def test_a_cfn_answer_has_its_cost_in_the_units_of_the_file(tmp_path: Path, bound: str, cost: float) -> None:
    functions = """{"f": {"scope": ["a", "b"], "costs": [1.75, 3.5, 2.5, 4.25]},
                    "g": {"scope": ["b"], "costs": [0.5, 5.25]}}"""
    problem, variables = f'{{"name": "p", "mustbe": "{bound}"}}', '{"a": ["x", "y"], "b": ["u", "v"]}'
    file = tmp_path / "pair.cfn"
    file.write_text(f'{{"problem": {problem}, "variables": {variables}, "functions": {functions}}}')
    assert f"cost           {cost}\n" in run("solve", file).out
    found = run("solve", file, "--json").json
    assert abs(found["log_score"]) == cost
    assert (found["cost"], found["cost_at_most" if bound[0] == ">" else "cost_at_least"]) == (cost, cost)


def test_an_unproved_cost_comes_with_a_bound(tmp_path: Path) -> None:
    grid = tmp_path / "grid.cfn"
    beacon.write_model(ising_grid(40, 40), grid)
    found = run("solve", grid, "--steps", 2000, "--json").json
    assert not found["optimal"]
    assert found["cost_at_least"] < found["cost"] == pytest.approx(-found["log_score"])
    assert "(no assignment costs less than " in run("solve", grid, "--steps", 2000).out


def test_an_impossible_supposition_is_told_as_such(tmp_path: Path) -> None:
    model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -math.inf, -math.inf, 1.0])])
    beacon.write_model(model, tmp_path / "strict.uai")
    out = run("solve", tmp_path / "strict.uai", "-e", "x0=0", "--suppose", "x1=1").out
    assert out.endswith("supposed       x1=1: is impossible\n")


def test_what_ctrl_c_leaves_out_is_said_to_be(weather: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted = threading.Event()
    interrupted.set()
    monkeypatch.setattr(answer, "told_by_signals", lambda: nullcontext(interrupted))
    asked = ("--alternatives", 2, "--margins", "--suppose", "x2=1")
    out = run("solve", weather, "-e", "x0=0", "--method", "gls+", *asked).out
    names = ("supposed     ", "alternatives ", "margins      ")
    assert out.endswith("".join(f"\n{name}  not computed: interrupted\n" for name in names))
    assert "not computed" not in run("solve", weather, "--method", "gls+").out
