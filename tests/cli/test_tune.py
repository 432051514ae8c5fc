"""``beacon tune``: what it says, what it stores in the guide, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table

from beacon.cli.console import say_drawn
from beacon.errors import FormatError, ModelError
from beacon.formats import read_model, write_model
from beacon.guide.checkpoint import load_guide
from beacon.guide.fast_guide import FastGuide
from beacon.guide.trivial import ProfileGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.query.query_set import sample_queries
from beacon.runner.runner import Runner
from beacon.runner.stop import MaxSteps
from beacon.solver import default_strategy, solve, tuned_use
from beacon.strategies.auto.profile import Profile
from tests.cli.helpers import Outcome, run
from tests.guide.helpers import random_weights

SMALL = ("--steps", "5,20", "--queries", 8)


class Files:
    """A model with queries and a guide in a folder."""

    def __init__(self, folder: Path) -> None:
        self.model_file, self.queries, self.guide = (
            folder / "grid.uai",
            folder / "q.parquet",
            folder / "guide",
        )
        write_model(ising_grid(5, 5, seed=2), self.model_file)
        self.model = read_model(self.model_file)
        sample_queries(self.model, 20, splits=(0.1, 0.8, 0.1)).save(self.queries)
        FastGuide(self.model, random_weights(self.model)).save(self.guide)

    def tune(self, *options: object) -> Outcome:
        return run("tune", self.model_file, self.queries, self.guide, *options)

    @property
    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads((self.guide / "guide.json").read_text(encoding="utf-8"))
        return facts


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_the_outcome_is_shown_and_used_from_then_on(files: Files) -> None:
    outcome = files.tune(*SMALL)
    assert (outcome.code, outcome.err) == (0, "")
    tuned = files.facts["tuned"]
    best = tuned["table"][0]["trial"]
    assert f"{files.guide} is now used so: {best}." in outcome.out
    guide = load_guide(files.guide, files.model)
    assert tuned_use(guide) == GuideUse.from_dict(tuned["use"])
    solved = run("solve", files.model_file, "--guide", files.guide, "--steps", 10, "--json").json
    assert solved["method"] == default_strategy(guide, tuned_use(guide)) == tuned["strategy"]


SIX_MARKS = ("--steps", "1,2,5,10,20,50", "--queries", 2)


def scores_of(table: list[dict[str, Any]]) -> set[str]:
    return {f"{score:.3f}" for row in table for score in row["scores"]}


def test_a_table_that_is_no_terminals_is_as_wide_as_it_takes(files: Files) -> None:
    shown = files.tune(*SIX_MARKS).out.splitlines()
    for row in files.facts["tuned"]["table"]:
        (line,) = [line for line in shown if line.startswith(f"│ {row['trial']} ")]
        assert all(score in line for score in scores_of([row]))
    assert not [line for line in shown if "…" in line]


def test_numbers_are_whole_and_names_on_one_line_on_a_narrow_terminal(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_model(
        ising_grid(5, 5, seed=2).scaled(20.0), files.model_file
    )  # scores of four digits and three more
    files.model = read_model(files.model_file)
    sample_queries(files.model, 20, splits=(0.1, 0.8, 0.1)).save(files.queries)
    FastGuide(files.model, random_weights(files.model)).save(files.guide)
    monkeypatch.setattr("beacon.cli.tune.line_width", lambda: 80)
    monkeypatch.setattr("beacon.cli.console.line_width", lambda: 80)
    shown = files.tune(*SIX_MARKS).out
    table = files.facts["tuned"]["table"]
    assert all(score in shown.split() for score in scores_of(table))
    listed = [line.split(maxsplit=1) for line in shown.splitlines()[: len(table)]]
    assert listed == [[str(k), row["trial"]] for k, row in enumerate(table, 1)]
    assert max(map(len, shown.splitlines()[:-1])) <= 80


@pytest.mark.parametrize("width", [10, 45, 60, 100])
def test_no_number_of_a_table_is_cut_to_fit_a_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("beacon.cli.console.line_width", lambda: width)
    table = Table("method", "a score", "another score", "rank")
    row = ("a few words and some more", "-123456789.123456789", "-1.25", "12.5")
    table.add_row(*row)
    say_drawn(table)
    shown = capsys.readouterr().out.split()
    assert all(word in shown for cell in row for word in cell.split())


def test_json_is_what_the_guide_keeps_and_the_same_every_time(files: Files) -> None:
    outcome = files.tune(*SMALL, "--json", "--seed", 3)
    assert outcome.err == ""
    assert outcome.json.keys() == {"strategy", "use", "marks", "table"}
    assert outcome.json == files.facts["tuned"]
    assert outcome.json["marks"] == {"steps": [5, 20]}
    assert all(row.keys() == {"trial", "queries", "rank", "ahead", "scores"} for row in outcome.json["table"])
    assert max(row["queries"] for row in outcome.json["table"]) == 8
    assert files.tune(*SMALL, "--json", "--seed", 3).json == outcome.json


def test_only_the_tuned_settings_change(files: Files) -> None:
    before = files.facts
    weights = (files.guide / "guide.safetensors").read_bytes()
    assert files.tune(*SMALL, "--quiet").code == 0
    assert {**files.facts, "tuned": {}} == before
    assert (files.guide / "guide.safetensors").read_bytes() == weights


def test_times_may_be_compared_too(files: Files) -> None:
    outcome = files.tune("--seconds", "0.0005,0.001", "--queries", 1, "--json")
    assert outcome.json["marks"] == {"seconds": [0.0005, 0.001]}
    assert files.facts["tuned"] == outcome.json


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seconds", "1", "--steps", "5"], "tuning compares at seconds or at steps; give one of the two"),
        (["--seconds", "soon"], "--seconds must be numbers with commas between them; found 'soon'"),
        (["--steps", "2.5"], "--steps must be whole numbers with commas between them; found '2.5'"),
        (["--steps", "10,0"], "tuning compares at positive numbers of seconds or steps; found 0"),
        (["--seconds", "nan"], "tuning compares at positive numbers of seconds or steps; found nan"),
        (["--limit", "0"], "tuning needs at least 1 query; found 0"),
    ],
)
def test_wrong_use_is_one_line(files: Files, options: list[str], message: str) -> None:
    outcome = files.tune(*options)
    assert outcome.code == 2
    assert message in outcome.error


def test_a_guide_of_another_model_is_refused(files: Files) -> None:
    other = ising_grid(5, 5, seed=9)
    FastGuide(other, random_weights(other)).save(files.guide)
    outcome = files.tune(*SMALL)
    assert (outcome.code, "this guide is for another model" in outcome.error) == (1, True)
    assert files.facts["tuned"] == {}


def test_queries_of_another_model_are_refused(files: Files) -> None:
    sample_queries(ising_grid(5, 5, seed=9), 10).save(files.queries)
    outcome = files.tune(*SMALL)
    assert (outcome.code, "these queries are for another model" in outcome.error) == (1, True)


def test_validation_queries_are_asked_for(files: Files) -> None:
    sample_queries(files.model, 4, splits=(0.5, 0.0, 0.5)).save(files.queries)
    outcome = files.tune(*SMALL)
    assert outcome.code == 2
    assert outcome.error == "tuning needs validation queries; found none among 4: sample more"


def test_ctrl_c_leaves_the_guide_as_it_was(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "run", interrupted)
    outcome = files.tune(*SMALL)
    assert (outcome.code, outcome.err) == (130, "beacon: interrupted\n")
    assert files.facts["tuned"] == {}


# Without a guide: a profile.


def tuned_profile(files: Files, tmp_path: Path, *options: object) -> tuple[Outcome, Path]:
    out = tmp_path / "grid.profile"
    return run("tune", files.model_file, files.queries, "-o", out, *SMALL, *options), out


def test_without_a_guide_a_profile_is_made_and_used(files: Files, tmp_path: Path) -> None:
    outcome, out = tuned_profile(files, tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert [path.name for path in out.iterdir()] == ["guide.json"]
    tuned = json.loads((out / "guide.json").read_text(encoding="utf-8"))["tuned"]
    assert tuned["table"][0]["trial"] in outcome.out
    guide = load_guide(out, files.model)
    strategy = default_strategy(guide, tuned_use(guide))
    assert strategy == Profile.from_dict(tuned["profile"]).strategy()
    solved = run("solve", files.model_file, "--guide", out, "--steps", 10, "--json").json
    assert solved["method"] == "auto"


def test_a_profile_decides_how_a_model_is_searched(files: Files, tmp_path: Path) -> None:
    tuned = {"strategy": "auto", "use": {"start": "random"}, "profile": {"first": "tree", "start": "random"}}
    ProfileGuide(files.model, tuned).save(tmp_path / "p")
    grid = ising_grid(20, 20)
    ProfileGuide(grid, tuned).save(tmp_path / "large")
    stop = MaxSteps(300)
    found = solve(grid, guide=tmp_path / "large", stop=stop)
    assert (
        found.trace.scores.tolist()
        == solve(
            grid, strategy=Profile(first="tree", start="random").strategy(), stop=stop
        ).trace.scores.tolist()
    )
    assert found.trace.scores.tolist() != solve(grid, stop=stop).trace.scores.tolist()


def test_a_profile_of_another_model_is_refused(files: Files, tmp_path: Path) -> None:
    _, out = tuned_profile(files, tmp_path)
    with pytest.raises(ModelError, match="this guide is for another model"):
        load_guide(out, ising_grid(5, 5, seed=3))


def test_a_guide_or_a_profile_is_tuned_not_both(files: Files, tmp_path: Path) -> None:
    expected = "tuning needs a guide, or --out PROFILE to make a profile; give one of the two"
    assert expected in files.tune("-o", tmp_path / "p").err
    assert expected in run("tune", files.model_file, files.queries).err


def test_an_attention_guide_without_its_weights_is_no_profile(files: Files) -> None:
    (files.guide / "guide.safetensors").unlink()
    with pytest.raises(FormatError, match=r"expected a guide.*found no guide\.safetensors"):
        load_guide(files.guide, files.model)
