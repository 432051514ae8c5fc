"""The mix now and before, each of its arms, the C++ yardsticks and toulbar2, many searches at a time.

    python benchmarks/arms_table.py prepare --data DATA --queries queries.json
    python benchmarks/arms_table.py run --data DATA --queries queries.json --output arms.csv \\
        --workers 14 --minutes 9 --old OLD/src --programs BIN --toulbar2
    python benchmarks/mix_tables.py mix arms.csv

``prepare`` samples queries on the networks that elimination does not solve (and takes the published evidence
of those in uai2014), or on those named. ``run`` gives every worker a core of its own and needs neither a
network nor more packages than searches do; it appends a row for each time mark of each search, so that a
second run goes on where the first one stopped. The mixes are run anew for every time limit, since what they
do depends on it; of the others one search gives the scores at all marks. A zero factor counts -100. Times are
of the clock, or of the processor (``--processor``; the programs are then to be compiled likewise); toulbar2's
are its own, without the start of its process and the handing over of tables. A search ends when it has the
score that an earlier row says is optimal.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic, thread_time
from typing import IO, Any, NamedTuple

SEARCHED = (
    "1405.wcsp",
    "rus_100_200_1_1",
    "wcsp_14",
    "le450_5a_4.wcsp",
    "grid80x80.f10",
    "1407.wcsp",
    "rus_50_100_4_1",
    "rus_20_40_9_3",
    "le450_5a_3.wcsp",
    "le450_5a_2.wcsp",
    "grid40x40.f10",
    "grid40x40.f15.wrap",
    "grid20x20.f5.wrap",
)
MARKS = (0.03, 0.1, 1.0, 10.0)
MIXES = ("auto", "auto, old")
ARMS = ("gls+", "gls+ landscape", "tree")
PROGRAMS = {"c++ gls+": "gls_reference", "c++ tree": "tree_reference"}
OTHERS = (*ARMS, *PROGRAMS, "toulbar2")
PLANS = {
    "mixes": ((MIXES, (0.03, 0.1, 1.0), slice(None)),),
    "methods": ((OTHERS, (1.0,), slice(10)), (OTHERS, (1.0,), slice(10, None))),
    "long": (((*MIXES, *OTHERS), (10.0,), slice(None)),),
    "fresh": (
        (("auto",), (1.0,), slice(None)),
        (ARMS, (1.0,), slice(3)),
        (ARMS, (1.0,), slice(3, None)),
    ),
}
"""Methods, time limits and which of the queries, the most wanted first; fresh: queries used for no choice."""
BLOCK_SECONDS = 25.0  # searches on one network that a worker takes at a time: it reads the network for them
FIELDS = ("network", "query", "method", "limit", "mark", "score", "bound", "proof", "steps", "seconds")
PUBLISHED = "published"  # the name of the query with the published evidence
ZERO = -100.0
ROUNDING = 1e-10  # of a score
GRACE = 0.002  # seconds: an answer is completed when the search is over
Row = dict[str, Any]
Queries = dict[str, dict[str, int]]


class Job(NamedTuple):
    """One search."""

    network: str
    query: str
    method: str
    limit: float


def model_path(data: Path, network: str) -> Path:
    """Where a network's file is."""
    folders = [folder for folder in ("paper", "uai2014") if (data / folder / f"{network}.uai.xz").exists()]
    return data / folders[0] / f"{network}.uai.xz"


def prepare(data: Path, count: int, seed: int, wanted: Sequence[str]) -> dict[str, Queries]:
    """Evidence by network and query, of networks that are wanted; none named: of those that are searched."""
    import beacon  # noqa: PLC0415

    found = {}
    names = sorted(path.name.removesuffix(".uai.xz") for path in (data / "uai2014").glob("*.uai.xz"))
    for network in wanted or (*SEARCHED, *names):
        path = model_path(data, network)
        model = beacon.read_model(path)
        sampled = beacon.sample_queries(model, count, seed)
        queries = {}
        if network in names:
            published = path.with_suffix("").with_suffix(".uai.evid")
            (queries[PUBLISHED],) = beacon.read_evidence(published, model)
        queries |= {str(k): dict(sampled.evidence(k)) for k in range(count)}
        results = beacon.solve_many(model, [] if wanted else [*queries.values()], stop=beacon.MaxRuntime(0.1))
        if wanted or any(result.proof != "elimination" for result in results):
            found[network] = {
                name: {str(variable): int(value) for variable, value in evidence.items()}
                for name, evidence in queries.items()
            }
    return found


