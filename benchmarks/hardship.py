"""Kills and signals at random moments: what is resumed, and what is kept. Reports to results/hardship.json.

``kills``: collect, train, tune, evaluate and run are killed (SIGKILL) after a random part of the time they
take, started again until they end, and compared with a run that nothing disturbed.
``signals``: solve, solve --table, uai, collect, train, evaluate and run get SIGINT, SIGTERM, or two
signals in a row; the exit code, what is left behind and whether it is whole are noted.
Trial number k of a seed has always the same command and moments; a run goes on where its report ends.

    python benchmarks/hardship.py kills --count 100 --workers 2
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, ClassVar, NamedTuple

import beacon
from beacon.model.families import ising_grid, random_bayes_net

BEACON = [sys.executable, "-m", "beacon"]
QUICK = "teacher.steps=2000 collect.steps=20 tune.steps=[100] evaluate.seconds=[] evaluate.steps=[100,1000]"
COMMANDS = {
    "collect": "collect m.uai q.parquet -o work/t.parquet --teacher gls+ --teacher-steps 60000 --jobs 1",
    "train": "train m.uai q.parquet -o work/g --preset small --trajectories t.parquet --epochs 2",
    "tune": "tune m.uai q.parquet work/guide --steps 10000",
    "evaluate": "evaluate m.uai q.parquet -o work/e --methods greedy,gls+ --steps 100000 --threads 1",
    "run": "run m.uai -o work/r --preset fast --count 60 "
    + " ".join(f"--set {item}" for item in QUICK.split()),
}
SIGNALLED = {
    "solve": "solve m.uai --evidence x0=0 --method gls+ --time 4 -o work/a.MPE",
    "solve --table": "solve m.uai --table q.csv --method gls+ --time 0.4 --threads 1 -o work/a.MPE",
    "uai": "uai grid.uai - - MPE --time 3 -o work/a.MPE",
    **{name: COMMANDS[name] for name in ("collect", "train", "evaluate", "run")},
}
TIMES = {
    "seconds",
    "began",
    "load",
    "sessions",
    "versions",
    "setup_seconds",
    "trace_seconds",
    "bound_seconds",
    "generated",
}


def prepare(folder: Path, model: beacon.GraphicalModel) -> None:
    """A model with its queries, trajectories and a guide; a grid that no elimination solves in time."""
    folder.mkdir()
    beacon.write_model(ising_grid(60, 60), folder / "grid.uai")
    beacon.write_model(model, folder / "m.uai")
    model = beacon.read_model(folder / "m.uai")  # what the format keeps of it
    queries = beacon.sample_queries(model, 120)
    queries.save(folder / "q.parquet")
    rows = [",".join(model.names), *(_csv_row(queries.evidence(k), model.num_variables) for k in range(10))]
    (folder / "q.csv").write_text("\n".join(rows) + "\n")
    teacher = beacon.TeacherSettings(method="gls+", steps=2000)
    walks = beacon.collect(model, queries, beacon.CollectSettings(teacher, steps=20), jobs=1)
    walks.save(folder / "t.parquet")
    beacon.train(model, queries, "fast", walks, epochs=2).save(folder / "guide")


def _csv_row(evidence: dict[int, int], count: int) -> str:
    return ",".join(str(evidence.get(i, "")) for i in range(count))


@dataclass(frozen=True)
class Place:
    """A folder of its own for one trial at a time, and the cores that its processes may use."""

    folder: Path
    cores: set[int]

    @contextmanager
    def fresh(self, source: Path) -> Iterator[Path]:
        """The folder with all that commands read, and nothing that they write."""
        shutil.copytree(source, self.folder)
        (self.folder / "work").mkdir()
        shutil.copytree(self.folder / "guide", self.folder / "work" / "guide")
        try:
            yield self.folder
        finally:
            shutil.rmtree(self.folder)

    def start(self, command: str) -> subprocess.Popen[str]:
        """A process group that runs a command of Beacon."""
        process = subprocess.Popen(
            [*BEACON, *command.split(), "--quiet"],
            cwd=self.folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with suppress(ProcessLookupError):
            os.sched_setaffinity(process.pid, self.cores)
        return process


def places(folder: Path, count: int) -> list[Place]:
    """So many places, two cores for each; where there are too few, they share."""
    cores = sorted(os.sched_getaffinity(0))
    pairs = [{cores[2 * k % len(cores)], cores[(2 * k + 1) % len(cores)]} for k in range(count)]
    return [Place(folder / f"trial-{k}", pair) for k, pair in enumerate(pairs)]


def contents(folder: Path) -> dict[str, str]:
    """A digest of every result, times of day and durations left out."""
    return {
        path.relative_to(folder).as_posix(): _digest(path)
        for path in sorted((folder / "work").rglob("*"))
        if path.is_file() and path.suffix in {".parquet", ".json", ".safetensors", ".MPE"}
    }


def _digest(path: Path) -> str:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415

        table = pq.read_table(path)
        kept = [name for name in table.column_names if name not in TIMES]
        return hashlib.sha256(repr(table.select(kept).to_pylist()).encode()).hexdigest()
    if path.suffix == ".json":
        return hashlib.sha256(json.dumps(_timeless(json.loads(path.read_text()))).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(entry) for key, entry in value.items() if key not in TIMES}
    return [_timeless(entry) for entry in value] if isinstance(value, list) else value


class Task(NamedTuple):
    """A command on a prepared model."""

    name: str
    command: str
    source: Path


class Whole(NamedTuple):
    """What comes of a command that nothing disturbs."""

    task: Task
    seconds: float
    contents: dict[str, str]


def undisturbed(place: Place, task: Task) -> Whole:
    """How long a command takes, and what it makes."""
    with place.fresh(task.source) as folder:
        began = perf_counter()
        process = place.start(task.command)
        _, errors = process.communicate()
        if process.returncode:
            raise SystemExit(f"{task.command}: {errors}")
        return Whole(task, perf_counter() - began, contents(folder))


class Kills:
    """Kill, resume and compare."""

    commands = COMMANDS
    empty: ClassVar[dict[str, Any]] = {"kills": {}, "differing": [], "leftovers": 0}

    def trial(self, place: Place, whole: Whole, rng: random.Random) -> dict[str, Any]:
        """Kill a command once or more often, and let it end."""
        with place.fresh(whole.task.source) as folder:
            kills, task = 0, whole.task
            while True:
                process = place.start(task.command)
                sleep(rng.uniform(0.2, 1.0) * whole.seconds)
                is_killed = process.poll() is None
                if is_killed:
                    os.killpg(process.pid, signal.SIGKILL)
                    kills += 1
                process.communicate()
                if not is_killed or rng.random() < 0.5:
                    break
            _, errors = (again := place.start(task.command)).communicate()
            found, wanted = contents(folder), whole.contents
            differing = []
            if again.returncode or found != wanted:
                wrong = [path for path in {**found, **wanted} if found.get(path) != wanted.get(path)]
                differing.append(
                    f"{task.name} on {task.source.name}: exit {again.returncode}, {wrong}, {errors[-200:]}"
                )
            leftovers = len(list((folder / "work").rglob(".beacon-*.tmp")))
            return {"kills": {task.name: kills}, "differing": differing, "leftovers": leftovers}


class Signals:
    """Send signals, and look at what is left."""

    commands = SIGNALLED
    empty: ClassVar[dict[str, Any]] = {"signals": {}, "exit_codes": {}, "faults": []}

    def trial(self, place: Place, whole: Whole, rng: random.Random) -> dict[str, Any]:
        """One signal, or two in a row, at a random moment; none counts that comes too late."""
        kinds = rng.choice([["SIGINT"], ["SIGTERM"], ["SIGINT", "SIGTERM"], ["SIGTERM", "SIGTERM"]])
        moment = rng.uniform(0.0, 1.0) * whole.seconds
        task = whole.task
        with place.fresh(task.source) as folder:
            process = place.start(task.command)
            sleep(moment)
            if process.poll() is not None:
                process.communicate()
                return self.empty
            for kind in kinds:
                with suppress(ProcessLookupError):
                    process.send_signal(getattr(signal, kind))
                sleep(rng.uniform(0, 0.05))
            faults = []
            try:
                _, errors = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                _, errors = process.communicate()
                faults.append("does not end")
            faults += _faults(folder, task.command, process.returncode, errors)
        return {
            "signals": {task.name: 1},
            "exit_codes": {task.name: {str(process.returncode): 1}},
            "faults": [
                f"{task.name} on {task.source.name}: {kinds} at {moment:.2f} s: {fault}" for fault in faults
            ],
        }


def added(one: Any, other: Any) -> Any:
    """Counts and lists of two reports together."""
    if isinstance(one, dict):
        return {
            key: added(one[key], other[key]) if key in one and key in other else {**one, **other}[key]
            for key in {**one, **other}
        }
    return one + other


def run(
    kind: Kills | Signals, report: dict[str, Any], folder: Path, sources: list[Path], workers: int
) -> Iterator[dict[str, Any]]:
    """The report again and again, as it grows by one trial for each worker."""
    here = places(folder, workers)
    tasks = [Task(name, command, source) for source in sources for name, command in kind.commands.items()]
    for task in tasks[: len(kind.commands)]:
        undisturbed(here[0], task)  # one after the other: they may have to compile kernels
    with ThreadPoolExecutor(workers) as pool:
        whole = list[Whole]()
        while len(whole) < len(tasks):
            whole += pool.map(undisturbed, here, tasks[len(whole) :])
        while True:
            numbers = range(report["trials"], report["trials"] + workers)
            chosen = [whole[number % len(whole)] for number in numbers]
            rngs = [random.Random(f"{report['seed']} {number}") for number in numbers]
            for found in pool.map(kind.trial, here, chosen, rngs):
                report = {**report, **added({key: report[key] for key in kind.empty}, found)}
            report["trials"] += workers
            yield report


def _faults(folder: Path, command: str, code: int, errors: str) -> list[str]:
    """A traceback, an exit code that nobody expects, an answer that is not whole."""
    faults = ["a traceback: " + errors.strip()[-500:]] if "Traceback" in errors else []
    if code not in {0, 130, 143, -signal.SIGINT, -signal.SIGTERM}:
        faults.append(f"exit code {code}: {errors[-200:]}")
    answers, model = list((folder / "work").glob("*.MPE")), beacon.read_model(folder / command.split()[1])
    for answer in answers:
        try:
            beacon.read_solution(answer, model)
        except beacon.BeaconError as error:
            faults.append(str(error))
    if command.startswith(("solve", "uai")) and code == 0 and not answers:
        faults.append("it says that all is well, and there is no answer")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["kills", "signals"])
    parser.add_argument("--count", type=int, default=100, help="of kills or signals, earlier runs included")
    parser.add_argument("--minutes", type=float, default=60, help="no new trial after this")
    parser.add_argument("--workers", type=int, default=1, help="trials at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=Path, nargs="+", default=[], help="files; a random network if none")
    parser.add_argument("--out", type=Path, default=Path("results/hardship.json"))
    chosen = parser.parse_args()
    until = perf_counter() + 60 * chosen.minutes
    kind = Kills() if chosen.what == "kills" else Signals()
    reports = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    report = {"seed": chosen.seed, "trials": 0, **kind.empty, **reports.get(chosen.what, {})}
    models = [beacon.read_model(path) for path in chosen.models] or [random_bayes_net(60, seed=2)]
    labels = [path.name.split(".")[0] for path in chosen.models] or ["random"]
    report["models"] = labels
    with tempfile.TemporaryDirectory() as place:
        sources = [Path(place, label) for label in labels]
        for source, model in zip(sources, models, strict=True):
            prepare(source, model)
        for grown in run(kind, report, Path(place), sources, chosen.workers):
            report = grown
            chosen.out.write_text(json.dumps({**reports, chosen.what: report}, indent=1) + "\n")
            num_done = sum(report[chosen.what].values())
            print(f"{num_done} {chosen.what}", file=sys.stderr, flush=True)
            if num_done >= chosen.count or perf_counter() > until:
                break
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
