"""The README's table agrees with results/."""

from __future__ import annotations

from readme_figure import METHODS, NETWORKS, mean_scores, updated

from tests.conftest import ROOT


def test_the_table_is_that_of_the_files() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert updated(text, ROOT / "results") == text, "run benchmarks/readme_figure.py"


def test_the_caption_says_what_the_curves_show() -> None:
    for network in NETWORKS.values():
        _, own, guided = (mean_scores(ROOT / "results", network, m) for m in METHODS.values())
        assert guided[0] - own[0] > guided[-1] - own[-1] > 0, "a guide pays most in few steps"
