"""The methods without a guide after ten seconds, one search at a time: rows for clock_tables.py.

    python benchmarks/clock.py --data DATA --out ROWS.csv --daoopt PROGRAM

The queries are those of ``reproduce.py --race``: the first of twenty sampled with seed 0. Every method has
the same processor time: Beacon's clock is exchanged, toulbar2 counts its own, daoopt is ended by the system.
Evidence is propagated. Rows that ROWS.csv has are not made again.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arms_table import SEARCHED, read_rows
from common import load_model, options
from curves import follow_ours
from toulbar2 import follow_toulbar2

import beacon
from beacon.model.flat import DEFAULT_LOG_ZERO
from beacon.peers.daoopt import Daoopt

OURS = ("greedy", "gls+", "auto")
METHODS = (*OURS, "toulbar2", "toulbar2 vns", "daoopt")
FIELDS = ("network", "query", "method", "limit", "mark", "score", "proof")
SAMPLED = 20
Row = dict[str, Any]


def ask(method: str, model: beacon.GraphicalModel, evidence: Mapping[int, int], args: Any) -> Row:
    """The score after the whole time, None without an assignment, and what proved it."""
    if method == "daoopt":
        return ask_daoopt(model, evidence, args)
    if method in OURS:
        curve = follow_ours(model, evidence, method, args.seconds, float("inf"), args.seed)
        return {"score": curve.points[-1][1], "proof": "beacon" if curve.proved else ""}
    found, proved = follow_toulbar2(model, evidence, args.seconds, vns=method == "toulbar2 vns")
    return {"score": found[-1][1] if found else None, "proof": "toulbar2" if proved else ""}


def ask_daoopt(model: beacon.GraphicalModel, evidence: Mapping[int, int], args: Any) -> Row:
    """daoopt knows no limit, so a script limits its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "daoopt"
        program = args.daoopt.resolve()
        script.write_text(f'#!/bin/sh\nulimit -t {args.seconds}\nexec {program} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
        answer = Daoopt(str(script)).solve(model, evidence, 20.0 * args.seconds)
    if answer.assignment is None:
        return {"score": None, "proof": ""}
    score = model.floored_log_score(answer.assignment, DEFAULT_LOG_ZERO)
    return {"score": score, "proof": "daoopt" if answer.proved_optimal else ""}


def rows_left(args: argparse.Namespace, done: set[tuple[str, str, str]]) -> Iterator[Row]:
    """A row for each search that has not been made, a query on each network in turn."""
    models = {network: load_model(args.data, network) for network in args.models}
    sampled = {network: beacon.sample_queries(model, SAMPLED, 0) for network, model in models.items()}
    for k in range(args.queries):
        for network, model in models.items():
            for method in args.methods:
                if (network, str(k), method) not in done:
                    times = {"limit": float(args.seconds), "mark": float(args.seconds)}
                    answer = ask(method, model, sampled[network].evidence(k), args)
                    yield {"network": network, "query": k, "method": method, **times, **answer}


def main() -> None:
    parser = options(__doc__, SEARCHED)
    parser.set_defaults(queries=5, seed=1)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seconds", type=int, default=10, help="of processor time, for each search")
    parser.add_argument("--daoopt", type=Path, help="the program; without it daoopt is left out")
    parser.add_argument("--out", type=Path, required=True, help="CSV, appended to")
    args = parser.parse_args()
    args.methods = [name for name in args.methods if name != "daoopt" or args.daoopt]
    rows = read_rows(args.out)
    with args.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not rows:
            writer.writeheader()
        for row in rows_left(args, {(row["network"], row["query"], row["method"]) for row in rows}):
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()
