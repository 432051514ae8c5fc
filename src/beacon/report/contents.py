"""What a report says, section by section, before it is written in any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from beacon.evaluation.evaluation import Evaluation
from beacon.guide.checkpoint import read_facts
from beacon.report import comparisons, drawings
from beacon.report.drawings import Plot
from beacon.report.naming import main_methods, plural
from beacon.report.summaries import (
    gap_table,
    networks_table,
    overview_table,
    step_time_table,
    target_table,
    wall_clock_table,
)
from beacon.report.tables import Table
from beacon.report.verdict import verdict


@dataclass(frozen=True)
class Section:
    """Some plots and tables on one question."""

    key: str
    title: str
    text: str
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    folded: list[Table] = field(default_factory=list)
    """Tables for those who want every figure; closed at first."""


@dataclass(frozen=True)
class Report:
    """All sections, and the results they come from."""

    results: Evaluation
    sections: list[Section]

    @property
    def tables(self) -> Iterator[Table]:
        """All tables in order."""
        return (table for section in self.sections for table in (*section.tables, *section.folded))

    @property
    def plots(self) -> Iterator[Plot]:
        """All plots in order."""
        return (plot for section in self.sections for plot in section.plots)


def make_report(results: Evaluation, extra: Sequence[Section] = ()) -> Report:
    """Everything that the results have to say, then ``extra``; sections without content are left out."""
    makers = (
        _verdict,
        _anytime,
        _overview,
        _wins,
        _improvements,
        _weights,
        _wall_clock,
        _targets,
        _speed,
        _training,
    )
    sections = [*(make(results) for make in makers), *extra]
    return Report(results, [section for section in sections if _has_content(section)])


def _has_content(section: Section) -> bool:
    return bool(section.points or section.tables or section.folded or section.plots)


def _verdict(results: Evaluation) -> Section:
    return Section("verdict", "In short", "", points=verdict(results))


def _overview(results: Evaluation) -> Section:
    runs = plural(len(results.records), "run")
    text = (
        f"{plural(len(main_methods(results)), 'method')} on {plural(len(results.networks), 'network')}, "
        f"{runs}. Every method answers the same queries from the same uniformly random starts, and the best "
        "score so far is what counts."
    )
    return Section(
        "overview", "Methods and networks", text, [overview_table(results), networks_table(results)]
    )


def _wins(results: Evaluation) -> Section:
    plots, tables = [], []
    strongest = comparisons.baselines(results)[-1:]
    for baseline in comparisons.baselines(results):
        for kind in ("step", "second"):
            if results.budgets(kind):
                tables.append(comparisons.win_table(results, baseline, kind))
        for method in comparisons.compared(results, baseline):
            if [baseline] == strongest or results.baselines.get(method) == baseline:
                plots += drawings.win_plots(results, method, baseline)
    text = (
        "How often a method is ahead of a baseline at the same budget: green above 50 %, red below. "
        "Ties count one half, so a method that is as good as its baseline stands at 50."
    )
    tables = [table for table in tables if table.rows]
    if len(results.networks) == 1:  # a heatmap of one row says less than the table
        return Section("wins", "Wins", text, tables)
    return Section("wins", "Wins", text, plots=plots, folded=tables)


def _improvements(results: Evaluation) -> Section:
    tables = [
        comparisons.improvement_table(results, baseline, "step")
        for baseline in comparisons.baselines(results)
        if results.step_budgets
    ]
    tables += [gap_table(results, "step", results.step_budgets[-1])] if results.step_budgets else []
    text = "How much better, in percent of the baseline's score, and how far from the best known score."
    return Section(
        "improvement", "Improvement by steps", text, folded=[table for table in tables if table.rows]
    )


def _weights(results: Evaluation) -> Section:
    text = (
        "Guided methods with different weights of the guide (λ) beside their baseline: mean score over "
        "queries, with its standard deviation."
    )
    return Section("weights", "Weight of the guide", text, plots=drawings.weight_plots(results))


def _anytime(results: Evaluation) -> Section:
    text = (
        "Median gap to the best known score, over steps and over wall-clock time; the band holds the middle "
        "half of the queries. Both axes are logarithmic, the vertical one down to 0.01 %. A curve that "
        "begins late begins with a dot, when half of the queries have an answer. Where a method knows upper "
        "bounds, one more plot has its mean score, and as a band how much higher optima can be on average."
    )
    return Section("anytime", "Anytime curves", text, plots=drawings.anytime_plots(results))


def _wall_clock(results: Evaluation) -> Section:
    text = "The same wall-clock time for everyone, other solvers included."
    budgets = results.second_budgets
    if not budgets or len(results.networks) == 1:
        by_time = [comparisons.budget_table(results, results.networks[0], "second")] if budgets else []
        return Section("wall-clock", "Wall clock", text, by_time)
    *earlier, last = [gap_table(results, "second", budget) for budget in budgets]
    if "greedy" in results.methods and len(main_methods(results)) > 1:
        earlier.append(wall_clock_table(results, "greedy", budgets[-1]))
    return Section("wall-clock", "Wall clock", text, [last], folded=earlier)


def _targets(results: Evaluation) -> Section:
    text = "How long it takes to be nearly as good as the best that anyone found."
    return Section("targets", "Time to target", text, [target_table(results)])


def _speed(results: Evaluation) -> Section:
    table = step_time_table(results)
    text = "What one step (one flip) costs, the guide's share included where there is one."
    return Section("speed", "Time per step", text, folded=[table] if len(table.columns) > 1 else [])


def _training(results: Evaluation) -> Section:
    histories = _histories(results)
    plots = [drawings.history_plot(name, history) for name, history in histories.items()]
    return Section("training", "Training", "Loss of every epoch of the guide's training.", plots=plots)


def _histories(results: Evaluation) -> dict[str, list[dict[str, Any]]]:
    """Training histories: of the guide in the folder, and of those noted with the methods."""
    found: dict[str, list[dict[str, Any]]] = {}
    if (folder := results.folder) is not None:
        for path in sorted([*folder.glob("guide/guide.json"), *folder.glob("guides/*/guide.json")]):
            history = read_facts(path.parent)["history"]
            if history:
                found[path.parent.name] = history
    for name, facts in results.run["networks"].items():
        history = (facts.get("guide") or {}).get("history")
        if history and history not in found.values():  # the guide in the folder may be the network's
            found[name] = history
    return found
