"""The wheel is complete: installed into an environment of its own, it answers a query."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

import beacon
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
# Compiling the kernels anew, for the new place, would take a minute; they do the same uncompiled.
UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}


def run(*command: Any, **options: Any) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it, which finds what it depends on where these tests do."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    known = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(known) + "\n", encoding="utf-8")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", "--no-compile")
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, *install, wheel)
    return python.parent


def test_the_wheel_has_types_templates_and_facts(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        facts = next(name for name in names if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(facts).decode())
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    pages = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/beacon").glob("*/page/*.*")}
    assert names >= sources | pages | {"beacon/py.typed"}
    assert metadata["Version"] == beacon.__version__
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert {"learn", "plots", "pgmpy", "docs"} <= set(metadata.get_all("Provides-Extra", []))


def test_the_installed_program_solves_and_checks_a_query(programs: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"cwd": tmp_path, "env": os.environ | UNCOMPILED | {"PYTHONPATH": ""}}
    program = programs / "beacon"
    assert run(program, "--version", **options) == f"beacon {beacon.__version__}\n"
    where = run(programs / "python", "-c", "import beacon; print(beacon.__file__)", **options)
    assert Path(where.strip()).is_relative_to(programs.parent)
    run(program, "generate", "diagnosis", "-o", "clinic.bif", "--set", "num_diseases=12", **options)
    evidence = ("-e", "fever=yes")
    query = ("solve", "clinic.bif", *evidence, "--method", "gls+", "--steps", "200", "-o", "answer.MPE")
    answer = json.loads(run(program, *query, "--json", **options))
    assert answer["named_assignment"]["fever"] == "yes"
    run(program, "check", "clinic.bif", "-", "answer.MPE", *evidence, **options)
