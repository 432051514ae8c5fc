"""What all verbs share: help, exit codes, one-line errors, clean streams."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import beacon
from beacon.cli import _Ending, interrupted_by_signals
from beacon.cli.app import VERBS, app, exit_code_of
from beacon.cli.console import one_line
from beacon.errors import BeaconError, UsageError
from tests.cli.helpers import run, run_process


def test_version_is_printed_by_a_real_process() -> None:
    assert run_process("--version") == (0, f"beacon {beacon.__version__}\n", "")


def test_help_and_version_load_neither_numba_nor_pyarrow() -> None:
    script = (
        "import sys; from beacon.cli import main; sys.argv = ['beacon', '--help']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert not {'numba', 'pyarrow', 'torch', 'matplotlib'} & set(sys.modules), 'slow to start'"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_each_verb_has_help_with_an_example(verb: str, option: str) -> None:
    outcome = run(verb, option)
    assert outcome.code == 0
    assert f"beacon {verb}" in outcome.out.partition("Options")[0].replace(f"Usage: beacon {verb}", "")


@pytest.mark.parametrize("verb", VERBS)
def test_the_same_things_have_the_same_names_everywhere(verb: str) -> None:
    command = get_command(app).get_command(None, verb)  # type: ignore[attr-defined]
    options = {name: parameter for parameter in command.params for name in parameter.opts}
    assert {"--quiet", "-q"} <= set(options)
    assert ("--json" in options) == (verb != "demo")
    assert ("-o" in options) == ("--out" in options)
    for name, kind in (("--seed", "S"), ("--time", "S"), ("--threads", "T"), ("--limit", "N")):
        assert name not in options or options[name].metavar == kind
    arguments = [parameter.metavar for parameter in command.params if not parameter.opts[0].startswith("-")]
    known = {"MODEL", "EVID", "SOLUTION", "QUERY", "TASK", "Q", "GUIDE", "DIR", "IN", "OUT", "FAMILY"}
    assert set(re.findall(r"\w+", " ".join(arguments))) <= known


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_has_no_words_of_python(verb: str) -> None:
    text = run(verb, "--help").out
    assert [word for word in ("<", "{", "None", "True", "tuple", "``") if word in text] == []


def test_beacon_alone_shows_help_as_wrong_use() -> None:
    outcome = run()
    assert outcome.code == 2
    assert "Usage: beacon" in outcome.out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["--frobnicate"], "No such option: --frobnicate"),
        (["info"], "Missing argument 'MODEL'"),
        (["info", "a", "b"], "unexpected extra argument"),
    ],
)
def test_wrong_arguments_are_one_line_with_a_pointer_to_the_help(args: list[str], message: str) -> None:
    outcome = run(*args)
    assert outcome.code == 2
    assert message in outcome.error
    assert "--help`" in outcome.error


@pytest.mark.parametrize(
    ("option", "text", "wanted"),
    [("--steps", "many", "a whole number"), ("--seed", "1.5", "a whole number"), ("--time", "x", "a number")],
)
def test_a_value_of_the_wrong_kind_is_one_line(option: str, text: str, wanted: str) -> None:
    outcome = run("solve", "a", option, text)
    assert (outcome.code, outcome.error) == (2, f"{option} must be {wanted}; found {text!r}")


@pytest.mark.parametrize("verb", ["info", "solve", "check", "convert", "queries"])
def test_what_is_no_model_is_one_line(verb: str, bad_models: dict[str, Path], tmp_path: Path) -> None:
    more = {"check": ["-", "x.MPE"], "convert": [tmp_path / "out.uai"], "queries": ["-o", tmp_path / "q"]}
    for message, path in bad_models.items():
        outcome = run(verb, path, *more.get(verb, []))
        assert outcome.code == 1
        assert message in outcome.error
        assert str(path) in outcome.error


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (BeaconError("no good"), 1, "beacon: error: no good\n"),
        (UsageError("not so"), 2, "beacon: error: not so\n"),
        (MemoryError(), 1, "beacon: error: not enough memory for this model and these settings\n"),
        (PermissionError(13, "Permission denied", "a.txt"), 1, "beacon: error: a.txt: permission denied\n"),
        (OSError(28, "No space left on device"), 1, "beacon: error: no space left on device\n"),
        (BeaconError("a\nb\x1b[31m"), 1, "beacon: error: a\\nb\\x1b[31m\n"),
    ],
)
def test_what_users_can_fix_is_one_line(
    error: Exception, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert exit_code_of(fail) == code
    assert capsys.readouterr().err == line


def test_a_bug_shows_its_traceback() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        exit_code_of(fail)


def test_a_signal_that_comes_out_as_another_error_is_no_bug(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("number", "has_stopped"):
        monkeypatch.setattr(_Ending, name, getattr(_Ending, name))  # put back afterwards

    def import_cut_short() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.sigtimedwait([], 1)
        except KeyboardInterrupt:
            raise AttributeError("partially initialized module") from None

    with interrupted_by_signals():
        assert exit_code_of(import_cut_short) == 128 + signal.SIGTERM
        assert capsys.readouterr().err == "beacon: interrupted\n"


def test_ctrl_c_outside_of_a_search_is_one_line(monkeypatch: pytest.MonkeyPatch, sprinkler: Path) -> None:
    def interrupted(path: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("beacon.formats.read_model", interrupted)
    outcome = run("info", sprinkler)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "beacon: interrupted\n")


def test_a_file_name_that_is_no_utf8_can_be_printed_in_any_locale(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xc3\xa9.uai"
    for encoding in ("utf-8", "ascii"):
        outcome = run_process("info", name, env=os.environ | {"PYTHONIOENCODING": encoding})
        assert outcome.code == 1
        assert "\\udcff" in outcome.error
        assert outcome.error.endswith(".uai: no such file or directory")


def test_names_that_the_locale_cannot_write_are_escaped(tmp_path: Path, sprinkler: Path) -> None:
    sprinkler.write_text(sprinkler.read_text().replace("grass", "größe"), encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    outcome = run_process("info", sprinkler, "--no-timing", "--variables", env=environment)
    assert outcome.code == 0
    assert "gr\\xf6\\xdfe" in outcome.out


def test_one_line_keeps_letters_and_escapes_what_moves_the_cursor() -> None:
    assert one_line("Größe ≤ 3\r\n\t\udcff") == "Größe ≤ 3\\r\\n\\t\\udcff"


def test_a_reader_that_has_gone_ends_the_output_quietly(tmp_path: Path) -> None:
    model = tmp_path / "grid.uai"
    assert run("generate", "grid", "-o", model, "--set", "rows=80", "--set", "columns=80").code == 0
    reader, writer = os.pipe()
    os.close(reader)
    outcome = run_process("info", model, "--variables", "--no-timing", stdout=writer)
    os.close(writer)
    assert (outcome.code, outcome.err) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(sprinkler: Path) -> None:
    with open("/dev/full", "w") as full:
        outcome = run_process("info", sprinkler, "--no-timing", stdout=full)
    assert outcome == (1, "", "beacon: error: no space left on device\n")


def test_closed_streams_change_nothing(sprinkler: Path) -> None:
    command = f"'{sys.executable}' -m beacon info '{sprinkler}' --no-timing"
    for closed, code in ((">&-", 0), ("2>&-", 0)):
        done = subprocess.run(
            ["sh", "-c", f"{command} {closed}"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (code, "")
