from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from beacon.evaluation.records import record_store
from beacon.evaluation.run_file import load_run
from beacon.formats import write_model
from beacon.io.work_folder import folder_lock
from beacon.model.families import ising_grid, pedigree, weighted_coloring
from tests.cli.helpers import run
from tests.evaluation.helpers import repeatable

SUITE = """\
title = "Toy"
[[network]]
name = "grid"
short_name = "G4"
file = "grid.uai"
variables = 16
[[network]]
name = "family"
file = "family.uai"
variables = 99
[[network]]
name = "map"
file = "map.uai"
[[network]]
name = "lost"
file = "lost.uai"
source = "somewhere@0:lost.uai"
"""
SMALL = ["--count", 4, "--steps", "5,40"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three small models, and one that is not there."""
    folder = tmp_path_factory.mktemp("suite")
    write_model(ising_grid(rows=4, columns=4, seed=1), folder / "grid.uai")
    write_model(pedigree(num_founders=3, num_children=3, num_loci=1, seed=2), folder / "family.uai")
    write_model(weighted_coloring(num_vertices=12, seed=3), folder / "map.uai")
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")
    return folder / "suite.toml"


def rows_of(folder: Path) -> list[dict[str, object]]:
    return [repeatable(row) for row in record_store(folder).rows()]


def test_a_suite_is_run_reported_and_says_what_is_missing(suite: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    outcome = run("evaluate", "--suite", suite, "-o", folder, *SMALL, "--seconds", "0.002", "--seeds", 2)
    assert outcome.code == 0, outcome.err
    assert "3 networks, 1 missing (lost), 4 methods, " in outcome.out
    assert "warning: lost: no file lost.uai" in outcome.err
    assert "to be had from somewhere@0:lost.uai" in outcome.err
    assert "expected 99 variables, found" in outcome.err
    assert len(rows_of(folder)) == 3 * 4 * 2 * 4
    facts = load_run(folder)
    assert list(facts["networks"]) == ["grid", "family", "map"]
    assert facts["settings"]["seeds"] == [0, 1]
    report = run("report", folder)
    assert report.code == 0, report.err
    assert f"wrote {folder / 'report.html'}; tables/ and plots/ beside it" in report.out.replace("\n", " ")
    assert "G4" in report.out
    assert (folder / "report.html").stat().st_size > 50_000
    for section in ("wins", "improvement", "anytime", "wall-clock", "queries"):
        assert f'<section id="{section}">' in (folder / "report.html").read_text(encoding="utf-8")


def test_one_model_with_its_queries(suite: Path, tmp_path: Path) -> None:
    model, queries = suite.parent / "grid.uai", tmp_path / "q.parquet"
    assert run("queries", model, "-o", queries, "--count", 40).code == 0
    outcome = run(
        "evaluate", model, queries, "-o", tmp_path / "run", "--methods", "gls+", "--steps", "5", "--limit", 3
    )
    assert outcome.code == 0, outcome.err
    assert [(row["network"], row["query"]) for row in rows_of(tmp_path / "run")] == [
        ("grid", query) for query in range(3)
    ]


def test_an_evaluation_can_grow(suite: Path, tmp_path: Path) -> None:
    common = ["evaluate", suite.parent / "grid.uai", "-o", tmp_path, *SMALL]
    assert "8 new runs" in run(*common, "--methods", "greedy,gls+").out
    assert "0 new runs" in run(*common, "--methods", "greedy,gls+").out
    assert "4 new runs" in run(*common, "--methods", "auto").out
    assert "8 new runs" in run(*common, "--methods", "greedy,gls+", "--seeds", 2).out
    assert len(rows_of(tmp_path)) == 20


def test_the_methods_that_are_reported_are_those_of_the_call(suite: Path, tmp_path: Path) -> None:
    common = ["evaluate", suite.parent / "grid.uai", "-o", tmp_path, *SMALL]
    assert ", 2 methods, 8 new runs" in run(*common, "--methods", "greedy,gls+").out
    assert ", 1 method, 0 new runs" in run(*common, "--methods", "gls+").out
    facts = run(*common, "--methods", "gls+", "--json").json
    assert (facts["methods"], facts["runs"]) == (["gls+"], 0)


IMPATIENT = "import beacon.io.row_store as s; s.FLUSH_SECONDS = 0; from beacon.cli import main; main()"


def test_killed_at_any_time_it_goes_on_to_the_same_results(suite: Path, tmp_path: Path) -> None:
    command = ["evaluate", "--suite", suite, "--count", 20, "--steps", "50,2000", "--threads", 1, "-q"]
    whole = run(*command, "-o", tmp_path / "whole")
    assert whole.code == 0, whole.err
    folder, kept = tmp_path / "killed", [0]
    for more in (0, 1, 60):  # kill it before the first result, after the next one, and deep in the work
        arguments = [sys.executable, "-c", IMPATIENT, *map(str, command), "-o", str(folder)]
        with subprocess.Popen(arguments, stderr=subprocess.DEVNULL) as process:
            wait_for_parts(folder, kept[-1] + more)
            process.kill()
        kept.append(len(record_store(folder).keys()))
    assert kept == sorted(kept), "a kill has lost results"
    assert 60 < kept[-1] < 240, "the last kill came too early or too late to tell anything"
    assert run(*command, "-o", folder).code == 0
    assert rows_of(folder) == rows_of(tmp_path / "whole")
    assert not (folder / "parts").exists()


def wait_for_parts(folder: Path, count: int) -> None:
    for _ in range(6000):
        if (folder / "run.json").exists() and len([*folder.glob("parts/*.parquet")]) >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"{folder} never had {count} parts")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "expected either a MODEL or --suite FILE.toml; found neither"),
        (["MODEL", "--suite", "SUITE"], 2, "found both"),
        (["MODEL", "--only", "grid"], 2, "--data and --only belong to --suite"),
        (["MODEL", "--methods", "glsplus"], 2, "no method is called 'glsplus'; "),
        (["MODEL", "--methods", "greedy,greedy"], 2, "method 'greedy' is listed twice"),
        (["MODEL", "--methods", ""], 2, "no method to measure"),
        (["MODEL", "--methods", "beacon-gls+"], 2, "beacon-gls+ needs a guide; give its folder"),
        (
            ["MODEL", "--steps", "ten"],
            2,
            "--steps must be whole numbers with commas between them; found 'ten'",
        ),
        (["MODEL", "--seconds", "0"], 2, "budgets in seconds must be positive numbers"),
        (["MODEL", "--seeds", "0"], 2, "--seeds must be a whole number from 1 to 1000000; found 0"),
        (["MODEL", "--lambdas", "0.5", "--methods", "greedy"], 2, "lambdas are weights of beacon-greedy and"),
        (["MODEL", "MODEL", "--count", "7"], 2, "--count is for sampled queries; to take only the first N"),
        (["MODEL", "MODEL"], 1, "expected a Parquet file with queries"),
        (["missing.uai"], 1, "missing.uai"),
        (["--suite", "SUITE", "--data", "nowhere"], 1, "cannot read nowhere: no such folder"),
        (["--suite", "SUITE", "--only", "nets"], 2, "has no network 'nets'; it has: grid, family, map, lost"),
        (["--suite", "SUITE", "--only", "lost"], 1, "none of the suite's 1 networks is in"),
    ],
)
def test_wrong_requests_are_one_line(
    *,
    options: list[str],
    code: int,
    message: str,
    suite: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {"MODEL": str(suite.parent / "grid.uai"), "SUITE": str(suite)}
    outcome = run("evaluate", *(named.get(option, option) for option in options), "-o", "run")
    assert outcome.code == code
    assert message in outcome.error


def test_a_folder_of_another_evaluation_is_refused(suite: Path, tmp_path: Path) -> None:
    model = suite.parent / "grid.uai"
    assert run("evaluate", model, "-o", tmp_path, *SMALL, "--methods", "greedy").code == 0
    outcome = run("evaluate", model, "-o", tmp_path, "--count", 4, "--steps", "7", "--methods", "greedy")
    assert outcome.code == 2
    assert "holds an evaluation with other settings: steps was [5, 40], now [7]" in outcome.error
    other = tmp_path / "other" / "grid.uai"
    other.parent.mkdir()
    write_model(ising_grid(rows=3, columns=3), other)
    outcome = run("evaluate", other, "-o", tmp_path, *SMALL, "--methods", "greedy")
    assert outcome.code == 1
    assert "these queries are for another model" in outcome.error


def test_two_processes_do_not_share_a_folder(suite: Path, tmp_path: Path) -> None:
    with folder_lock(tmp_path):
        outcome = run("evaluate", suite.parent / "grid.uai", "-o", tmp_path, *SMALL)
    assert outcome.code == 1
    assert f"{tmp_path} is being worked on" in outcome.error


def test_a_report_needs_an_evaluation(tmp_path: Path) -> None:
    assert "no such folder" in run("report", tmp_path / "nothing").error
    assert "holds no evaluation (run.json is missing)" in run("report", tmp_path).error
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    assert "expected the record of an evaluation" in run("report", tmp_path).error


def test_a_report_without_results_says_so(suite: Path, tmp_path: Path) -> None:
    assert run("evaluate", suite.parent / "grid.uai", "-o", tmp_path, *SMALL, "--methods", "greedy").code == 0
    (tmp_path / "evaluation.parquet").unlink()
    assert "holds no results yet; finish it with `beacon evaluate`" in run("report", tmp_path).error


def test_a_report_takes_names_from_a_suite_and_writes_where_told(suite: Path, tmp_path: Path) -> None:
    assert run("evaluate", suite.parent / "grid.uai", "-o", tmp_path, *SMALL).code == 0
    page = tmp_path / "page.html"
    outcome = run("report", tmp_path, "-o", page, "--no-parts", "--suite", suite, "--title", "Mine", "--all")
    assert outcome.code == 0, outcome.err
    assert "G4" in outcome.out
    assert "<h1>Mine</h1>" in page.read_text(encoding="utf-8")
    assert not (tmp_path / "tables").exists()


def test_json_of_an_evaluation_and_its_report(sprinkler: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = ("evaluate", sprinkler, "-o", folder, "--methods", "greedy,gls+", "--count", 3, "--steps", 5)
    facts = run(*command, "--json", "-q").json
    assert (facts["networks"], facts["methods"], facts["runs"]) == (["sprinkler"], ["greedy", "gls+"], 6)
    report = run("report", folder, "--json", "--no-parts", "-q").json
    assert report["page"] == str(folder / "report.html")
    overview = next(iter(report["tables"].values()))
    assert all(len(row) == len(overview["columns"]) for row in overview["rows"])


def test_a_split_that_does_not_exist_is_refused(sprinkler: Path, tmp_path: Path) -> None:
    outcome = run("evaluate", sprinkler, "-o", tmp_path / "run", "--split", "x")
    assert (outcome.code, outcome.error) == (2, "--split must be train, validation or test; found 'x'")


def test_a_method_of_the_working_directory_and_queries_of_a_csv_table(
    sprinkler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_method_here.py").write_text(
        "from dataclasses import dataclass\nfrom beacon import Greedy\n\n\n"
        "@dataclass(frozen=True)\nclass Own(Greedy):\n    name = 'own'\n"
    )
    (tmp_path / "own.csv").write_text("grass\n" + "wet\ndry\n?\n" * 4)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    methods = ["--methods", "gls+,own_method_here:Own", "--steps", "10", "--split", "train"]
    facts = run("evaluate", sprinkler, "own.csv", "-o", tmp_path / "run", *methods, "--json", "--quiet").json
    assert facts["methods"] == ["gls+", "own"]
    assert facts["runs"] > 0
