"""The verdict on top of a report: its counts are those of the records."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.report.contents import Report, verdict
from beacon.report.tables import COLOURS, colour_of


class Scripted:
    """An evaluation of ten queries on one network, with the scores that a test makes up."""

    networks = ("net",)
    second_budgets = (0.001, 0.01, 0.1)
    step_budgets: tuple[int, ...] = ()
    records: tuple[object, ...] = ()
    methods = ("gls+", "beacon")
    weights: dict[str, float] = {}  # noqa: RUF012
    baselines: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, guided: dict[float, float]) -> None:
        self._guided = guided

    def budgets(self, kind: str) -> tuple[float, ...]:
        return self.second_budgets if kind == "second" else ()

    def scores(self, network: str, method: str, kind: str, budget: float) -> np.ndarray:
        return np.full((1, 10), self._guided[budget] if method == "beacon" else 0.0)

    def final_scores(self, network: str, method: str) -> np.ndarray:
        return self.scores(network, method, "second", 0.1)

    def best(self, network: str) -> np.ndarray:
        return np.zeros(10)

    def runs(self, network: str, method: str) -> list[int]:
        return [0]


@pytest.mark.parametrize(
    ("guided", "words"),
    [
        ((5.0, 5.0, 5.0), "beacon is ahead of gls+ from 1 ms to 100 ms."),
        ((5.0, 0.0, 0.0), "beacon is ahead of gls+ at 1 ms, level from 10 ms to 100 ms."),
        ((5.0, 0.0, -1.0), "beacon is ahead of gls+ at 1 ms, level at 10 ms, behind at 100 ms."),
        ((-1.0, -1.0, 5.0), "beacon is behind gls+ from 1 ms to 10 ms, ahead at 100 ms."),
    ],
)
def test_a_guide_is_told_to_be_ahead_level_or_behind(guided: tuple[float, ...], words: str) -> None:
    results = Scripted(dict(zip(Scripted.second_budgets, guided, strict=True)))
    assert words in verdict(results)  # type: ignore[arg-type]


def test_the_counts_are_those_of_the_overview(toy_report: Report) -> None:
    best, proofs, *_ = verdict(toy_report.results)
    (overview,) = [table for table in toy_report.tables if table.key == "overview"]
    column = overview.columns.index("best known reached, %")
    shares = {row[0].text: float(row[column].text) for row in overview.rows}
    leader = best.split(", ")[1].split(" has ")[0]
    hits, total = (int(word) for word in best.split(" score on ")[1].split()[:3:2])
    assert shares[leader] == max(shares.values()) == pytest.approx(100 * hits / total, abs=0.06)
    assert "toulbar2 proved 18 of 18" in proofs


def test_the_report_begins_with_the_verdict(toy_report: Report) -> None:
    assert toy_report.sections[0].points == verdict(toy_report.results)


def test_a_method_has_its_own_colour_in_every_report(toy_report: Report) -> None:
    results = toy_report.results
    assert colour_of(results, "auto") == COLOURS["auto"]
    main = [method for method in results.methods if "λ" not in method]
    assert len({colour_of(results, method) for method in main}) == len(main)
