"""What a report says, section by section, before it is written in any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from beacon.errors import plural
from beacon.evaluation.evaluation import KINDS, Evaluation, Kind
from beacon.evaluation.metrics import win_percentage
from beacon.model.ties import is_tie
from beacon.report import comparisons, drawings
from beacon.report.comparisons import (
    gap_table,
    networks_table,
    overview_table,
    step_time_table,
    target_table,
    wall_clock_table,
)
from beacon.report.drawings import Plot
from beacon.report.shared import everywhere, shared_in_words
from beacon.report.tables import Table, duration, main_methods
from beacon.strategies.strategy import STRATEGIES

LEVEL = 45.0, 55.0  # win percentages that count as neither ahead nor behind
CLOSE = 1.0  # percent below the optimum, at most
TUNED = "beacon"


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
    """Everything that the results have to say, then ``extra``; sections without content are left out.

    Methods are compared on the queries and seeds that all of them have run.
    """
    shared = results.shared
    compared = everywhere(shared)
    told = [shared_in_words(results, compared), *verdict(compared)]
    sections = [
        Section("verdict", "In short", "", points=[sentence for sentence in told if sentence]),
        _anytime(shared),
        _overview(results, compared),
        *(make(shared) for make in (_wins, _improvements, _weights, _wall_clock, _targets, _speed)),
        _training(results),
        *extra,
    ]
    return Report(results, [one for one in sections if one.points or one.tables or one.folded or one.plots])


def _overview(results: Evaluation, compared: Evaluation) -> Section:
    runs = plural(len(results.records), "run")
    text = (
        f"{plural(len(main_methods(results)), 'method')} on {plural(len(results.networks), 'network')}, "
        f"{runs}. Every method answers the same queries from the same uniformly random starts, and the best "
        "score so far is what counts."
    )
    methods = [overview_table(compared)] if compared.records else []
    return Section("overview", "Methods and networks", text, [*methods, networks_table(results)])


def _wins(results: Evaluation) -> Section:
    plots, tables = list[Plot](), list[Table]()
    strongest = comparisons.baselines(results)[-1:]
    for baseline in comparisons.baselines(results):
        for kind in KINDS:
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
    return Section("weights", "Weight of the guide", text, plots=[*drawings.weight_plots(results)])


def _anytime(results: Evaluation) -> Section:
    text = (
        "Median gap to the best known score, over steps and over wall-clock time; the band holds the middle "
        "half of the queries. Both axes are logarithmic, the vertical one down to 0.01 %. A curve that "
        "begins late begins with a dot, when half of the queries have an answer. Where a method knows upper "
        "bounds, one more plot has its mean score, and as a band how much higher optima can be on average."
    )
    return Section("anytime", "Anytime curves", text, plots=[*drawings.anytime_plots(results)])


def _wall_clock(results: Evaluation) -> Section:
    text = "The same wall-clock time for everyone, other solvers included."
    budgets = results.second_budgets if results.records else []
    if not budgets or len(results.networks) == 1:
        by_time = [comparisons.budget_table(results, results.networks[0], "second")] if budgets else []
        return Section("wall-clock", "Wall clock", text, by_time)
    *earlier, last = [gap_table(results, "second", budget) for budget in budgets]
    if "greedy" in results.methods and len(main_methods(results)) > 1:
        earlier.append(wall_clock_table(results, "greedy", budgets[-1]))
    return Section("wall-clock", "Wall clock", text, [last], folded=earlier)


def _targets(results: Evaluation) -> Section:
    text = "How long it takes to be nearly as good as the best that anyone found."
    return Section("targets", "Time to target", text, [target_table(results)] if results.records else [])


def _speed(results: Evaluation) -> Section:
    table = step_time_table(results)
    text = "What one step (one flip) costs, the guide's share included where there is one."
    return Section("speed", "Time per step", text, folded=[table] if len(table.columns) > 1 else [])


def _training(results: Evaluation) -> Section:
    guides = {name: facts.get("guide") or {} for name, facts in results.run["networks"].items()}
    histories = {name: guide["history"] for name, guide in guides.items() if guide.get("history")}
    plots = [drawings.history_plot(name, history) for name, history in histories.items()]
    return Section("training", "Training", "Loss of every epoch of the guide's training.", plots=plots)


class Budget(NamedTuple):
    """A budget with its unit."""

    kind: Kind
    amount: float

    def __str__(self) -> str:
        return duration(self.amount) if self.kind == "second" else f"{int(self.amount):,} steps"


def verdict(results: Evaluation) -> list[str]:
    """Sentences, the most important first; none without a run or a budget."""
    kind: Kind = "second" if results.second_budgets else "step"
    budgets = [Budget(kind, amount) for amount in results.budgets(kind)]
    if not budgets or not main_methods(results):
        return []
    told = [_best_scores(results, budgets[-1]), _proofs(results), _zeros(results)]
    told += [_guided(results, method, budgets) for method in main_methods(results)]
    return [sentence for sentence in told if sentence]


def _best_scores(results: Evaluation, last: Budget) -> str:
    """On how many queries each method ends with the best score that is known."""
    counts = {method: _reached(results, method) for method in main_methods(results)}
    (leader, (hits, total)), *others = sorted(counts.items(), key=lambda item: -_share(item[1]))
    rest = ", ".join(f"{method} on {count:,}" for method, (count, _) in others)
    best = f"After {last}, {leader} has the best known score on {hits:,} of {plural(total, 'query')}"
    return f"{best}; {rest}." if rest else f"{best}."


def _reached(results: Evaluation, method: str) -> tuple[int, int]:
    """How many runs ended with the best known score, of how many."""
    found = [
        is_tie(results.final_scores(network, method), results.best(network)[None]).ravel()
        for network in results.networks
        if results.runs(network, method)
    ]
    return int(sum(map(np.sum, found))), sum(map(len, found))


def _share(counted: tuple[int, int]) -> float:
    return counted[0] / max(1, counted[1])


def _proofs(results: Evaluation) -> str:
    runs = {method: [run for run in results.records if run.method == method] for method in results.methods}
    counts = {method: sum(run.proved for run in found) for method, found in runs.items()}
    proved = [
        f"{method} proved {count:,} of {len(runs[method]):,}" for method, count in counts.items() if count
    ]
    if not proved:
        return "No answer is proved optimal."
    gaps = np.concatenate([results.bound_gaps(network) for network in results.networks])
    close, others = int(((gaps > 0) & (gaps <= CLOSE)).sum()), int((gaps > 0).sum())
    bound = (
        f" Of {plural(others, 'query')} without any proof {close:,} are within {CLOSE:g} % of the optimum."
    )
    return f"Proofs of optimality: {', '.join(proved)} answers.{bound if close else ''}"


def _zeros(results: Evaluation) -> str:
    counts = {
        method: sum(run.zeros > 0 for run in results.records if run.method == method)
        for method in main_methods(results)
    }
    named = [f"{method} on {count:,}" for method, count in counts.items() if count]
    return f"Answers with probability zero remain: {', '.join(named)}." if named else ""


def _guided(results: Evaluation, method: str, budgets: list[Budget]) -> str:
    """Up to which budget a guided method is ahead of the search that it guides."""
    rival = _rival(results, method)
    if rival is None:
        return ""
    states = [(budget, _state(results, method, rival, budget)) for budget in budgets]
    parts: list[str] = []
    for state, group in groupby(states, key=lambda one: one[1]):
        places = [budget for budget, _ in group]
        when = f"at {places[0]}" if len(places) == 1 else f"from {places[0]} to {places[-1]}"
        parts.append(f"{state} {rival} {when}" if not parts else f"{state.split()[0]} {when}")
    return f"{method} is {', '.join(parts)}."


def _rival(results: Evaluation, method: str) -> str | None:
    """The search that a method guides; of the tuned guide, the best unguided one."""
    if method == TUNED:
        unguided = [m for m in main_methods(results) if m in STRATEGIES]
        return max(unguided, key=lambda one: _share(_reached(results, one)), default=None)
    baseline = results.baselines.get(method)
    return baseline if baseline in results.methods else None


def _state(results: Evaluation, method: str, rival: str, budget: Budget) -> str:
    wins = [
        win_percentage(*(results.scores(n, one, budget.kind, budget.amount) for one in (method, rival)))
        for n in results.networks
    ]
    share = float(np.nanmean(wins))
    return "ahead of" if share > LEVEL[1] else "behind" if share < LEVEL[0] else "level with"
