"""Tables of a report: against baselines and against the best known, by time, per step and to a target."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.table import Table as RichTable

from beacon.errors import plural
from beacon.evaluation.evaluation import KINDS, Evaluation, Kind
from beacon.evaluation.metrics import (
    Floats,
    Mean,
    bootstrap_interval,
    gaps,
    improvements,
    mean_of,
    seconds_per_step,
    win_percentage,
    win_points,
)
from beacon.model.ties import is_tie
from beacon.report.tables import (
    NOTHING,
    Cell,
    Table,
    amount,
    as_rich,
    busy,
    digits_of,
    duration,
    label,
    main_methods,
    mark_best,
    number,
    short_name,
    written,
)

BASELINES = ("greedy", "gls+")
TARGET_PERCENT = 1.0


def compared(results: Evaluation, baseline: str) -> list[str]:
    """The methods that are shown against a baseline: all others, without the variants of a λ sweep.

    GLS+ is the stronger baseline: that Greedy loses to it is shown once, the other way round.
    """
    left_out = {baseline, "greedy"} if baseline == "gls+" else {baseline}
    others = [method for method in main_methods(results) if method not in left_out]
    return [method for method in others if results.baselines.get(method) in {None, baseline}]


def baselines(results: Evaluation) -> list[str]:
    """The baselines that were measured and have something to be compared with."""
    return [name for name in BASELINES if name in results.methods and compared(results, name)]


def win_matrix(results: Evaluation, method: str, baseline: str, kind: Kind) -> Floats:
    """[networks, budgets] win percentage against the baseline; nan where one was not measured."""

    def wins(network: str, budget: float) -> float:
        scores, others = (results.scores(network, name, kind, budget) for name in (method, baseline))
        return win_percentage(scores, others)

    return np.array([[wins(network, b) for b in results.budgets(kind)] for network in results.networks])


def win_table(results: Evaluation, baseline: str, kind: Kind) -> Table:
    """Win percentages of all methods, with the green and red of a heatmap."""
    note = "A win counts 1, a tie ½, a loss 0; in brackets the 95 % bootstrap interval over queries."
    return _table(results, baseline, kind, "wins", "Wins", _win_cell, note)


def improvement_table(results: Evaluation, baseline: str, kind: Kind) -> Table:
    """Mean improvement in percent of the baseline's score."""
    note = (
        "Mean over queries of (score − baseline) / |baseline| · 100, with the 95 % bootstrap interval. "
        "“+k”: k queries without a finite quotient (no answer, a baseline of 0) are not in the mean."
    )
    return _table(
        *(results, baseline, kind, "improvement", "Improvement"),
        lambda scores, baselines: percent_cell(improvements(scores, baselines)),
        note,
    )


def _table(
    results: Evaluation,
    baseline: str,
    kind: Kind,
    key: str,
    title: str,
    cell_of: Callable[[Floats, Floats], Cell],
    note: str,
) -> Table:
    """A row for each network and method, a column for each budget; rows without a number are left out."""
    rows = []
    for network in results.networks:
        for method in compared(results, baseline):
            cells = [
                cell_of(results.scores(network, method, kind, b), results.scores(network, baseline, kind, b))
                for b in results.budgets(kind)
            ]
            if any(cell.text != NOTHING for cell in cells):
                rows.append((label(short_name(results, network)), label(method), *cells))
    return Table(
        f"{key}-over-{baseline.replace('+', 'plus')}-{kind}s",
        f"{title} over {baseline}, %, by {kind}s",
        ("network", "method", *(amount(kind, budget) for budget in results.budgets(kind))),
        tuple(rows),
        note,
        num_labels=2,
    )


def _win_cell(scores: Floats, baselines: Floats) -> Cell:
    points = win_points(scores, baselines)
    mean = mean_of(points)
    if not mean.num_finite:
        return number(np.nan)
    low, high = bootstrap_interval(100 * points)
    detail = f"[{written(low, 0)}, {written(high, 0)}]"
    return Cell(written(100 * mean.mean, 0), 100 * mean.mean, shade=2 * mean.mean - 1, detail=detail)


def percent_cell(values: Floats) -> Cell:
    """Mean of percentages with its interval, and how many were not finite."""
    mean = mean_of(values)
    if not mean.num_finite:
        return infinite_cell(values)
    low, high = bootstrap_interval(values)
    digits = digits_of(mean.mean)
    detail = f"[{written(low, digits)}, {written(high, digits)}]{left_out(mean)}"
    shade = float(np.clip(mean.mean / 20, -1, 1))
    return Cell(written(mean.mean, digits), mean.mean, shade=shade, detail=detail)


