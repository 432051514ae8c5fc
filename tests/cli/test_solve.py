from __future__ import annotations

import json
import math
import os
import signal
from pathlib import Path

import pytest

from beacon.cli.answers import solution_paths
from beacon.formats import read_model, read_solution, write_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxRuntime, MaxSteps, StopSettings, TargetScore
from beacon.strategies.strategy import STRATEGIES
from tests.cli.helpers import run, run_process, start_process

FIELDS = {
    "log_score",
    "floored_log_score",
    "zero_factors",
    "assignment",
    "named_assignment",
    "steps",
    "seconds",
    "method",
    "seed",
    "stop",
}
NOTE = "Ctrl-C ends the search and keeps the best found"
WET = math.log(0.8 * 0.4 * 0.9)


def test_json_is_one_object_with_the_documented_fields(sprinkler: Path) -> None:
    outcome = run_process("solve", sprinkler, "-e", "grass=wet", "--steps", 500, "--json", "--seed", 3)
    result = outcome.json
    assert outcome.code == 0
    assert result.keys() >= FIELDS
    assert result["log_score"] == pytest.approx(WET)
    assert result["named_assignment"] == {"rain": "no", "sprinkler": "on", "grass": "wet"}
    assert result["assignment"] == [0, 1, 1]
    assert (result["method"], result["seed"], result["zero_factors"]) == ("auto", 3, 0)
    assert "trace" not in result


def test_people_read_a_summary_and_the_unobserved_variables_by_name(sprinkler: Path) -> None:
    outcome = run("solve", sprinkler, "-e", "grass=wet", "--steps", 500)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"log score      {WET:.6f}" in outcome.out
    assert outcome.out.endswith("\nrain       no\nsprinkler  on\n")
    assert "grass" not in outcome.out


def test_greedy_and_a_penalty_weight_can_be_chosen(sprinkler: Path) -> None:
    greedy = run("solve", sprinkler, "--method", "greedy", "--steps", 50, "--json").json
    heavy = run("solve", sprinkler, "--penalty-weight", 50, "--steps", 50, "--json").json
    assert (greedy["method"], heavy["method"]) == ("greedy", "auto")
    assert greedy["log_score"] == heavy["log_score"] == pytest.approx(math.log(0.8 * 0.6))


def test_the_help_names_every_strategy() -> None:
    text = run("solve", "--help").out.partition("--method")[2].partition("--penalty-weight")[0]
    assert all(name in text for name in STRATEGIES)


