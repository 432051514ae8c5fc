"""Hard times: full disks, files in the way, odd names, poor terminals, missing packages, two at once."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.formats import read_model
from beacon.guide.checkpoint import save_checkpoint
from beacon.io.work_folder import folder_lock
from tests.cli.helpers import Outcome, run
from tests.conftest import ROOT

QUICK = ("--steps", 20, "--quiet")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, sprinkler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def made(command: str) -> Outcome:
    outcome = run(*command.split())
    assert outcome.code == 0, outcome
    return outcome


# Writing

WRITING = (
    "solve sprinkler.bif --steps 5 -q -o made",
    "uai sprinkler.bif - - MPE --time 0 -o made",
    "convert sprinkler.bif made.uai",
    "generate grid -o made.uai",
    "queries sprinkler.bif -o made --count 4",
    "collect sprinkler.bif q.parquet -o made --steps 0 --teacher-steps 5 --jobs 1 -q",
    "evaluate sprinkler.bif -o made --methods greedy --steps 5 --count 2 -q",
    "tune sprinkler.bif q.parquet guide --steps 5 -q",
)


@pytest.fixture
def with_queries(sprinkler: Path) -> None:
    from beacon.guide.trivial import FrequencyGuide  # noqa: PLC0415

    made("queries sprinkler.bif -o q.parquet --count 20 -q")
    model = read_model(sprinkler)
    FrequencyGuide(model, np.full(6, 0.5)).save("guide")


@pytest.mark.parametrize(
    ("command", "number"),
    [
        *((command, errno.ENOSPC) for command in WRITING),
        (WRITING[2], errno.EROFS),
        (WRITING[4], errno.EACCES),
    ],
)
@pytest.mark.usefixtures("with_queries")
def test_a_write_that_fails_is_one_line_and_leaves_nothing(
    command: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(str(path) for path in Path().rglob("*"))

    def fail(source: object, target: object, **_: Any) -> None:
        raise OSError(number, os.strerror(number), str(target))

    monkeypatch.setattr(os, "replace", fail)
    outcome = run(*command.split())
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert os.strerror(number).lower() in outcome.err
    left = sorted(str(path) for path in Path().rglob("*"))
    assert [path for path in left if path not in before and not os.path.isdir(path)] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    ["solve sprinkler.bif --steps 5 -q -o {}", "queries sprinkler.bif -o {} --count 2 -q"],
)
def test_a_device_is_written_to_and_not_replaced(command: str) -> None:
    before = os.stat("/dev/full")
    outcome = run(*command.format("/dev/full").split())
    assert outcome.code == 1
    assert "cannot write /dev/full: no space left on device" in outcome.err
    assert os.path.samestat(before, os.stat("/dev/full"))


def test_a_file_in_the_way_of_a_folder_is_named() -> None:
    Path("taken").touch()
    for command in (
        "run sprinkler.bif -o taken --preset fast",
        "evaluate sprinkler.bif -o taken",
        "demo -o taken",
    ):
        outcome = run(*command.split())
        assert (outcome.code, outcome.error) == (
            1,
            "cannot write taken: it is a file, and a folder is needed",
        )
    outcome = run("convert", "sprinkler.bif", "taken/x.uai")
    assert outcome.error == "cannot write taken/x.uai: there is no directory taken"


@pytest.mark.parametrize(
    "command", [*WRITING[:7], "train sprinkler.bif q.parquet -o made", "run sprinkler.bif -o made"]
)
@pytest.mark.usefixtures("with_queries")
def test_an_empty_name_does_not_mean_the_working_directory(command: str) -> None:
    words = ["" if word.startswith("made") else word for word in command.split()]
    outcome = run(*words)
    assert outcome.code == 2
    assert outcome.error == "expected a name to write to, found an empty one"


# Two at once


def test_two_processes_do_not_work_in_the_same_folder() -> None:
    folder = Path("run")
    folder.mkdir()
    command = "evaluate sprinkler.bif -o run --methods greedy --steps 5 --count 2 -q"
    with folder_lock(folder):
        outcome = run(*command.split())
        assert outcome.code == 1
        busy = f"run is being worked on by process {os.getpid()}; wait for it, or use another folder"
        assert outcome.error == busy
    made(command)
    assert not (folder / ".lock").exists()


def test_a_lock_of_a_process_that_died_locks_nothing() -> None:
    folder = Path("run")
    folder.mkdir()
    (folder / ".lock").write_text("999999\n", encoding="utf-8")
    with folder_lock(folder):
        pass


# Names


@pytest.mark.parametrize(
    "name", ["a b", "größe", "-x", "line\nbreak", "semi;colon", "%s{0}", "'quote\"", "💡", "\udcff"]
)
def test_odd_file_names_are_names_like_any_other(name: str, sprinkler: Path) -> None:
    model = sprinkler.rename(f"./{name}.bif")
    made_file = f"./{name}.uai"
    outcome = run("convert", f"./{model}", made_file)
    assert (outcome.code, outcome.out.count("\n")) == (0, 1)
    assert run("solve", made_file, *QUICK, "-o", f"./{name}.MPE").code == 0
    assert run("check", made_file, "-", f"./{name}.MPE").code == 0
    assert run("queries", made_file, "-o", f"./{name}.parquet", "--count", 20, "-q").code == 0
    assert run("uai", made_file, "-", "-", "MPE", "--time", 0, "-o", f"./{name}.MPE", "-q").code == 0
    methods = ("--methods", "greedy", "--steps", 5, "--quiet")
    assert run("evaluate", made_file, f"./{name}.parquet", "-o", f"./{name}", *methods).code == 0
    outcome = run("info", f"./{name}.missing")
    assert (outcome.code, outcome.error.endswith("no such file or directory")) == (1, True)


def test_a_link_that_leads_nowhere_and_one_that_leads_to_itself() -> None:
    os.symlink("loop.uai", "loop.uai")
    os.symlink("nothing.uai", "dangling.uai")
    assert "too many levels of symbolic links" in run("info", "loop.uai").error
    assert "no such file" in run("info", "dangling.uai").error
    assert run("convert", "sprinkler.bif", "loop.uai").code == 0
    assert Path("loop.uai").is_file()
    assert run("convert", "sprinkler.bif", "dangling.uai").code == 0
    assert Path("nothing.uai").is_file()
    assert run("convert", "sprinkler.bif", "n" * 300 + ".uai").error.endswith("file name too long")


# Poor terminals and missing packages, in processes of their own

SEVERAL = """
import json, sys
for name in {blocked!r}:
    sys.modules[name] = None  # as if it were not installed
