"""Prints the oldest versions that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

for requirement in tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]:
    print(requirement.replace(">=", "=="))
