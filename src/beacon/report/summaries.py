"""Tables of where the methods stand: gaps to the best known, wall clock, time per step and to a target."""

from __future__ import annotations

import numpy as np

from beacon.evaluation.evaluation import Evaluation, Kind
from beacon.evaluation.metrics import Floats, gaps, improvements, mean_of, seconds_per_step
from beacon.evaluation.records import Record
from beacon.model.ties import is_tie
from beacon.report.comparisons import percent_cell
from beacon.report.naming import amount, busy, main_methods, plural, short_name
from beacon.report.tables import Cell, Table, digits_of, duration, label, mark_best, number, written

TARGET_PERCENT = 1.0


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
                _bound_cell(results.bound_gaps(network)),
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


def _bound_cell(gaps: Floats) -> Cell:
    known = gaps[np.isfinite(gaps)]
    return number(float(known.mean()) if len(known) else np.nan, 3)


def overview_table(results: Evaluation) -> Table:
    """One row a method, over all networks."""
    kinds: list[tuple[Kind, float]] = [
        (kind, results.budgets(kind)[-1]) for kind in ("step", "second") if results.budgets(kind)
    ]
    columns = ["method"]
    for kind, budget in kinds:
        unit = " steps" if kind == "step" else ""
        columns += [f"gap after {amount(kind, budget)}{unit}, %"]
    columns += ["best known reached, %", "with zero factors, %", "proved, %", "per step"]
    rows = [[label(method), *_overview(results, method, kinds)] for method in main_methods(results)]
    for column in range(1, 1 + len(kinds)):
        for row, cell in zip(rows, mark_best([row[column] for row in rows], largest=False), strict=True):
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
    cells.append(Cell(duration(step), step if np.isfinite(step) else str(step)))
    return cells


def gap_table(results: Evaluation, kind: Kind, budget: float) -> Table:
    """Gap to the best known score of every network and method at one budget."""
    methods = main_methods(results)
    rows = []
    for network in results.networks:
        best = results.best(network)[None]
        means = [mean_of(gaps(results.scores(network, method, kind, budget), best)) for method in methods]
        cells = [_gap_cell(mean.mean, mean.std, mean.num_infinite) for mean in means]
        rows.append((label(short_name(results, network)), *mark_best(cells, largest=False)))
    unit = f"{amount(kind, budget)} steps" if kind == "step" else amount(kind, budget)
    return Table(
        f"gap-after-{amount(kind, budget).replace(',', '').replace(' ', '')}-{kind}s",
        f"Gap to the best known after {unit}, %",
        ("network", *methods),
        tuple(rows),
        "Mean ± standard deviation over queries; “+k”: k queries without an answer are not in the mean.",
    )


def _gap_cell(mean: float, std: float, num_infinite: int) -> Cell:
    if not np.isfinite(mean):
        return number(np.inf if num_infinite else np.nan)
    extra = f" +{num_infinite}" if num_infinite else ""
    digits = 1 + digits_of(mean) if mean < 1000 else 0
    return Cell(written(mean, digits), mean, detail=f"± {written(std, digits)}{extra}")


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
        rows.append((label(short_name(results, network)), *mark_best(cells)))
    return Table(
        f"wall-clock-over-{baseline}",
        f"Improvement over {baseline} after {amount('second', budget)} of wall-clock time, %",
        ("network", *methods),
        tuple(rows),
        "Mean over queries with the 95 % bootstrap interval; all had the same time, set-up included. "
        "−∞: no answer to any query; “+k”: none to k of them.",
    )


def target_table(results: Evaluation, percent: float = TARGET_PERCENT) -> Table:
    """Median time until the score is within ``percent`` of the best known."""
    methods = main_methods(results)
    rows = []
    for network in results.networks:
        cells = [_target_cell(results, network, method, percent) for method in methods]
        rows.append((label(short_name(results, network)), *mark_best(cells, largest=False)))
    return Table(
        "time-to-target",
        f"Time to come within {percent:g} % of the best known",
        ("network", *methods),
        tuple(rows),
        "Median over queries (∞: more than half never got there), and the share of queries that did.",
    )


def _target_cell(results: Evaluation, network: str, method: str, percent: float) -> Cell:
    seconds = results.times_to_target(network, method, percent, "second").ravel()
    seconds = seconds[~np.isnan(seconds)]
    if not len(seconds):
        return number(np.nan)
    middle = float(np.quantile(seconds, 0.5, method="higher"))
    share = 100 * np.isfinite(seconds).mean()
    value = middle if np.isfinite(middle) else str(middle)
    return Cell(duration(middle), value, detail=f"({share:.0f} %)")


def step_time_table(results: Evaluation) -> Table:
    """Time of one step, in microseconds."""
    methods = [m for m in main_methods(results) if any(run.steps for run in _all_runs(results, m))]
    rows = []
    for network in results.networks:
        cells = []
        for method in methods:
            runs = results.runs(network, method)
            mean = seconds_per_step([run.seconds for run in runs], [run.steps for run in runs])
            cell = Cell(written(1e6 * mean.mean), 1e6 * mean.mean, detail=f"± {written(1e6 * mean.std)}")
            cells.append(cell if mean.num_finite else number(np.nan))
        rows.append((label(short_name(results, network)), *mark_best(cells, largest=False)))
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


def _all_runs(results: Evaluation, method: str) -> list[Record]:
    return [run for network in results.networks for run in results.runs(network, method)]
