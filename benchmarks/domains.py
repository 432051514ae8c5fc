"""Models of many values and of wide factors: the mix, now and before, beside GLS+ and others.

    python benchmarks/domains.py --data DATA --old OLD/src --programs BIN    searches, all methods in turn
    python benchmarks/domains.py --tables                                    only writes the tables

The tables are those of research/domains.md, from results/domains.csv. A run goes on where its file ends. A
model dense-M-D has M random pairs of 60 variables of D values, wide-M-A-D has M random scopes of A variables;
the log-potentials are normal. Other names are those of published models. Every version has a process of its
own, which searches a model once before the clock counts. BIN holds gls_reference, a plain C++ GLS+.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from common import load_model
from pages import ROOT, rows_of

import beacon
from beacon.formats import write_evidence, write_model
from beacon.model.factors import Factors
from beacon.model.flat import compile_model

PAGE, RESULTS = ROOT / "research" / "domains.md", ROOT / "results" / "domains.csv"
GENERATED = ("dense-600-20", "dense-1700-20", "dense-1000-50", "dense-1700-100", "wide-200-6-4")
PUBLISHED = ("ProteinFolding_11", "ProteinFolding_23", "ObjectDetection_11", "ObjectDetection_15")
NUM_VARIABLES = 60
MARKS = ("0.03", "0.1", "1.0", "3.0")
METHODS = ("auto", "gls+", "auto, old", "c++ gls+", "toulbar2")
FIELDS = ("network", "query", "method", "mark", "score", "steps")
OBSERVED = 0.1  # of the variables, in a query
Row = dict[str, Any]


def generated(name: str) -> beacon.GraphicalModel:
    """A random model, named by its sizes: the same under every version."""
    kind, *numbers = name.split("-")
    count, arity, domain = map(int, numbers if kind == "wide" else [numbers[0], "2", numbers[1]])
    rng, sizes = np.random.default_rng(0), [domain] * NUM_VARIABLES
    if kind == "dense":
        pairs = np.stack(np.triu_indices(NUM_VARIABLES, 1), axis=1)
        scopes = pairs[np.sort(rng.choice(len(pairs), count, replace=False))]
    else:
        scopes = np.stack([rng.choice(NUM_VARIABLES, arity, replace=False) for _ in range(count)])
    tables = rng.standard_normal((count, *[domain] * arity))
    return beacon.GraphicalModel.from_factors(Factors.of_blocks(sizes, (scopes, tables)))


def model_named(data: Path | None, name: str) -> beacon.GraphicalModel:
    """A generated model, or a published one."""
    if name.partition("-")[0] in {"dense", "wide"}:
        return generated(name)
    assert data is not None, "published models need --data"
    return load_model(data, name)


def query_of(model: beacon.GraphicalModel, number: int) -> dict[int, int]:
    """Some variables at random, with random values."""
    rng = np.random.default_rng(number)
    variables = rng.choice(model.num_variables, round(OBSERVED * model.num_variables), replace=False)
    return {int(i): int(rng.integers(model.domain_sizes[i])) for i in variables}


def search(model: beacon.GraphicalModel, job: Row) -> Row:
    """One search by Beacon, in the version that was imported."""
    chosen: Any = job["method"].partition(",")[0]
    if chosen == "gls+ landscape":
        chosen = beacon.GlsPlus(by_landscape=True)
    stop, query = beacon.MaxRuntime(float(job["mark"])), int(job["query"])
    result = beacon.solve(model, query_of(model, query), strategy=chosen, stop=stop, seed=query)
    return {**job, "score": f"{result.floored_log_score:.10g}", "steps": result.steps}


def serve(data: Path | None) -> None:
    """A child: a job a line in, its row out."""
    name, model = "", None
    for line in sys.stdin:
        job = json.loads(line)
        if job["network"] != name:
            name, model = job["network"], model_named(data, job["network"])
            for method in ("auto", "gls+"):
                search(model, {**job, "method": method, "mark": "0.5"})  # what is loaded or found out once
        assert model is not None
        print(json.dumps(search(model, job)), flush=True)


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


def run_program(program: Path, file: Path, model: beacon.GraphicalModel, job: Row) -> Row:
    """The same by the C++ program, with the weight that GLS+ has here."""
    weight = beacon.GlsPlus().fitted(compile_model(model)).penalty_weight
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "query.evid"
        write_evidence(given, query_of(model, int(job["query"])))
        command = [program.resolve(), file, given, 10**12, job["mark"], weight, int(job["query"]) + 1]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    return {**job, "score": f"{told['floored_log_score']:.10g}", "steps": told["steps"]}


def run_toulbar2(model: beacon.GraphicalModel, job: Row) -> Row:
    """The same by toulbar2, which counts whole seconds, by its own clock."""
    from toulbar2 import solve_with_toulbar2  # noqa: PLC0415

    assignment, _ = solve_with_toulbar2(model, query_of(model, int(job["query"])), int(float(job["mark"])))
    score = "" if assignment is None else f"{model.log_score(assignment):.10g}"
    return {**job, "score": score, "steps": ""}


def run(args: argparse.Namespace) -> None:
    """Make the searches that are missing, all methods of a query in turn."""
    rows = rows_of(args.output) if args.output.exists() else []
    done = {tuple(row[name] for name in FIELDS[:4]) for row in rows}
    if not rows:
        args.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    children = {False: new_child(args.data, None)}
    if args.old:
        children[True] = new_child(args.data, args.old)
    try:
        for name in args.models:
            _run_model(args, name, done, children)
    finally:
        for child in children.values():
            child.kill()


def _run_model(args: argparse.Namespace, name: str, done: set[Any], children: Any) -> None:
    model = model_named(args.data, name)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.uai"
        if "c++ gls+" in args.methods:
            write_model(model, file)
        jobs = [
            dict(zip(FIELDS, (name, str(query), method, mark), strict=False))
            for query in range(args.queries)
            for mark in args.marks
            for method in args.methods
            if method != "toulbar2" or float(mark) >= 1
        ]
        for job in jobs:
            if tuple(job.values()) in done:
                continue
            if job["method"] == "toulbar2":
                row = run_toulbar2(model, job)
            elif job["method"] == "c++ gls+":
                row = run_program(args.programs / "gls_reference", file, model, job)
            else:
                row = ask(children[job["method"].endswith(", old")], job)
            with args.output.open("a", encoding="utf-8", newline="") as out:
                csv.DictWriter(out, FIELDS, lineterminator="\n").writerow(row)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("BEACON_BENCHMARKS"))
    parser.add_argument("--models", nargs="+", default=[*GENERATED, *PUBLISHED])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--marks", nargs="+", default=list(MARKS))
    parser.add_argument("--queries", type=int, default=6)
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


if __name__ == "__main__":
    main()
