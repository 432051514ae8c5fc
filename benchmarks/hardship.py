"""Kills and signals at random moments: what is resumed, and what is kept. Reports to results/hardship.json.

``kills``: collect, train, tune, evaluate and run are killed (SIGKILL) after a random part of the time they
take, started again until they end, and compared with a run that nothing disturbed.
``signals``: solve, solve --table, uai, collect, train, evaluate and run get SIGINT, SIGTERM, or two
signals in a row; the exit code, what is left behind and whether it is whole are noted.

    python benchmarks/hardship.py kills --count 100
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
from collections import Counter
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import beacon
from beacon.model.families import random_bayes_net

BEACON = [sys.executable, "-m", "beacon"]
QUICK = "teacher.steps=2000 collect.steps=20 tune.steps=[100] evaluate.seconds=[] evaluate.steps=[100,1000]"
COMMANDS = {
    "collect": "collect m.uai q.parquet -o work/t.parquet --teacher gls+ --teacher-steps 9000 --jobs 1",
    "train": "train m.uai q.parquet -o work/g --preset small --trajectories t.parquet --epochs 4",
    "tune": "tune m.uai q.parquet work/guide --steps 2000",
    "evaluate": "evaluate m.uai q.parquet -o work/e --methods greedy,gls+ --steps 20000 --threads 1",
    "run": "run m.uai -o work/r --preset fast --count 60 "
    + " ".join(f"--set {item}" for item in QUICK.split()),
}
SIGNALLED = {
    "solve": "solve m.uai --evidence x0=0 --method gls+ --time 4 -o work/a.MPE",
    "solve --table": "solve m.uai --table q.csv --method gls+ --time 0.4 --threads 1 -o work/a.MPE",
    "uai": "uai m.uai - - MPE --time 5 -o work/a.MPE",
    **{name: COMMANDS[name] for name in ("collect", "train", "evaluate", "run")},
}
TIMES = {"seconds", "began", "load", "sessions", "versions", "setup_seconds", "trace_seconds", "generated"}


def prepare(folder: Path) -> None:
    """A model with its queries, trajectories and a guide."""
    model = random_bayes_net(60, seed=2)
    beacon.write_model(model, folder / "m.uai")
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


def fresh(folder: Path) -> None:
    shutil.rmtree(folder / "work", ignore_errors=True)
    (folder / "work").mkdir()
    shutil.copytree(folder / "guide", folder / "work" / "guide")


def start(folder: Path, command: str) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [*BEACON, *command.split(), "--quiet"], cwd=folder, start_new_session=True, **pipes
    )


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


def undisturbed(folder: Path, command: str) -> tuple[float, dict[str, str]]:
    """How long a command takes, and what it makes."""
    fresh(folder)
    began = perf_counter()
    process = start(folder, command)
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{command}: {errors}")
    return perf_counter() - began, contents(folder)


def kills(folder: Path, count: int, rng: random.Random, minutes: float) -> dict[str, Any]:
    """Kill, resume and compare."""
    whole = {name: undisturbed(folder, command) for name, command in COMMANDS.items()}
    until = perf_counter() + 60 * minutes
    done, differing, leftovers = Counter[str](), list[str](), 0
    while sum(done.values()) < count and perf_counter() < until:
        name = min(COMMANDS, key=lambda name: (done[name], name))
        seconds, wanted = whole[name]
        fresh(folder)
        while True:
            process = start(folder, COMMANDS[name])
            sleep(rng.uniform(0.2, 1.0) * seconds)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                done[name] += 1
                if rng.random() < 0.5:
                    continue
            process.communicate()
            break
        _, errors = (again := start(folder, COMMANDS[name])).communicate()
        found = contents(folder)
        leftovers += len(list((folder / "work").rglob(".beacon-*.tmp")))
        if again.returncode or found != wanted:
            wrong = [path for path in {**found, **wanted} if found.get(path) != wanted.get(path)]
            differing.append(f"{name}: exit {again.returncode}, {wrong}, {errors[-200:]}")
    return {"kills": dict(done), "differing": differing, "leftovers": leftovers}


def signals(folder: Path, count: int, rng: random.Random, minutes: float) -> dict[str, Any]:
    """Send signals, and look at what is left."""
    times = {name: undisturbed(folder, command)[0] for name, command in SIGNALLED.items()}
    until = perf_counter() + 60 * minutes
    model = beacon.read_model(folder / "m.uai")
    sent, codes, faults = Counter[str](), dict[str, Counter[str]](), list[str]()
    while sum(sent.values()) < count and perf_counter() < until:
        name = min(SIGNALLED, key=lambda name: (sent[name], name))
        kinds = rng.choice([["SIGINT"], ["SIGTERM"], ["SIGINT", "SIGTERM"], ["SIGTERM", "SIGTERM"]])
        fresh(folder)
        process = start(folder, SIGNALLED[name])
        moment = rng.uniform(0.0, 1.0) * times[name]
        sleep(moment)
        for kind in kinds:
            if process.poll() is None:
                process.send_signal(getattr(signal, kind))
                sleep(rng.uniform(0, 0.05))
        try:
            _, errors = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            faults.append(f"{name}: {kinds} at {moment:.2f} s: does not end")
        sent[name] += 1
        codes.setdefault(name, Counter())[str(process.returncode)] += 1
        faults += [
            f"{name}: {kinds} at {moment:.2f} s: {fault}" for fault in _faults(folder, model, process, errors)
        ]
    return {
        "signals": dict(sent),
        "exit_codes": {name: dict(found) for name, found in codes.items()},
        "faults": faults,
    }


def _faults(folder: Path, model: beacon.GraphicalModel, process: Any, errors: str) -> list[str]:
    """A traceback, an exit code that nobody expects, an answer that is not whole."""
    faults = ["a traceback: " + errors.strip().splitlines()[-1]] if "Traceback" in errors else []
    if process.returncode not in {0, 130, 143, -signal.SIGINT, -signal.SIGTERM}:
        faults.append(f"exit code {process.returncode}: {errors[-200:]}")
    answers = list((folder / "work").glob("*.MPE"))
    for answer in answers:
        try:
            beacon.read_solution(answer, model)
        except beacon.BeaconError as error:
            faults.append(str(error))
    if process.args[3] in {"solve", "uai"} and process.returncode == 0 and not answers:
        faults.append("it says that all is well, and there is no answer")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["kills", "signals"])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/hardship.json"))
    chosen = parser.parse_args()
    rng = random.Random(chosen.seed)
    with tempfile.TemporaryDirectory() as place:
        prepare(Path(place))
        found = (kills if chosen.what == "kills" else signals)(Path(place), chosen.count, rng, chosen.minutes)
    report = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    chosen.out.write_text(
        json.dumps({**report, chosen.what: {"seed": chosen.seed, **found}}, indent=1) + "\n"
    )
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