def test_zero_steps_return_the_start(sprinkler: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.MPE"
    start.write_text("MPE\n3 1 1 0\n")
    result = run("solve", sprinkler, "--method", "gls+", "--steps", 0, "--start", start, "--json").json
    assert (result["assignment"], result["steps"], result["stop"]) == ([1, 1, 0], 0, "steps")


def test_the_trace_shows_every_improvement(sprinkler: Path, tmp_path: Path) -> None:
    start = tmp_path / "start.MPE"
    start.write_text("MPE\n3 1 1 0\n")
    args = ("solve", sprinkler, "--steps", 100, "--start", start, "--trace")
    trace = run(*args, "--json").json["trace"]
    assert trace.keys() == {"steps", "seconds", "scores", "zero_factors"}
    assert trace["steps"][0] == 0
    assert trace["scores"] == sorted(trace["scores"])
    assert f"{trace['scores'][-1]:.6f}" in run(*args).out


def test_a_score_that_is_good_enough_ends_the_search(sprinkler: Path) -> None:
    result = run("solve", sprinkler, "-e", "grass=wet", "--method", "gls+", "--target", "-5", "--json").json
    assert result["stop"] == "target"
    assert run("solve", sprinkler, "--no-improvement", 1, "--json").json["steps"] < 100


def test_a_proof_is_said_and_written(sprinkler: Path) -> None:
    asked = ("solve", sprinkler, "-e", "grass=wet")
    assert "certainty      optimal, proved by elimination in " in run(*asked).out
    result = run(*asked, "--json").json
    assert (result["optimal"], result["proof"], result["gap"]) == (True, "elimination", 0)
    assert result["upper_bound"] == pytest.approx(result["log_score"]) == pytest.approx(WET)
    assert result["total_seconds"] >= result["seconds"]
    searched = run(*asked, "--method", "gls+", "--steps", 5, "--json").json
    assert (searched["optimal"], searched["proof"], searched["gap"]) == (False, None, None)


def test_a_gap_ends_the_search(tmp_path: Path) -> None:
    run("generate", "grid", "-o", tmp_path / "grid.uai", "--set", "rows=40", "--set", "columns=40")
    asked = ("solve", tmp_path / "grid.uai", "--steps", 10**6, "--gap", 3000)
    result = run(*asked, "--json").json
    assert (result["stop"], result["optimal"]) == ("gap", False)
    assert result["upper_bound"] - result["log_score"] == pytest.approx(result["gap"])
    assert result["gap"] <= 3000
    assert "nats) below the optimum" in run(*asked).out


def test_impossible_evidence_is_said_to_be_proved(sprinkler: Path) -> None:
    evidence = ("-e", "rain=no", "-e", "sprinkler=off", "-e", "grass=wet")
    assert run("solve", sprinkler, *evidence, "--steps", 10).out.startswith(
        "evidence       proved impossible"
    )
    assert run("solve", sprinkler, *evidence, "--steps", 10, "--json").json["impossible"] is True


def test_impossible_evidence_is_a_warning_and_still_searched(sprinkler: Path) -> None:
    evidence = ("-e", "rain=no", "-e", "sprinkler=off", "-e", "grass=wet")
    outcome = run("solve", sprinkler, *evidence, "--steps", 10, "--json")
    assert outcome.code == 0
    assert outcome.err.startswith("beacon: warning: the evidence has probability zero: factor 2 is zero for ")
    assert (outcome.json["log_score"], outcome.json["zero_factors"]) == (None, 1)
    assert run("solve", sprinkler, *evidence, "--steps", 10, "--json", "--quiet").err == ""


def test_many_queries_come_from_files_and_tables_in_their_order(sprinkler: Path, tmp_path: Path) -> None:
    one, two, table = (tmp_path / name for name in ("one.evid", "two.evid", "all.csv"))
    one.write_text("1 0 1\n")
    two.write_text("2\n1 2 1\n0\n")
    table.write_text("rain,grass\nno,wet\nyes,\n")
    args = (
        "solve",
        sprinkler,
        "--evid",
        one,
        "--evid",
        two,
        "--table",
        table,
        "--steps",
        300,
        "--threads",
        2,
    )
    results = run(*args, "--json").json["results"]
    rains = [result["named_assignment"]["rain"] for result in results]
    assert rains == ["yes", "no", "no", "no", "yes"]
    lines = run(*args).out.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith(f"1: log score {WET:.6f}, 0 zero factors, ")


def test_impossible_queries_among_many_are_named(sprinkler: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("rain,sprinkler,grass\nno,on,wet\nno,off,wet\n")
    outcome = run("solve", sprinkler, "--table", table, "--steps", 10)
    assert outcome.err.startswith("beacon: warning: query 1: the evidence has probability zero")
    assert "1: log score -inf, 1 zero factor," in outcome.out


def test_solutions_are_written_one_file_per_query(sprinkler: Path, tmp_path: Path) -> None:
    model, evidence, folder = read_model(sprinkler), tmp_path / "two.evid", tmp_path / "answers"
    evidence.write_text("2\n1 0 1\n1 0 0\n")
    folder.mkdir()
    assert run("solve", sprinkler, "-e", "rain=yes", "--steps", 50, "-o", tmp_path / "a.MPE").code == 0
    assert read_solution(tmp_path / "a.MPE", model)[0] == 1
    for out, names in (
        (tmp_path / "b.MPE", ["b.0.MPE", "b.1.MPE"]),
        (folder, ["answers/0.MPE", "answers/1.MPE"]),
    ):
        assert run("solve", sprinkler, "--evid", evidence, "--steps", 50, "-o", out).code == 0
        assert [read_solution(tmp_path / name, model)[0] for name in names] == [1, 0]


def test_a_folder_of_solutions_is_made(sprinkler: Path, tmp_path: Path) -> None:
    evidence = tmp_path / "two.evid"
    evidence.write_text("2\n1 0 1\n1 0 0\n")
    asked = ("solve", sprinkler, "--evid", evidence, "--steps", 50, "-o")
    assert run(*asked, f"{tmp_path}/answers/").code == 0
    assert sorted(path.name for path in (tmp_path / "answers").iterdir()) == ["0.MPE", "1.MPE"]
    file = f"{tmp_path}/two.evid"
    assert run(*asked, f"{file}/").error == f"cannot write {file}: it is a file, and a folder is needed"


def test_numbers_go_before_the_suffix_of_a_solution_file() -> None:
    names = {"a.b.MPE": "a.b.1.MPE", "a.MPE.gz": "a.1.MPE.gz", "a": "a.1"}
    assert {out: solution_paths(out, 2)[1].name for out in names} == names
    assert [path.name for path in solution_paths("a.MPE", 1)] == ["a.MPE"]


def test_long_answers_are_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    model = tmp_path / "g.uai"
    assert run("generate", "grid", "-o", model, "--set", "rows=10", "--set", "columns=10").code == 0
    short = run("solve", model, "--steps", 100).out
    assert short.endswith(
        "… and 60 more; --show query lists them, --show A,B chooses some, --json and -o keep them\n"
    )
    assert len(run("solve", model, "--steps", 100, "--all").out.splitlines()) == len(short.splitlines()) + 59


def test_a_cut_answer_shows_what_differs_from_the_commonest_value(tmp_path: Path) -> None:
    tables = [((i,), [0.0, 1.0] if i in (7, 50) else [1.0, 0.0]) for i in range(60)]
    write_model(GraphicalModel.from_tables([2] * 60, tables), tmp_path / "m.uai")
    lines = run("solve", tmp_path / "m.uai", "--steps", 100).out.splitlines()
    rest = "; --show query lists them, --show A,B chooses some, --json and -o keep them"
    assert lines[-3:] == ["x7   1", "x50  1", f"… and 58 more have the value 0{rest}"]
    alike = run("solve", tmp_path / "m.uai", "-e", "7=1", "-e", "50=1", "--steps", 100).out.splitlines()
    assert alike[-2:] == ["", f"all 58 variables have the value 0{rest}"]


def test_propagation_is_on_unless_switched_off(sprinkler: Path) -> None:
    evidence = (
        "-e",
        "grass=wet",
        "-e",
        "sprinkler=off",
        "--steps",
        50,
        "--json",
        "--method",
        "gls+",
    )  # so it rained
    implied = run("solve", sprinkler, *evidence).json
    searched = run("solve", sprinkler, *evidence, "--no-propagate").json
    assert implied["assignment"] == searched["assignment"] == [1, 0, 1]
    assert implied["stop"] == "nothing to search"
    assert searched["stop"] != "nothing to search"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-e", "snow=yes"], 1, "no variable is called 'snow'"),
        (["-e", "rain=maybe"], 1, "variable 'rain' has no value 'maybe'; its values are no, yes"),
        (["-e", "rain"], 2, "expected evidence as VARIABLE=VALUE, found 'rain'"),
        (["-e", "rain=yes", "-e", "rain=no"], 1, "observed twice with different values"),
        (["--evid", "missing.evid"], 1, "cannot read missing.evid"),
        (["--table", "missing.csv"], 1, "cannot read missing.csv"),
        (["--evid", "missing.evid", "-e", "rain=no"], 2, "not both"),
        (["--time", "-1"], 2, "--time must be 0 or more; found -1"),
        (["--time", "nan"], 2, "--time must be 0 or more; found nan"),
        (["--time", "inf"], 2, "a time of inf would never end"),
        (["--steps", "-1"], 2, "--steps must be 0 or more; found -1"),
        (["--no-improvement", "0"], 2, "--no-improvement must be 1 or more; found 0"),
        (["--target", "nan"], 2, "--target must be a number; found nan"),
        (["--gap", "inf"], 2, "--gap must be a finite number of nats; found inf"),
        (["--steps", "9" * 20], 2, f"--steps must be 0 or more, at most {2**63 - 1}; found {'9' * 20}"),
        (["--seed", 2**63], 2, f"seed must be a whole number from 0 to {2**63 - 1}; found {2**63}"),
        (["--threads", "0"], 2, "--threads must be at least 1; found 0"),
        (["--method", "tabu"], 2, "no strategy is called 'tabu'; there are: "),
        (["--penalty-weight", "-1"], 2, "penalty_weight must be a positive number; found -1"),
        (["--method", "greedy", "--penalty-weight", "1"], 2, "a penalty weight belongs to auto or gls+"),
        (["--log-zero", "0"], 1, "log_zero must be at least -1e+15 and below the lowest log-potential"),
        (["--start", "missing.MPE"], 1, "cannot read missing.MPE"),
        (
            ["--start", "start.MPE", "-e", "rain=no"],
            1,
            "the start contradicts the evidence: 'rain' is observed",
        ),
        (["-o", "nowhere/a.MPE"], 1, "cannot write nowhere/a.MPE: there is no directory nowhere"),
    ],
)
def test_wrong_requests_are_one_line(
    options: list[str], code: int, message: str, sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sprinkler.parent)
    Path("start.MPE").write_text("MPE\n3 1 1 0\n")
    outcome = run("solve", sprinkler, *options)
    assert outcome.code == code
    assert message in outcome.error