def infinite_cell(values: Floats) -> Cell:
    """A cell of values of which none is finite: the sign that most of the infinite ones have."""
    extremes = values[np.isinf(values)]
    return number(float(np.sign(extremes.sum()) * np.inf) if len(extremes) else np.nan)


def left_out(mean: Mean) -> str:
    """How many values are not in a mean."""
    return f" +{mean.num_infinite}" if mean.num_infinite else ""


def difference_tables(results: Evaluation) -> list[RichTable]:
    """For the terminal: how far each method is below the best known score, by steps and by time."""
    shared = results.shared
    kinds = [kind for kind in KINDS if shared.budgets(kind)] if shared.records else []
    return [as_rich(budget_table(shared, shared.networks[0], kind)) for kind in kinds]


def budget_table(results: Evaluation, network: str, kind: Kind) -> Table:
    """Mean difference to the best known log score of each query: a row a method, a column a budget."""
    methods, best = main_methods(results), results.best(network)[None]
    columns = [
        mark_best([_difference_cell(best - results.scores(network, m, kind, budget)) for m in methods])
        for budget in results.budgets(kind)
    ]
    rows = [(label(method), *(column[k] for column in columns)) for k, method in enumerate(methods)]
    headings = [amount(kind, b) if kind == "step" else duration(b) for b in results.budgets(kind)]
    return Table(
        f"differences-{kind}s",
        f"Below the best known, by {'steps' if kind == 'step' else 'time'}",
        ("method", *headings),
        tuple(rows),
        f"Difference of log scores, mean over {len(results.queries(network)):,} test queries; 0 is best.",
    )


def _difference_cell(differences: Floats) -> Cell:
    mean = mean_of(differences)
    if not mean.num_finite:
        return infinite_cell(differences)
    return Cell(written(mean.mean, digits_of(mean.mean)), mean.mean, detail=left_out(mean).strip())


def networks_table(results: Evaluation) -> Table:
    """What was searched."""
    rows = []
    for network in results.networks:
        facts = results.run["networks"].get(network, {})
        stands_in = facts.get("stands_in_for")
        rows.append(
            (
                label(short_name(results, network)),
                label(network + (f" (stands in for {stands_in})" if stands_in else "")),
                number(facts.get("variables", np.nan), 0),
                number(facts.get("factors", np.nan), 0),
                number(facts.get("max_domain", np.nan), 0),
                number(100 * facts.get("zero_fraction", np.nan), 1),
                number(facts.get("log_zero", np.nan), 0),
                number(len(results.queries(network)), 0),
                number(100 * float(np.mean(results.is_proved(network))), 1),
                number(mean_of(results.bound_gaps(network)).mean, 3),
            )
        )
    columns = (
        *("network", "file", "variables", "factors", "max domain", "zeros, %", "log zero", "queries"),
        *("proved, %", "gap at most, %"),
    )
    note = (
        "“log zero” is what a zero potential counts in floored scores; all scores here are floored. Where "
        "some method has proved its answer optimal, gaps are to the optimum; elsewhere to the best known, "
        "which is below the optimum by no more than the last column says: the mean over the queries that "
        "have an upper bound."
    )
    return Table("networks", "Networks", columns, tuple(rows), note, num_labels=2)


def overview_table(results: Evaluation) -> Table:
    """One row a method, over all networks."""
    kinds = [(kind, results.budgets(kind)[-1]) for kind in KINDS if results.budgets(kind)]
    columns = ["method"]
    for kind, budget in kinds:
        unit = " steps" if kind == "step" else ""
        columns += [f"gap after {amount(kind, budget)}{unit}, %"]
    columns += ["best known reached, %", "with zero factors, %", "proved, %", "per step"]
    rows = [[label(method), *_overview(results, method, kinds)] for method in main_methods(results)]
    for column in range(1, 1 + len(kinds)):
        for row, cell in zip(rows, mark_best([row[column] for row in rows]), strict=True):
            row[column] = cell
    note = (
        "The gap is how far the score is below the best that any method found of the same query, in percent "
        "of it: the median over queries, then over networks. The other columns are means."
    )
    return Table("overview", "Methods", tuple(columns), tuple(map(tuple, rows)), note)