def read_rows(path: Path) -> list[Row]:
    """What earlier runs have left."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def blocks_left(
    queries: dict[str, dict[str, Any]], methods: Sequence[str], rows: list[Row], plan: str = "mixes"
) -> Iterator[list[Job]]:
    """What is to be done, the most wanted first: searches on one network by one method at a time."""
    done = {Job(row["network"], row["query"], row["method"], float(row["limit"])) for row in rows}
    for wanted, limits, chosen in PLANS[plan]:
        size = max(1, round(BLOCK_SECONDS / sum(limits)))
        most = max(len(evidences) for evidences in queries.values())
        for first in range(0, most, size):
            for network, evidences in queries.items():
                names = list(evidences)[chosen][first : first + size]
                for method in (name for name in wanted if name in methods):
                    jobs = [Job(network, name, method, limit) for name in names for limit in limits]
                    if left := [job for job in jobs if job not in done]:
                        yield left


def marks_of(job: Job) -> tuple[float, ...]:
    """The times at which a search's score is of interest."""
    return (job.limit,) if job.method in MIXES else tuple(mark for mark in MARKS if mark <= job.limit)


def new_runner(method: str, model: Any) -> Any:
    """What makes the searches of a method, by Beacon in the version that was imported."""
    import beacon  # noqa: PLC0415
    from beacon.runner.runner import Runner  # noqa: PLC0415

    by_landscape = method == "gls+ landscape"
    strategy = beacon.GlsPlus(by_landscape=True) if by_landscape else method.partition(",")[0]
    return Runner(model, strategy, seed=1)


def search(job: Job, runner: Any, evidence: dict[int, int], optimum: float | None = None) -> list[Row]:
    """One search: a row for each mark. It ends when it has the optimum, where that is known."""
    import beacon  # noqa: PLC0415
    from beacon.runner.runner import Query  # noqa: PLC0415

    stop = beacon.MaxRuntime(job.limit)
    if optimum is not None:
        stop = stop | beacon.TargetScore(optimum)
    result = runner.outcome(Query(evidence), [stop])
    trace, floor = result.trace, runner.flat.log_zero
    scores = trace.scores + trace.zero_factors * (ZERO - floor)
    rows = []
    for mark in marks_of(job):
        known = int((trace.seconds <= mark + GRACE).sum())
        rows.append(
            {
                **job._asdict(),
                "mark": mark,
                "score": float(scores[max(known - 1, 0)]),
                "bound": getattr(result, "upper_bound", None),
                "proof": getattr(result, "proof", None),
                "steps": result.steps,
                "seconds": round(result.seconds, 4),
            }
        )
    return rows


def follow_judge(job: Job, model: Any, evidence: dict[int, int]) -> list[Row]:
    """The same by toulbar2."""
    from toulbar2 import follow_toulbar2  # noqa: PLC0415 - few machines have it

    found, proved = follow_toulbar2(model, evidence, round(job.limit))
    rows = []
    for mark in marks_of(job):
        scores = [score for when, score in found if when <= mark]
        row = {**job._asdict(), "mark": mark, "score": scores[-1] if scores else None}
        rows.append({**row, "proof": "toulbar2" if proved else None})
    return rows


def serve(data: Path, queries: dict[str, Queries], clock: Callable[[], float] | None) -> None:
    """A child: a job a line in, its rows out. The first line tells that kernels are ready."""
    import beacon  # noqa: PLC0415
    from beacon.model.families import ising_grid  # noqa: PLC0415

    for method in ("auto", "gls+", "tree"):
        for size in (5, 30):  # solved by elimination, and searched
            search(Job("", "", method, 0.1), new_runner(method, ising_grid(size, size)), {})
    print("[]", flush=True)
    models: dict[str, Any] = {}
    runners: dict[tuple[str, str], Any] = {}
    for line in sys.stdin:
        *about, optimum = json.loads(line)
        job = Job(*about)
        if job.network not in models:
            models[job.network] = beacon.read_model(model_path(data, job.network))
        evidence = {int(variable): value for variable, value in queries[job.network][job.query].items()}
        if job.method == "toulbar2":
            rows = follow_judge(job, models[job.network], evidence)
        else:
            key = job.network, job.method
            if key not in runners:
                runners[key] = new_runner(job.method, models[job.network])
                search(Job("", "", job.method, 0.05), runners[key], {})  # what is found out once per model
            count_time(clock)
            rows = search(job, runners[key], evidence, optimum)
        print(json.dumps(rows), flush=True)


