"""Is a tag fit to be released: python .github/check_release.py v0.2.0

The package, the changelog and CITATION.cff must tell of the same version, and the changelog must not call it
unreleased any more.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def faults(tag: str, root: Path = ROOT) -> list[str]:
    """What keeps this tag from being released; empty if nothing does."""
    version = tag.removeprefix("v")
    if not re.fullmatch(r"v\d+\.\d+\.\d+", tag):
        return [f"expected a tag like v0.2.0, found {tag!r}"]
    found = []
    package = _first(r'__version__ = "(.+)"', root / "src" / "beacon" / "__init__.py")
    if package != version:
        found.append(f"the package is version {package}")
    citation = _first(r"version: (.+)", root / "CITATION.cff")
    if citation != version:
        found.append(f"CITATION.cff is about version {citation}")
    heading = _first(rf"## {re.escape(version)} (\(.+\))", root / "CHANGELOG.md")
    if not re.fullmatch(r"\(\d{4}-\d{2}-\d{2}\)", heading or ""):
        found.append(f"CHANGELOG.md has no heading '## {version} (YYYY-MM-DD)'")
    return found


def _first(pattern: str, path: Path) -> str | None:
    match = re.search(f"^{pattern}$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else None


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected one argument, the tag")
    if wrong := faults(sys.argv[1]):
        sys.exit(f"{sys.argv[1]} cannot be released: " + "; ".join(wrong))
    print(f"{sys.argv[1]} is fit to be released")
