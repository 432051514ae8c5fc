"""A tag is released only if the package, the changelog and the citation tell of the same version."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

import beacon
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_release", ROOT / ".github" / "check_release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def project(folder: Path, package: str, citation: str, heading: str) -> Path:
    (folder / "src" / "beacon").mkdir(parents=True)
    (folder / "src" / "beacon" / "__init__.py").write_text(f'__version__ = "{package}"\n')
    (folder / "CITATION.cff").write_text(f"cff-version: 1.2.0\nversion: {citation}\n")
    (folder / "CHANGELOG.md").write_text(f"# Changes\n\n{heading}\n")
    return folder


def test_a_version_that_all_files_tell_of_is_fit(release: ModuleType, tmp_path: Path) -> None:
    assert release.faults("v1.2.3", project(tmp_path, "1.2.3", "1.2.3", "## 1.2.3 (2026-01-31)")) == []


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        (("1.2.4", "1.2.3", "## 1.2.3 (2026-01-31)"), "the package is version 1.2.4"),
        (("1.2.3", "1.2.2", "## 1.2.3 (2026-01-31)"), "CITATION.cff is about version 1.2.2"),
        (("1.2.3", "1.2.3", "## 1.2.3 (unreleased)"), "CHANGELOG.md has no heading"),
        (("1.2.3", "1.2.3", "## 1.2.2 (2026-01-31)"), "CHANGELOG.md has no heading"),
    ],
)
def test_what_keeps_a_tag_from_being_released(
    release: ModuleType, tmp_path: Path, files: tuple[str, str, str], fault: str
) -> None:
    (found,) = release.faults("v1.2.3", project(tmp_path, *files))
    assert found.startswith(fault)


def test_a_tag_is_a_version(release: ModuleType) -> None:
    assert release.faults("latest") == ["expected a tag like v0.2.0, found 'latest'"]


def test_this_version_is_cited_and_in_the_changelog() -> None:
    assert f"\nversion: {beacon.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## {re.escape(beacon.__version__)} \(", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_actions_are_pinned_to_commits() -> None:
    used = [
        line.split("uses:")[1].strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]
    assert used
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[\d.]+", action) for action in used)
