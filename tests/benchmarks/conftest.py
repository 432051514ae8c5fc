"""The scripts in ``benchmarks/`` import each other by their plain names."""

from __future__ import annotations

import sys

from tests.conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))
