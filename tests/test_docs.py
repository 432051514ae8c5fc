"""The documentation builds without a warning, and its generated pages are complete."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import beacon
from beacon.cli.app import VERBS
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; warnings are errors."""
    folder = tmp_path_factory.mktemp("html")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-d",
        folder / "trees",
    ]
    done = subprocess.run([*command, DOCS, folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def test_every_page_is_built_and_in_the_menu(pages: Path) -> None:
    menu = (pages / "index.html").read_text(encoding="utf-8")
    names = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    linked = set(re.findall(r'class="reference internal" href="([\w-]+)\.html"', menu))
    assert linked >= names
    assert all((pages / f"{name}.html").exists() for name in names)


def test_every_public_name_is_on_the_page_of_the_api(pages: Path) -> None:
    page = (pages / "api.html").read_text(encoding="utf-8")
    assert [name for name in beacon.__all__ if f'id="beacon.{name}"' not in page] == []


def test_every_verb_and_option_is_on_the_page_of_options(pages: Path) -> None:
    page = (pages / "options.html").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f'id="beacon-{verb}"' not in page] == []
    for option in ("--steps", "--guide", "--table", "--preset"):
        assert f'<span class="pre">{option}' in page, option


def test_formulas_are_formulas(pages: Path) -> None:
    page = (pages / "algorithm.html").read_text(encoding="utf-8")
    assert "$$" not in page
    assert page.count('class="math notranslate nohighlight"') > 10
