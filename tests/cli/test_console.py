"""What a person at a terminal sees while waiting, and that stdout stays clean all the same."""

from __future__ import annotations

import json
import logging
import os
import time
from pathlib import Path

import pytest

from beacon.cli.console import ProgressBar, note, note_if_slow, show_notes
from tests.cli.helpers import Outcome, run_process

pty = pytest.importorskip("pty")


def run_at_terminal(*args: object) -> Outcome:
    """Run with a terminal for stderr and a pipe for stdout."""
    terminal, stderr = pty.openpty()
    outcome = run_process(*args, stderr=stderr, env=os.environ | {"TERM": "xterm"})
    os.set_blocking(terminal, False)
    try:
        shown = os.read(terminal, 1 << 20).decode()
    except BlockingIOError:
        shown = ""
    os.close(stderr)
    os.close(terminal)
    return outcome._replace(err=shown)


def test_many_queries_have_a_bar(sprinkler: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("grass\n" + "wet\n" * 4)
    outcome = run_at_terminal("solve", sprinkler, "--table", table, "--time", 0.2, "--threads", 1)
    assert outcome.code == 0
    assert "4/4" in outcome.err
    assert [line.partition(":")[0] for line in outcome.out.splitlines()] == ["0", "1", "2", "3"]


def test_one_query_shows_its_best_score_so_far(sprinkler: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.MPE").write_text("MPE\n3 1 1 1\n")
    start = ("--start", tmp_path / "bad.MPE")
    outcome = run_at_terminal(
        "solve", sprinkler, "-e", "grass=wet", *start, "--time", 0.5, "--json", "--method", "gls+"
    )
    assert "best score -1.2448, 0 zero factors" in outcome.err
    assert json.loads(outcome.out)["stop"] == "seconds"


def test_quiet_shows_nothing(sprinkler: Path) -> None:
    outcome = run_at_terminal("solve", sprinkler, "--time", 0.3, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    assert "log score" in outcome.out


def test_only_slow_work_is_announced(capsys: pytest.CaptureFixture[str]) -> None:
    with note_if_slow("quick", 60):
        pass
    with note_if_slow("slow", 0.01):
        time.sleep(0.3)
    with note_if_slow("quiet", 0.01, quiet=True):
        time.sleep(0.05)
    assert capsys.readouterr().err == "beacon: slow\n"


def test_a_bar_whose_parts_are_told_later_knows_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = ProgressBar("work", 0)
    assert bar._bar is not None
    (task,) = bar._bar.tasks
    assert task.total is None
    bar.show("half of it", 2, 5)
    assert (task.total, task.completed, task.description) == (5, 2, "work: half of it")
    bar.reach(5)
    assert task.finished


def test_notes_are_printed_above_a_bar_and_as_usual_after_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    show_notes(quiet=False)
    bar, lines = ProgressBar("work", None), []
    assert bar._bar is not None
    monkeypatch.setattr(bar._bar.console, "print", lambda line, **style: lines.append(line))
    monkeypatch.setattr(bar._bar, "start", lambda: None)
    monkeypatch.setattr(bar._bar, "stop", lambda: None)
    with bar:
        logging.getLogger("beacon.evaluation").warning("first")  # the library warns
        note("second")
    note("third")
    assert lines == ["beacon: warning: first", "beacon: second"]
    assert capsys.readouterr().err == "beacon: third\n"
