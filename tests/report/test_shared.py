"""Methods are compared on what all of them have run, and the report says how much that is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.records import Record
from beacon.report.comparisons import difference_tables
from beacon.report.contents import Report, make_report
from beacon.report.html import as_html
from beacon.report.tables import Table, as_markdown


def kept(report: Report, wanted: Callable[[Record], bool]) -> Evaluation:
    """The toy evaluation without some of its runs."""
    return Evaluation(report.results.run, [run for run in report.results.records if wanted(run)])


def interrupted(report: Report) -> Evaluation:
    """Greedy has run all queries of the grid from one seed, GLS+ the first, which it won."""
    counts = {"greedy": 3, "gls+": 1}
    made = kept(
        report, lambda run: run.network == "grid" and run.seed == 0 and run.query < counts.get(run.method, 0)
    )
    return Evaluation(made.run, [replace(run, score=_score(run)) for run in made.records])


def _score(run: Record) -> float:
    return -10.0 if run.method == "greedy" else -9.0


def table_of(report: Report, key: str) -> Table:
    return next(table for table in report.tables if table.key == key)


def test_a_query_that_a_method_has_not_run_is_not_lost(toy_report: Report) -> None:
    made = make_report(interrupted(toy_report))
    how_many, best, *_ = made.sections[0].points
    assert how_many.startswith(
        "Methods are compared on 1 of 3 queries, those that all methods with results have run"
    )
    assert "; so far gls+ 1, tree none, auto none, " in how_many
    assert "gls+ has the best known score on 1 of 1 query; greedy on 0." in best
    overview = table_of(made, "overview")
    column = overview.columns.index("best known reached, %")
    assert {row[0].text: row[column].text for row in overview.rows} == {"greedy": "0.0", "gls+": "100.0"}


def test_the_page_still_has_every_run(toy_report: Report) -> None:
    page = as_html(make_report(interrupted(toy_report)))
    assert "1 network · 3 queries · 1 seed · 2 methods · 4 runs" in page


def test_a_seed_that_one_method_has_not_run_is_left_out(toy_report: Report) -> None:
    results = kept(toy_report, lambda run: run.seed == 0 or run.method != "gls+")
    made = make_report(results)
    assert "compared on 9 of 18 queries and seeds" in made.sections[0].points[0]
    assert made.sections[0].points[0].endswith("; so far gls+ 9.")
    first = make_report(kept(toy_report, lambda run: run.seed == 0))
    assert made.sections[0].points[1:] == first.sections[0].points
    assert as_markdown(table_of(made, "overview")) == as_markdown(table_of(first, "overview"))


def test_what_sums_over_networks_leaves_out_those_that_a_method_has_not_run(toy_report: Report) -> None:
    made = make_report(kept(toy_report, lambda run: run.network == "grid" or run.method != "toulbar2"))
    assert "compared on 6 of 18 queries and seeds" in made.sections[0].points[0]
    only = make_report(kept(toy_report, lambda run: run.network == "grid"))
    assert as_markdown(table_of(made, "overview")) == as_markdown(table_of(only, "overview"))
    assert len(table_of(made, "time-to-target").rows) == 3


def test_nothing_in_common_is_said(toy_report: Report) -> None:
    results = kept(toy_report, lambda run: (run.method, run.query) in {("greedy", 0), ("gls+", 1)})
    made = make_report(results)
    assert len(made.sections[0].points) == 1
    assert "compared on 0 of 12 queries and seeds" in made.sections[0].points[0]
    assert "networks" in {table.key for table in made.tables}
    assert difference_tables(results) == []
    assert "</html>" in as_html(made)


def test_a_finished_evaluation_is_compared_as_a_whole(toy_report: Report) -> None:
    assert toy_report.results.shared is toy_report.results
    assert not any("Methods are compared on" in point for point in toy_report.sections[0].points)


def test_means_in_a_notebook_are_over_the_same_queries(toy_report: Report) -> None:
    results = interrupted(toy_report)
    assert results._repr_html_() == results.shared._repr_html_()