def test_a_second_is_the_limit_where_nothing_else_ends_the_search() -> None:
    assert StopSettings().stop == MaxRuntime(1)
    assert StopSettings(target=-3.0).stop == MaxRuntime(1) | TargetScore(-3)
    assert StopSettings(steps=10).stop == MaxSteps(10)


def test_ctrl_c_keeps_the_best_found_so_far(sprinkler: Path) -> None:
    with start_process(
        "solve", sprinkler, "-e", "grass=wet", "--time", 100, "--json", "--method", "gls+"
    ) as process:
        assert process.stderr is not None
        assert any(NOTE in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    result = json.loads(out)
    assert (result["stop"], result["log_score"]) == ("interrupted", pytest.approx(WET))


@pytest.mark.parametrize("second", [None, signal.SIGTERM, signal.SIGINT])
def test_sigterm_keeps_the_best_found_so_far_and_a_second_signal_loses_nothing(
    sprinkler: Path, second: signal.Signals | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(sprinkler.parent)
    command = ["solve", sprinkler, "-e", "grass=wet", "--time", 100, "--method", "gls+", "-o", "a.MPE"]
    with start_process(*command) as process:
        assert process.stderr is not None
        assert any(NOTE in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        if second is not None:
            process.send_signal(second)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "stopped by: interrupted" in out
    model = read_model(sprinkler)
    assert model.log_score(read_solution("a.MPE", model)) == pytest.approx(WET)


def test_ctrl_c_while_importing_is_no_traceback(sprinkler: Path) -> None:
    code = "import signal; signal.raise_signal(signal.SIGINT)"
    (sprinkler.parent / "typer.py").write_text(code)  # what is imported first takes its time
    paths = os.pathsep.join([str(sprinkler.parent), os.environ.get("PYTHONPATH", "")])
    outcome = run_process("solve", sprinkler, env={**os.environ, "PYTHONPATH": paths})
    assert outcome == (130, "", "beacon: interrupted\n")


def test_a_published_model_with_published_evidence_is_solved(benchmark_files: Path) -> None:
    model, evidence = benchmark_files / "paper/BN_30.uai.xz", benchmark_files / "evid/BN_30.uai.evid"
    result = run("solve", model, "--evid", evidence, "--steps", 20_000, "--json").json
    assert len(result["assignment"]) == 1156
    assert result["floored_log_score"] > -200
