"""``beacon uai``: the competitions' command line, limits and answers, and an answer whenever it is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from beacon.cli import competition, ending, exit_code, interrupted_by_signals, told_by_signals
from beacon.cli.competition import AnswerFile, Quality, quality_of, simple_answer
from beacon.cli.ending import Deadline, memory_limit
from beacon.errors import BeaconError
from beacon.formats import read_model, read_solution, write_model
from beacon.model.families import FAMILIES
from beacon.peers.peer import BruteForce
from beacon.runner.stop import MaxRuntime
from tests.cli.helpers import run, start_process

AS_IT_IS = ending.seconds_since_start
LIMITS = ("INF_TIME", "INF_MEMORY", "INF_SEED", "TIMESEC", "MEMKB")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        "beacon.cli.ending.seconds_since_start", lambda: 0.0
    )  # the time of other tests is not ours
    Path("nothing").touch()


def written(name: str, text: str) -> Path:
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def test_the_answer_lies_in_the_working_directory_under_the_models_name(sprinkler: Path) -> None:
    folder = Path("nets")
    folder.mkdir()
    model = sprinkler.rename(folder / "sprinkler.bif")
    outcome = run("uai", model, written("wet.evid", "1 2 1\n"), "nothing", "MPE", "--time", 1)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("wrote sprinkler.bif.MPE: log score -1.244795, 0 zero factors, ")
    assert Path("sprinkler.bif.MPE").read_text(encoding="utf-8") == "MPE\n3 0 1 1\n"


def test_limits_come_from_the_environment(equal_pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(LIMITS, ("0.5", "4", "7", "x", "x"), strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMKB", "")  # INF_MEMORY and INF_TIME come first, the others are not looked at
    outcome = run("uai", equal_pair, "-", "nothing", "MPE", "--json")
    assert outcome.json["seed"] == 7
    assert outcome.json["log_score"] == pytest.approx(np.log(3))


def test_limits_of_2022_are_understood(equal_pair: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMESEC", "0.5")
    monkeypatch.setenv("MEMKB", "8000000")
    outcome = run("uai", equal_pair, "-", "nothing", "MPE", "-o", "result", "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert Path("result").read_text(encoding="utf-8") == "MPE\n2 1 1\n"


@pytest.mark.parametrize(
    ("name", "value"), [("INF_TIME", "abc"), ("TIMESEC", "-3"), ("MEMKB", "nan"), ("INF_SEED", "1.5")]
)
def test_limits_that_are_no_numbers_are_named(
    name: str, value: str, equal_pair: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    outcome = run("uai", equal_pair, "-", "nothing", "MPE")
    assert outcome.code == 2
    assert f"the environment variable {name} must be a " in outcome.error
    assert outcome.error.endswith(f"of at least 0; found {value!r}")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("MAP", "expected the task MPE, found 'MAP'; give MPE for the best values of all variables"),
        ("MMAP", "expected the task MPE; 'MMAP' is another task, which Beacon does not solve"),
        ("PR", "expected the task MPE; 'PR' is another task, which Beacon does not solve"),
        ("best", "expected the task MPE; 'best' is no task"),
    ],
)
def test_other_tasks_are_refused(task: str, message: str, equal_pair: Path) -> None:
    outcome = run("uai", equal_pair, "-", "nothing", task)
    assert (outcome.code, outcome.error) == (2, message)
    assert not Path("pair.uai.MPE").exists()


def test_evidence_may_be_empty_and_the_query_missing(equal_pair: Path) -> None:
    assert run("uai", equal_pair, written("blank.evid", " \n"), "missing", "MPE", "--time", 0.5).code == 0


def test_an_empty_name_is_no_evidence(equal_pair: Path) -> None:
    outcome = run("uai", equal_pair, "", "", "MPE", "--time", 0.5)
    assert (outcome.code, outcome.err) == (0, "")
    assert Path("pair.uai.MPE").read_text(encoding="utf-8") == "MPE\n2 1 1\n"


def test_evidence_of_several_queries_is_refused(equal_pair: Path) -> None:
    many = written("many.evid", "2\n1 0 0\n1 0 1\n")
    outcome = run("uai", equal_pair, many, "nothing", "MPE")
    assert outcome.code == 2
    assert outcome.error == "many.evid holds 2 queries; expected one: `beacon solve` takes several"


def test_there_is_an_answer_even_without_time(sprinkler: Path) -> None:
    outcome = run("uai", sprinkler, "-", "nothing", "MPE", "--time", 0, "--json")
    assert (outcome.json["steps"], outcome.json["stop"]) == (0, "seconds")
    assert Path("sprinkler.bif.MPE").exists()


def test_a_search_answers_as_well_as_brute_force(sprinkler: Path) -> None:
    model = read_model(sprinkler)
    best = BruteForce().solve(model, {2: 1}, seconds=10).log_score
    found = run("uai", sprinkler, written("e", "1 2 1"), "nothing", "MPE", "--time", 1, "--json").json
    assert found["log_score"] == pytest.approx(best)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_search_with_its_best_answer_and_code_0(number: signal.Signals) -> None:
    model = FAMILIES["grid"](rows=30, columns=30, seed=0)
    write_model(model, "grid.uai")
    first = quality_of(model, simple_answer(model, {}))
    answer = Path("grid.uai.MPE")
    with start_process("uai", "grid.uai", "-", "nothing", "MPE", "--time", 120, "--json") as process:
        while not answer.exists() or quality_of(model, read_solution(answer, model)) <= first:
            assert process.poll() is None
            time.sleep(0.05)  # until the search has improved on the first answer
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (0, False)
    assert '"stop": "interrupted"' in out
    assert quality_of(model, read_solution(answer, model)) > first


def test_a_signal_before_there_is_an_answer_is_no_success(
    sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "beacon.cli.competition.read_model", lambda path: os.kill(os.getpid(), signal.SIGTERM)
    )
    outcome = run("uai", sprinkler, "-", "nothing", "MPE")
    assert (outcome.code, outcome.out, outcome.err) == (143, "", "beacon: interrupted\n")


def test_a_signal_before_the_search_leaves_a_simple_answer(
    sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("beacon.cli.competition.warm_up_search", end)
    outcome = run("uai", sprinkler, "-", "nothing", "MPE")
    assert outcome.code == 0
    assert "stopped by: interrupted" in outcome.out
    assert Path("sprinkler.bif.MPE").exists()


def test_kernels_are_loaded_before_the_time_that_is_left_is_counted(
    sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    names = ("warm_up_joining", "warm_up_exact", "warm_up_long_way", "warm_up_search")
    for name in names:
        monkeypatch.setattr(f"beacon.cli.competition.{name}", lambda *_, name=name: heard.append(name))

    def count(seconds: float) -> MaxRuntime:
        heard.append("counted")
        return MaxRuntime(seconds)

    monkeypatch.setattr("beacon.cli.competition.MaxRuntime", count)
    assert run("uai", sprinkler, "-", "nothing", "MPE", "--time", 1).code == 0
    assert heard == [*names, "counted"]


def test_kernels_that_take_too_long_leave_a_simple_answer_in_time(
    sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beacon.cli.competition.warm_up_search", lambda *_: time.sleep(60))
    outcome = run("uai", sprinkler, "-", "nothing", "MPE", "--time", 0.5)
    assert (outcome.code, "stopped by: seconds" in outcome.out) == (0, True)
    assert "the time was up before the search kernels were loaded" in outcome.err
    assert Path("sprinkler.bif.MPE").exists()


def test_no_timer_is_left_behind(sprinkler: Path) -> None:
    before = signal.getsignal(signal.SIGALRM)
    run("uai", sprinkler, "-", "nothing", "MPE", "--time", 0.5)
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)) == (before, (0.0, 0.0))


def test_the_process_has_been_there_since_before_its_first_test() -> None:
    assert AS_IT_IS() >= time.process_time() > 0


def test_only_the_first_signal_interrupts() -> None:
    with interrupted_by_signals():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_signal_is_told_where_an_answer_is_being_kept_and_stops_that_only_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with interrupted_by_signals(), told_by_signals() as cancelled:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert cancelled.is_set()
        assert exit_code() == 128 + signal.SIGTERM
        monkeypatch.setattr("beacon.cli.PATIENCE_SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_disk_that_fills_up_is_one_line_and_keeps_the_last_answer(
    sprinkler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = competition.write_solution, 0

    def write_once(path: Path, assignment: object) -> None:
        nonlocal count
        count += 1
        if count > 1:
            raise BeaconError(f"cannot write {path}: no space left on device")
        write(path, [1, 1, 0])

    monkeypatch.setattr(competition, "write_solution", write_once)
    monkeypatch.setattr("beacon.cli.competition.simple_answer", lambda model, evidence: np.array([1, 1, 0]))
    outcome = run("uai", sprinkler, "-", "nothing", "MPE", "--time", 0.5)
    assert outcome.code == 1
    assert outcome.error == "cannot write sprinkler.bif.MPE: no space left on device"
    assert Path("sprinkler.bif.MPE").read_text(encoding="utf-8") == "MPE\n3 1 1 0\n"


def test_only_better_answers_reach_the_file() -> None:
    answers = [np.array([k]) for k in range(4)]
    with AnswerFile(Path("a.MPE"), answers[0], Quality(-2, 5.0)) as file:
        file.offer(answers[1], Quality(-3, 9.0))  # more zero factors
        file.offer(answers[2], Quality(0, -9.0))
        file.offer(answers[3], Quality(0, -9.5))
    assert Path("a.MPE").read_text(encoding="utf-8") == "MPE\n1 2\n"


def test_a_simple_answer_heeds_single_variables_and_the_evidence(sprinkler: Path) -> None:
    model = read_model(sprinkler)
    assert simple_answer(model, {}).tolist() == [0, 0, 0]  # rain is rather unlikely by itself
    assert simple_answer(model, {0: 1, 2: 1}).tolist() == [1, 0, 1]


def test_the_deadline_keeps_a_reserve_and_never_is_negative() -> None:
    deadline = Deadline(1e6)
    assert deadline.seconds_left < 1e6 - 0.2
    deadline.reserve(1000.0)
    assert deadline.seconds_left < 1e6 - 3000  # checked, and written twice
    deadline.reserve(1e9)
    assert 0 < deadline.seconds_left <= 1e6 / 2
    assert Deadline(0).seconds_left == 0


def test_a_busy_machine_gets_a_larger_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "seconds_since_start", lambda: 3.0)
    left = []
    for seconds in (3.0, 1.0):  # of the processor's, in three seconds
        monkeypatch.setattr(ending, "process_time", lambda seconds=seconds: seconds)
        left.append(Deadline(100).seconds_left)
    assert left[0] - left[1] == pytest.approx(2 * ending.LEAVING_SECONDS, abs=0.05)


def test_memory_beyond_the_limit_is_refused_and_small_limits_are_not_heeded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with memory_limit(8.0), pytest.raises(MemoryError):
        np.ones(2 * 10**9)
    with memory_limit(0.1):
        np.ones(10**6)
    assert capsys.readouterr().err.startswith("beacon: warning: a memory limit of 0.1 GB is not heeded")
