"""Running the command line in this process, or in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from typing import Any, NamedTuple

from typer.testing import CliRunner

from beacon.cli.app import app
from tests.conftest import ROOT


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout; fails if there is anything else."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line on stderr that says what went wrong; fails if there is more or less."""
        line, end, rest = self.err.partition("\n")
        assert (end, rest) == ("\n", ""), self.err
        assert line.startswith("beacon: error: ")
        assert self.out == ""
        return line.removeprefix("beacon: error: ")


def run(*args: object) -> Outcome:
    """Run ``beacon`` in this process."""
    result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="beacon")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    outcome = Outcome(result.exit_code, result.stdout, result.stderr)
    if "--json" in args and outcome.code == 0:
        missing = undocumented_fields(str(args[0]), outcome.json)
        assert not missing, f"docs/command-line.md says nothing of {missing}"
    return outcome


def undocumented_fields(verb: str, answer: dict[str, Any]) -> list[str]:
    """Fields of a JSON answer of which the page on the command line says nothing."""
    parts = ("exactness", "training", "profile", "supposed")
    nested = [answer[field] for field in parts if answer.get(field)]
    objects = [answer, *nested, *answer.get("results", []), *answer.get("history", [])]
    said = set(re.findall(r"`(\w+)`", section_on(verb)))
    return sorted({field for found in objects for field in found} - said)


@cache
def section_on(verb: str) -> str:
    """What the page on the command line says of a verb."""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    return page.partition(f"\n## {verb}\n")[2].partition("\n## ")[0]


def start_process(*args: object, **settings: Any) -> subprocess.Popen[str]:
    """Start ``python -m beacon``; its output is to be read from pipes."""
    command = [sys.executable, "-m", "beacon", *map(os.fspath, map(_text, args))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    return subprocess.Popen(command, text=True, **pipes)


def run_process(*args: object, **settings: Any) -> Outcome:
    """Run ``python -m beacon`` to its end."""
    with start_process(*args, **settings) as process:
        out, err = process.communicate(timeout=300)
    return Outcome(process.returncode, out or "", err or "")


def _text(arg: object) -> str | bytes:
    return arg if isinstance(arg, bytes) else str(arg)