sys.path.insert(0, {root!r})
from tests.cli.helpers import run
print(json.dumps([tuple(run(*command.split())) for command in {commands!r}]))
"""
PRINTING = """
import sys
from beacon.cli import main
for command in {commands!r}:
    sys.argv = ["beacon", *command.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
"""


def several(commands: list[str], blocked: tuple[str, ...]) -> list[Outcome]:
    """Run commands in a process to which some packages are missing."""
    script = SEVERAL.format(blocked=blocked, root=str(ROOT), commands=commands)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [Outcome(*outcome) for outcome in json.loads(done.stdout)]


@pytest.mark.usefixtures("with_queries")
def test_missing_packages_are_named_with_the_command_that_installs_them(sprinkler: Path) -> None:
    model = read_model(sprinkler)
    save_checkpoint("deep", "attention", {"w": np.zeros(1)}, {"fingerprint": model.fingerprint})
    made("evaluate sprinkler.bif q.parquet -o done --methods greedy --steps 5 -q")
    needs = {
        "train sprinkler.bif q.parquet -o g --preset fast": ("torch", "learn"),
        "train sprinkler.bif q.parquet -o g": ("torch", "learn"),
        "run sprinkler.bif -o r --preset small": ("torch", "learn"),
        "solve sprinkler.bif --guide deep --steps 5": ("torch", "learn"),
        "run sprinkler.bif -o r --preset fast": ("torch", "learn"),
        "collect sprinkler.bif q.parquet --backend loky -q": ("joblib", "cluster"),
        "report done -q": ("matplotlib", "plots"),
        "collect sprinkler.bif q.parquet --teacher toulbar2 -q": ("pytoulbar2", "peers"),
    }
    works = ["info sprinkler.bif --no-timing", "solve sprinkler.bif --guide guide --steps 5 -q"]
    blocked = ("torch", "joblib", "matplotlib", "pytoulbar2", "tensorboard", "dask", "distributed")
    outcomes = several([*needs, *works], blocked)
    for (command, (package, extra)), outcome in zip(needs.items(), outcomes, strict=False):
        assert outcome.code == 1, command
        wanted = f"needs {package}; install it with: pip install 'beacon-mpe[{extra}]'"
        assert outcome.error.endswith(wanted), command
    assert [outcome.code for outcome in outcomes[len(needs) :]] == [0, 0]


def test_a_gpu_that_is_not_there_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    made("queries sprinkler.bif -o q.parquet --count 20 -q")
    for command in (
        "train sprinkler.bif q.parquet -o g --device cuda",
        "run sprinkler.bif -o r --device cuda",
    ):
        outcome = run(*command.split())
        assert outcome.code == 2
        assert outcome.error == "device cuda was asked for and torch finds no GPU; use --device cpu or auto"


@pytest.mark.usefixtures("with_queries")
def test_a_terminal_without_unicode_shows_everything() -> None:
    commands = ["--help", "solve --help", "generate --list", "solve sprinkler.bif --steps 5 --trace"]
    commands += ["tune sprinkler.bif q.parquet guide --steps 5", "info sprinkler.bif --variables --no-timing"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    script = PRINTING.format(commands=commands)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    assert b"way to search" in done.stdout