def count_time(clock: Callable[[], float] | None) -> None:
    """Let Beacon read this clock; None: its own. Processor time is that of the one thread that searches."""
    for name, module in list(sys.modules.items()):
        if clock is not None and name.startswith("beacon") and hasattr(module, "perf_counter"):
            module.perf_counter = clock  # type: ignore[attr-defined]


def new_child(arguments: argparse.Namespace, source: Path | None) -> subprocess.Popen[str]:
    """A child with Beacon from these sources, or from where this process has it."""
    own_path = os.environ.get("PYTHONPATH", "")
    env = {**os.environ, "PYTHONPATH": str(source.resolve()) if source else own_path}
    env |= {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "serve", "--data", arguments.data, "--queries", arguments.queries]
    command += ["--processor"] if arguments.processor else []
    return subprocess.Popen(
        [str(word) for word in command], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def await_ready(child: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """Wait until its kernels are there."""
    if not _pipe(child.stdout).readline():
        raise SystemExit("a child did not start; what it says is above")
    return child


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def run_program(job: Job, arguments: argparse.Namespace, evidence: dict[str, int], _: Any) -> list[Row]:
    """The same by a yardstick; the one of tree moves takes factors of two variables only."""
    if job.method == "c++ tree" and not is_pairwise(arguments, job.network):
        return []
    program = (arguments.programs / PROGRAMS[job.method]).resolve()
    is_tree = job.method == "c++ tree"
    rows = []
    for mark in marks_of(job):
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / "query.evid"
            pairs = [f"{variable} {value}" for variable, value in evidence.items()]
            given.write_text(" ".join([str(len(pairs)), *pairs]) + "\n", encoding="utf-8")
            model = plain_model(arguments, job.network)
            tail = [mark, 1, 600, 3] if is_tree else [10**12, mark, 10, 1]
            command = [str(word) for word in (program, model, given, *tail)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=mark + 120)
        score = _score_told(done.stdout, is_tree) if done.returncode == 0 else None
        rows.append({**job._asdict(), "mark": mark, "score": score})
    return rows


def _score_told(output: str, is_tree: bool) -> float | None:
    lines = output.splitlines()
    if not lines:
        return None
    if is_tree:
        return float(lines[-1].partition(" best ")[2].split()[0])
    return float(json.loads(lines[-1])["floored_log_score"])


def plain_model(arguments: argparse.Namespace, network: str) -> Path:
    """The network as a plain file, unpacked once."""
    path: Path = arguments.scratch / f"{network}.uai"
    with arguments.lock:
        if not path.exists():
            path.write_bytes(lzma.decompress(model_path(arguments.data, network).read_bytes()))
    return path


def is_pairwise(arguments: argparse.Namespace, network: str) -> bool:
    """Can the tree yardstick take the network?"""
    words = plain_model(arguments, network).read_text(encoding="utf-8").split("\n\n")[0].split()
    count = int(words[1])
    arities, at = [], 3 + count
    for _ in range(int(words[2 + count])):
        arities.append(int(words[at]))
        at += 1 + arities[-1]
    return max(arities) <= 2


def work(arguments: argparse.Namespace, blocks: Iterator[list[Job]], core: int, queries: Any) -> None:
    """One worker: takes blocks until there are none, and makes the searches that end in time."""
    if not arguments.processor:
        os.sched_setaffinity(0, {core})  # of this thread, and of the children that it starts
    children: dict[str, subprocess.Popen[str]] = {}
    try:
        while (block := next_block(arguments, blocks)) is not None:
            for job in block:
                if monotonic() + job.limit + 1 > arguments.end:
                    break
                is_program = job.method in PROGRAMS
                evidence = queries[job.network][job.query]
                rows = (run_program if is_program else ask_child)(job, arguments, evidence, children)
                append(arguments, rows)
    finally:
        for child in children.values():
            child.kill()


def next_block(arguments: argparse.Namespace, blocks: Iterator[list[Job]]) -> list[Job] | None:
    """The next searches; None where time or work is over."""
    with arguments.lock:
        return None if monotonic() > arguments.end else next(blocks, None)


def ask_child(job: Job, arguments: argparse.Namespace, _: Any, children: Any) -> list[Row]:
    """Let the child of the right version search; no rows if it ends."""
    source = arguments.old if job.method == "auto, old" else None
    if str(source) not in children:
        children[str(source)] = await_ready(new_child(arguments, source))
    child = children[str(source)]
    _pipe(child.stdin).write(json.dumps([*job, known_optimum(arguments.output, job)]) + "\n")
    _pipe(child.stdin).flush()
    line = _pipe(child.stdout).readline()
    if not line:
        del children[str(source)]
    rows: list[Row] = json.loads(line or "[]")
    return rows


def known_optimum(path: Path, job: Job) -> float | None:
    """The score that an earlier search on the same query has proved optimal."""
    for row in read_rows(path):
        is_last = bool(row["proof"]) and row["mark"] == row["limit"]
        if is_last and (row["network"], row["query"]) == (job.network, job.query):
            return float(row["score"]) - ROUNDING * abs(float(row["score"]))
    return None


def append(arguments: argparse.Namespace, rows: list[Row]) -> None:
    """Write rows as they come."""
    with arguments.lock, arguments.output.open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, FIELDS, restval="").writerows(rows)


def run(arguments: argparse.Namespace) -> None:
    """Do what is left, as far as time allows."""
    arguments.end, arguments.lock = monotonic() + 60 * arguments.minutes, threading.Lock()
    queries = json.loads(arguments.queries.read_text(encoding="utf-8"))
    queries = {name: queries[name] for name in arguments.models or queries}
    methods = ["auto", *ARMS]
    methods += ["auto, old"] if arguments.old else []
    methods += list(PROGRAMS) if arguments.programs else []
    methods += ["toulbar2"] if arguments.toulbar2 else []
    rows = read_rows(arguments.output)
    if not rows:
        arguments.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        arguments.scratch = Path(folder)
        blocks = blocks_left(queries, methods, rows, arguments.plan)
        warm = [new_child(arguments, source) for source in {None, arguments.old}]  # compile, once for all
        for child in warm:
            await_ready(child).kill()
        cores = sorted(os.sched_getaffinity(0))
        threads = [
            threading.Thread(target=work, args=(arguments, blocks, cores[k % len(cores)], queries))
            for k in range(arguments.workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{len(read_rows(arguments.output))} rows")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=("prepare", "run", "serve"))
    parser.add_argument("--data", type=Path, default=os.environ.get("BEACON_BENCHMARKS"))
    parser.add_argument("--queries", type=Path, help="JSON: evidence by network and query")
    parser.add_argument("--count", type=int, default=20, help="queries to sample on each network")
    parser.add_argument("--output", type=Path, help="CSV, appended to")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--old", type=Path, help="sources of the version to compare with")
    parser.add_argument("--programs", type=Path, help="folder with gls_reference and tree_reference")
    parser.add_argument("--toulbar2", action="store_true", help="ask toulbar2, too")
    parser.add_argument("--models", nargs="*", default=(), help="networks to sample queries on, or to search")
    parser.add_argument("--seed", type=int, default=0, help="of the queries")
    parser.add_argument("--plan", choices=list(PLANS), default="mixes", help="which searches, in which order")
    parser.add_argument("--processor", action="store_true", help="count processor time")
    arguments = parser.parse_args()
    if arguments.task == "prepare":
        found = prepare(arguments.data, arguments.count, arguments.seed, arguments.models)
        arguments.queries.write_text(json.dumps(found), encoding="utf-8")
    elif arguments.task == "serve":
        queries = json.loads(arguments.queries.read_text(encoding="utf-8"))
        serve(arguments.data, queries, thread_time if arguments.processor else None)
    else:
        run(arguments)


if __name__ == "__main__":
    main()
