"""Models of many values and of wide factors: the mix, now and before, beside GLS+ and others.

    python benchmarks/domains.py --data DATA --old OLD/src --programs BIN    searches, all methods in turn
    python benchmarks/domains.py --tables                                    only writes the tables

The tables are those of research/domains.md, from results/domains.csv. A run goes on where its file ends. A
model dense-M-D has M random pairs of 60 variables of D values, wide-M-A-D has M random scopes of A variables;
the log-potentials are normal, and every query has a model of its own. Other names are those of published
models. Every version has a process of its own, which searches a model once before the clock counts. BIN holds
gls_reference, a plain C++ GLS+.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from common import load
from pages import ROOT, markdown, rows_of, updated

import beacon
from beacon.formats import write_evidence, write_model
from beacon.model.factors import Factors
from beacon.model.flat import compile_model

PAGE, RESULTS = ROOT / "research" / "domains.md", ROOT / "results" / "domains.csv"
GENERATED = ("dense-600-20", "dense-1700-20", "dense-1000-50", "dense-1700-100", "wide-200-6-4")
PUBLISHED = ("ProteinFolding_23", "ObjectDetection_11", "ObjectDetection_15")
PAPER = ("1405.wcsp", "rus_50_100_4_1", "le450_5a_4.wcsp", "grid80x80.f10")
NUM_VARIABLES = 60
MARKS = ("0.03", "0.1", "1.0", "3.0")
METHODS = ("auto", "gls+", "auto, old", "c++ gls+", "toulbar2")
OTHERS = ("c++ gls+", "toulbar2")  # from a second on: they read a model each time
MOST_FOR_OTHERS = 3_000_000  # table entries
FIELDS = ("network", "query", "method", "mark", "score", "steps")
OBSERVED = 0.1  # of the variables, in a query on a generated model
Row = dict[str, Any]
Problem = tuple[beacon.GraphicalModel, dict[int, int]]


def generated(name: str, seed: int) -> Problem:
    """A random model, named by its sizes, and a query on it: the same under every version."""
    kind, *numbers = name.split("-")
    count, arity, domain = map(int, numbers if kind == "wide" else [numbers[0], "2", numbers[1]])
    rng, sizes = np.random.default_rng(seed), [domain] * NUM_VARIABLES
    if kind == "dense":
        pairs = np.stack(np.triu_indices(NUM_VARIABLES, 1), axis=1)
        scopes = pairs[np.sort(rng.choice(len(pairs), count, replace=False))]
    else:
        scopes = np.stack([rng.choice(NUM_VARIABLES, arity, replace=False) for _ in range(count)])
    tables = rng.standard_normal((count, *[domain] * arity))
    observed = rng.choice(NUM_VARIABLES, round(OBSERVED * NUM_VARIABLES), replace=False)
    evidence = {int(i): int(rng.integers(domain)) for i in observed}
    return beacon.GraphicalModel.from_factors(Factors.of_blocks(sizes, (scopes, tables))), evidence


def problem_of(data: Path | None, job: Row) -> Problem:
    """Model and evidence: a model of its own for every query, or sampled queries on a published one."""
    name, number = job["network"], int(job["query"])
    if name.partition("-")[0] in {"dense", "wide"}:
        return generated(name, number)
    assert data is not None, "published models need --data"
    model, evidences = load(data, name, number + 1, 0)
    return model, evidences[number]


def search(problem: Problem, job: Row) -> Row:
    """One search by Beacon, in the version that was imported."""
    stop, chosen = beacon.MaxRuntime(float(job["mark"])), job["method"].partition(",")[0]
    result = beacon.solve(*problem, strategy=chosen, stop=stop, seed=int(job["query"]))
    return {**job, "score": f"{result.floored_log_score:.10g}", "steps": result.steps}


def serve(data: Path | None) -> None:
    """A child: a job a line in, its row out."""
    key, problem = None, None
    for line in sys.stdin:
        job = json.loads(line)
        if key != (job["network"], job["query"]):
            key, problem = (job["network"], job["query"]), problem_of(data, job)
            for method in ("auto", "gls+"):
                search(problem, {**job, "method": method, "mark": "0.5"})  # what is loaded or found out once
        assert problem is not None
        print(json.dumps(search(problem, job)), flush=True)


def new_child(data: Path | None, source: Path | None) -> subprocess.Popen[str]:
    """A process with Beacon from these sources, or from where this process has it."""
    env = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if source:
        env["PYTHONPATH"] = str(source.resolve())
    command = [sys.executable, __file__, "--serve", *(["--data", str(data)] if data else [])]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(child: subprocess.Popen[str], job: Row) -> Row:
    """Let a child search."""
    _pipe(child.stdin).write(json.dumps(job) + "\n")
    _pipe(child.stdin).flush()
    row: Row = json.loads(_pipe(child.stdout).readline())
    return row


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def run_program(program: Path, problem: Problem, job: Row) -> Row:
    """The same by the C++ program, with the weight that GLS+ has here; reading the model is not counted."""
    model, evidence = problem
    weight = beacon.GlsPlus().fitted(compile_model(model)).penalty_weight
    with tempfile.TemporaryDirectory() as folder:
        file, given = Path(folder) / "model.uai", Path(folder) / "query.evid"
        write_model(model, file)
        write_evidence(given, evidence)
        command = [program.resolve(), file, given, 10**12, job["mark"], weight, int(job["query"]) + 1]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return {**job, "score": f"{told['floored_log_score']:.10g}", "steps": told["steps"]}


def run_toulbar2(problem: Problem, job: Row) -> Row:
    """The same by toulbar2, which counts whole seconds by its own clock; no score if it finds nothing."""
    from toulbar2 import solve_with_toulbar2  # noqa: PLC0415

    assignment, _ = solve_with_toulbar2(*problem, int(float(job["mark"])))
    score = "" if assignment is None else f"{problem[0].log_score(assignment):.10g}"
    return {**job, "score": score, "steps": ""}


def run(args: argparse.Namespace) -> None:
    """Make the searches that are missing, all methods of a query in turn."""
    rows = rows_of(args.output) if args.output.exists() else []
    done = {tuple(row[name] for name in FIELDS[:4]) for row in rows}
    if not rows:
        args.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    children = {"": new_child(args.data, None)}
    if args.old:
        children["old"] = new_child(args.data, args.old)
    try:
        for query in map(str, range(args.queries)):
            for name in args.models:
                jobs = [
                    {"network": name, "query": query, "method": method, "mark": mark}
                    for mark in args.marks
                    for method in args.methods
                    if (name, query, method, mark) not in done
                ]
                _run_jobs(args, jobs, children)
    finally:
        for child in children.values():
            child.kill()


def _run_jobs(args: argparse.Namespace, jobs: list[Row], children: dict[str, subprocess.Popen[str]]) -> None:
    """The searches of one query."""
    problem = problem_of(args.data, jobs[0]) if jobs else None
    for job in jobs:
        assert problem is not None
        is_other = job["method"] in OTHERS
        if is_other and (float(job["mark"]) < 1 or problem[0].num_entries > MOST_FOR_OTHERS):
            continue
        if not is_other:
            row = ask(children[job["method"].partition(", ")[2]], job)
        elif job["method"] == "toulbar2":
            row = run_toulbar2(problem, job)
        else:
            row = run_program(args.programs / "gls_reference", problem, job)
        with args.output.open("a", encoding="utf-8", newline="") as out:
            csv.DictWriter(out, FIELDS, lineterminator="\n").writerow(row)


Found = dict[str, dict[str, dict[str, float]]]
"""Numbers by method, mark and query."""


def found_on(rows: list[dict[str, str]], network: str, column: str) -> Found:
    """Scores or steps on a network."""
    found: Found = {}
    for row in rows:
        if row["network"] == network and row[column]:
            of_mark = found.setdefault(row["method"], {}).setdefault(row["mark"], {})
            of_mark[row["query"]] = float(row[column])
    return found


def ahead(scores: Found, method: str, mark: str) -> str:
    """How far a method is ahead of the mix as it was, in per cent of the score, with its standard error."""
    ours, old = scores.get(method, {}).get(mark, {}), scores["auto, old"][mark]
    leads = [100 * (ours[q] - old[q]) / max(1e-9, abs(old[q])) for q in ours]
    if len(leads) < 2:
        return "-"
    return f"{statistics.fmean(leads):+.2f} ± {statistics.stdev(leads) / len(leads) ** 0.5:.2f}"


def score_table(rows: list[dict[str, str]], networks: Sequence[str], methods: Sequence[str]) -> str:
    """A line for each network and method."""
    lines = []
    for network in networks:
        scores = found_on(rows, network, "score")
        marks = [mark for mark in MARKS if mark in scores["auto, old"]]
        for method in (name for name in methods if name in scores):
            count = str(max(map(len, scores[method].values())))
            lines.append([network, method, count, *(ahead(scores, method, mark) for mark in marks)])
    return markdown(["network", "method", "queries", *(f"{float(mark):g} s" for mark in marks)], lines)


def steps_table(rows: list[dict[str, str]]) -> str:
    """Mean steps in a second."""
    methods, lines = ("gls+", "auto", "auto, old", "c++ gls+"), []
    for network in (*GENERATED, *PUBLISHED):
        steps = found_on(rows, network, "steps")
        means = [steps.get(method, {}).get("1.0", {}).values() for method in methods]
        lines.append([network, *(f"{statistics.fmean(mean):,.0f}" if mean else "-" for mean in means)])
    return markdown(["network", *methods], lines)


def page() -> str:
    """The page with its tables made anew."""
    rows = rows_of(RESULTS)
    made = {
        "domains scores": lambda: score_table(rows, (*GENERATED, *PUBLISHED), ("auto", "gls+", *OTHERS)),
        "domains steps": lambda: steps_table(rows),
        "domains paper": lambda: score_table(rows, PAPER, ("auto",)),
    }
    return updated(PAGE.read_text(encoding="utf-8"), made)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("BEACON_BENCHMARKS"))
    parser.add_argument("--models", nargs="+", default=[*GENERATED, *PUBLISHED])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--marks", nargs="+", default=list(MARKS))
    parser.add_argument("--queries", type=int, default=4)
    parser.add_argument("--old", type=Path, help="sources of the version to compare with")
    parser.add_argument("--programs", type=Path, help="folder with gls_reference")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--tables", action="store_true", help="only write the tables")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.data)
        return
    if not args.tables:
        run(args)
    if args.output == RESULTS:
        PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
