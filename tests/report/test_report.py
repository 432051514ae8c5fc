"""The whole report of a toy evaluation: every table and plot is there and says something."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.metrics import win_percentage
from beacon.report.comparisons import compared, target_table, win_matrix, win_table
from beacon.report.contents import Report, Section, make_report
from beacon.report.html import as_html, write_parts

SECTIONS = [
    "verdict",
    "anytime",
    "overview",
    "wins",
    "improvement",
    "weights",
    "wall-clock",
    "targets",
    "speed",
    "training",
]
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Checks that every element is closed where it should be, and collects what matters."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.counts: dict[str, int] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in VOID:
            self.open.append(tag)
        self._note(attributes)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self._note(attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]} at {self.getpos()}"  # noqa: PT018
        self.open.pop()

    def _note(self, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id":
                self.ids.append(str(value))
            if name in {"href", "src"}:
                self.links.append(str(value))


def test_every_section_is_there(toy_report: Report) -> None:
    assert [section.key for section in toy_report.sections] == SECTIONS


def test_extra_sections_come_last_unless_they_are_empty(toy_report: Report) -> None:
    table = next(iter(toy_report.tables))
    extra = [Section("mine", "My own", "Text.", [table]), Section("empty", "Nothing", "")]
    assert [section.key for section in make_report(toy_report.results, extra).sections] == [*SECTIONS, "mine"]


def test_every_table_has_rows_and_something_in_every_row(toy_report: Report) -> None:
    keys = [table.key for table in toy_report.tables]
    assert len(keys) == len(set(keys)) >= 12
    for table in toy_report.tables:
        assert table.rows, table.key
        for row in table.rows:
            assert any(cell.text != "–" for cell in row[table.num_labels :]), (table.key, row[0].text)


def test_every_plot_draws_something(toy_report: Report) -> None:
    keys = [plot.key for plot in toy_report.plots]
    assert len(keys) == len(set(keys))
    for plot in toy_report.plots:
        ax = plot.axes
        assert ax.lines or ax.collections or ax.containers, plot.key
        assert any(ax.get_title(loc=place) for place in ("left", "center"))


def test_both_baselines_are_compared_with_their_guided_methods(toy_report: Report) -> None:
    results = toy_report.results
    assert compared(results, "greedy") == ["gls+", "tree", "auto", "beacon-greedy", "toulbar2"]
    assert compared(results, "gls+") == ["tree", "auto", "beacon-gls+", "toulbar2"]


def test_the_numbers_of_a_table_are_those_of_the_records(toy_report: Report) -> None:
    results = toy_report.results
    for i, network in enumerate(results.networks):
        for k in range(len(results.step_budgets)):
            pairs = [
                (a.step_scores[k], b.step_scores[k])
                for a in results.runs(network, "gls+")
                for b in results.runs(network, "greedy")
                if (a.seed, a.query) == (b.seed, b.query)
            ]
            expected = win_percentage(*np.array(pairs).T)
            assert win_matrix(results, "gls+", "greedy", "step")[i, k] == expected
            row = win_table(results, "greedy", "step").rows[4 * i]
            assert (row[1].text, row[2 + k].value) == ("gls+", expected)
    assert results.scores("grid", "gls+", "step", 20).shape == (2, 3)


def test_nobody_is_better_than_the_best_known(toy_report: Report) -> None:
    results = toy_report.results
    for network in results.networks:
        best = results.best(network)
        finals = np.array([results.final_scores(network, method) for method in results.methods])
        assert (finals <= best + 1e-9).all()
        assert (finals.max(axis=(0, 1)) == best).all()


def test_the_share_of_queries_with_a_proved_optimum_is_shown(toy_report: Report) -> None:
    networks, results = next(t for t in toy_report.tables if t.key == "networks"), toy_report.results
    for row, network in zip(networks.rows, results.networks, strict=True):
        proved = {run.query for run in results.records if run.network == network and run.proved}
        assert row[-2].value == pytest.approx(100 * len(proved) / len(results.queries(network)))


def test_a_stand_in_is_marked(toy_report: Report) -> None:
    networks = next(table for table in toy_report.tables if table.key == "networks")
    names = [(row[0].text, row[1].text) for row in networks.rows]
    assert ("family*", "family (stands in for a larger family)") in names


def test_time_to_target_tells_how_many_got_there(toy_report: Report) -> None:
    table = target_table(toy_report.results)
    cells = [cell for row in table.rows for cell in row[1:]]
    assert all(re.fullmatch(r"(∞|[\d.e+-]+ (s|ms|µs)) \(\d+ %\)", cell.full_text) for cell in cells)


def test_the_page_is_well_formed(toy_page: str) -> None:
    outline = Outline(toy_page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids)), "ids are used twice"
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert outline.counts["svg"] >= 20


def test_the_page_needs_nothing_from_elsewhere(toy_page: str) -> None:
    assert not re.search(r"""(src|href|url)\s*[=(]\s*["']?(https?:)?//""", toy_page)
    assert "@import" not in toy_page
    named = set(re.findall(r"https?://[^\s\"'<>)]+", toy_page))
    assert named <= {"http://www.w3.org/2000/svg"}  # the name of a namespace, not an address to visit


def test_every_table_of_the_report_is_on_the_page(toy_page: str, toy_report: Report) -> None:
    outline = Outline(toy_page)
    assert {f"table-{table.key}" for table in toy_report.tables} <= set(outline.ids)
    assert {f"table-queries-{network}" for network in ("grid", "family")} <= set(outline.ids)


def test_names_from_files_cannot_break_the_page(toy_page: str) -> None:
    assert "map<1>" not in toy_page.partition('id="curve-data"')[0]
    assert "map&lt;1&gt;" in toy_page
    assert "<title>A &lt;toy&gt; &amp; more</title>" in toy_page
    assert toy_page.count("</script>") == 2


def test_the_page_says_how_it_was_made_and_what_is_missing(toy_page: str) -> None:
    assert "<code>beacon evaluate &lt;toy&gt;</code>" in toy_page
    assert "lost: nowhere@0:lost.uai" in toy_page


def test_tables_and_plots_are_files_too(toy_report: Report, tmp_path: Path) -> None:
    write_parts(toy_report, tmp_path)
    tables = {path.name for path in (tmp_path / "tables").iterdir()}
    assert tables == {
        f"{table.key}.{suffix}" for table in toy_report.tables for suffix in ("md", "csv", "tex")
    }
    plots = {path.name for path in (tmp_path / "plots").iterdir()}
    assert plots == {f"{plot.key}.svg" for plot in toy_report.plots}
    assert all(path.read_text(encoding="utf-8").strip() for path in tmp_path.rglob("*.*"))


def test_an_unfinished_evaluation_can_be_reported(toy_report: Report) -> None:
    known = toy_report.results
    some = [r for r in known.records if r.network == "grid" and r.method != "gls+"][::2]
    partial = Evaluation(known.run, some)
    assert Outline(as_html(make_report(partial))).open == []