def _overview(results: Evaluation, method: str, kinds: list[tuple[Kind, float]]) -> list[Cell]:
    networks = [network for network in results.networks if results.runs(network, method)]
    cells = []
    for kind, budget in kinds:
        per_network = [
            float(np.median(gaps(results.scores(n, method, kind, budget), results.best(n)[None])))
            for n in networks
        ]
        cells.append(number(float(np.median(per_network)), 3))
    finals = [is_tie(results.final_scores(n, method), results.best(n)[None]).mean() for n in networks]
    runs = [run for network in networks for run in results.runs(network, method)]
    cells.append(number(100 * float(np.mean(finals)), 1))
    cells.append(number(100 * float(np.mean([run.zeros > 0 for run in runs])), 1))
    cells.append(number(100 * float(np.mean([run.proved for run in runs])), 1))
    step = seconds_per_step([run.seconds for run in runs], [run.steps for run in runs]).mean
    cells.append(Cell(duration(step), step))
    return cells


def gap_table(results: Evaluation, kind: Kind, budget: float) -> Table:
    """Gap to the best known score of every network and method at one budget."""
    methods = main_methods(results)
    rows = []
    for network in results.networks:
        best = results.best(network)[None]
        cells = [_gap_cell(gaps(results.scores(network, m, kind, budget), best)) for m in methods]
        rows.append((label(short_name(results, network)), *mark_best(cells)))
    unit = f"{amount(kind, budget)} steps" if kind == "step" else amount(kind, budget)
    return Table(
        f"gap-after-{amount(kind, budget).replace(',', '').replace(' ', '')}-{kind}s",
        f"Gap to the best known after {unit}, %",
        ("network", *methods),
        tuple(rows),
        "Mean ± standard deviation over queries; “+k”: k queries without an answer are not in the mean.",
    )


def _gap_cell(values: Floats) -> Cell:
    mean = mean_of(values)
    if not mean.num_finite:
        return infinite_cell(values)
    digits = 1 + digits_of(mean.mean) if mean.mean < 1000 else 0
    return Cell(
        written(mean.mean, digits), mean.mean, detail=f"± {written(mean.std, digits)}{left_out(mean)}"
    )


def wall_clock_table(results: Evaluation, baseline: str, budget: float) -> Table:
    """Improvement over the baseline under one time limit, solvers included: the paper's last table."""
    methods = [method for method in main_methods(results) if method != baseline]
    rows = []
    for network in results.networks:
        reference = results.scores(network, baseline, "second", budget)
        cells = [
            percent_cell(improvements(results.scores(network, m, "second", budget), reference))
            for m in methods
        ]
        rows.append((label(short_name(results, network)), *mark_best(cells, largest=True)))
    return Table(
        f"wall-clock-over-{baseline}",
        f"Improvement over {baseline} after {amount('second', budget)} of wall-clock time, %",
        ("network", *methods),
        tuple(rows),
        "Mean over queries with the 95 % bootstrap interval; all had the same time, set-up included. "
        "−∞: no answer to any query; “+k”: none to k of them.",
    )


def target_table(results: Evaluation) -> Table:
    """Median time until the score is nearly the best known."""
    methods = main_methods(results)
    rows = []
    for network in results.networks:
        cells = [_target_cell(results.times_to_target(network, m, TARGET_PERCENT, "second")) for m in methods]
        rows.append((label(short_name(results, network)), *mark_best(cells)))
    return Table(
        "time-to-target",
        f"Time to come within {TARGET_PERCENT:g} % of the best known",
        ("network", *methods),
        tuple(rows),
        "Median over queries (∞: more than half never got there), and the share of queries that did.",
    )


def _target_cell(times: Floats) -> Cell:
    seconds = times[~np.isnan(times)]
    if not len(seconds):
        return number(np.nan)
    middle = float(np.quantile(seconds, 0.5, method="higher"))
    return Cell(duration(middle), middle, detail=f"({100 * np.isfinite(seconds).mean():.0f} %)")


def step_time_table(results: Evaluation) -> Table:
    """Time of one step, in microseconds."""
    with_steps = {run.method for run in results.records if run.steps}
    methods = [method for method in main_methods(results) if method in with_steps]
    rows = []
    for network in results.networks:
        cells = []
        for method in methods:
            runs = results.runs(network, method)
            mean = seconds_per_step([run.seconds for run in runs], [run.steps for run in runs])
            cell = Cell(written(1e6 * mean.mean), 1e6 * mean.mean, detail=f"± {written(1e6 * mean.std)}")
            cells.append(cell if mean.num_finite else number(np.nan))
        rows.append((label(short_name(results, network)), *mark_best(cells)))
    machine = results.run["sessions"][-1] if results.run["sessions"] else {}
    threads = machine.get("threads", 1)
    return Table(
        "time-per-step",
        "Time per step, µs",
        ("network", *methods),
        tuple(rows),
        f"Mean ± standard deviation over queries; {plural(threads, 'thread')} at once on "
        f"{machine.get('processor', 'an unknown processor')}. Waiting for other programs counts, too: "
        f"{busy(machine)}.",
    )
