"""What it is worth to the mix that factors of equal scope are added up first: results/joined.csv.

    python benchmarks/joined.py --data DATA       searches, the two ways in turn, and writes the tables
    python benchmarks/joined.py --data DATA --tables

The tables are those of research/joined.md. A run goes on where its file ends.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import ClassVar

import numpy as np
from common import load, options
from mix_tables import leads, table
from pages import ROOT, markdown, rows_of, updated

import beacon
from beacon.model.flat import compile_model
from beacon.model.join import join_factors

PAGE, RESULTS = ROOT / "research" / "joined.md", ROOT / "results" / "joined.csv"
MODELS = ("wcsp_13", "wcsp_14")  # of all networks here, those with factors of equal scope
MARKS = ("0.03", "0.1", "0.3", "1.0")
FIELDS = ("network", "query", "mark", "now", "before", "steps", "steps_before", "factors", "factors_before")


class Apart(beacon.Auto):
    """The mix with all factors as they are."""

    joins: ClassVar[bool] = False


def run(data: Path, name: str, queries: int, seed: int) -> None:
    """Search every query both ways for every time, and add the rows to the file."""
    done = {(row["network"], row["query"], row["mark"]) for row in rows_of(RESULTS)}
    model, evidences = load(data, name, queries, seed)
    flat = compile_model(model)
    factors = (join_factors(flat).num_factors, flat.num_factors)
    solvers = [beacon.Solver(model, strategy=strategy) for strategy in (beacon.Auto(), Apart())]
    for solver in solvers:
        solver.solve(evidences[0], stop=beacon.MaxRuntime(0.5))  # loads what is loaded once
    for query, evidence in enumerate(evidences):
        for mark in MARKS:
            if (name, str(query), mark) in done:
                continue
            stop = beacon.MaxRuntime(float(mark))
            pair = [solver.solve(evidence, stop=stop) for solver in solvers]
            scores = [f"{result.floored_log_score:.10g}" for result in pair]
            with RESULTS.open("a", encoding="utf-8", newline="") as file:
                row = [name, query, mark, *scores, *(result.steps for result in pair), *factors]
                csv.writer(file, lineterminator="\n").writerow(row)


def steps_table(rows: list[dict[str, str]]) -> str:
    """Factors, and steps in a second, both ways."""
    lines = []
    for network in dict.fromkeys(row["network"] for row in rows):
        own = [row for row in rows if row["network"] == network and row["mark"] == MARKS[-1]]
        means = [np.mean([float(row[column]) for row in own]) for column in ("steps_before", "steps")]
        factors = [own[0]["factors_before"], own[0]["factors"]]
        lines.append([network, *factors, *(f"{mean:,.0f}" for mean in means), f"{means[1] / means[0]:.1f}"])
    header = ["network", "factors", "joined", "steps in 1 s", "joined", "ratio"]
    return markdown(header, lines)


def page() -> str:
    """The page with its tables made anew."""
    rows = rows_of(RESULTS)
    made = {"joined steps": lambda: steps_table(rows), "joined scores": lambda: table(rows, MARKS)}
    return updated(PAGE.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    args = parser.parse_args()
    if not RESULTS.exists():
        RESULTS.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for name in [] if args.tables else args.models:
        run(args.data, name, args.queries, args.seed)
    PAGE.write_text(page(), encoding="utf-8")
    for name in args.models:
        print(name, {mark: round(float(leads(rows_of(RESULTS), name, mark).mean()), 3) for mark in MARKS})


if __name__ == "__main__":
    main()
