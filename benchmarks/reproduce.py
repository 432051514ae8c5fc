"""The paper's experiments, network by network: queries, references, training, tuning, test runs.

    python benchmarks/reproduce.py --data DATA --run RUN --models BN_30 grid20x20.f5.wrap

Every stage of every network is a process of its own that leaves a mark when it is done, so the driver may be
stopped at any time (``--minutes`` stops it by itself) and goes on from there the next time. Stages that need
a GPU share it; the others use the processor beside them. ``benchmarks/reproduce_stages.py`` holds the stages,
``benchmarks/reproduce_tables.py`` makes tables of what they leave in RUN.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from benchmarks.common import ALL_MODELS
from benchmarks.reproduce_stages import SHARDS, STAGES, is_done
from benchmarks.reproduce_workshop import STEPS

STAGES_SCRIPT = Path(__file__).with_name("reproduce_stages.py")


@dataclass(frozen=True)
class Task:
    """One stage of one network, or a shard of it."""

    network: str
    stage: str
    shard: int
    cores: int
    gpu: float
    """Share of the GPU that it is counted with."""
    after: tuple[str, ...]
    """Stages that must be done."""

    @property
    def name(self) -> str:
        return f"{self.network} {self.stage} {self.shard}"


def tasks_of(network: str, prepare_cores: int) -> list[Task]:
    """All that is to be done for a network, in the order in which it should be begun."""
    tasks = [
        Task(network, "prepare", 0, prepare_cores, 0, ()),
        Task(network, "train", 0, 1, 0.5, ("prepare",)),
        Task(network, "fast", 0, 1, 0, ("prepare",)),
    ]
    for strategy in ("greedy", "gls+"):
        tasks.append(Task(network, f"tune-{strategy}", 0, 1, 0.1, ("train",)))
        tasks += [
            Task(network, f"follow-{strategy}", shard, 1, 0.1, (f"tune-{strategy}",))
            for shard in range(SHARDS)
        ]
    tasks.append(Task(network, "sparse", 0, 1, 0.1, ("tune-gls+",)))
    return tasks + [Task(network, stage, 0, 1, 0, ("fast",)) for stage in ("plain", "long", "exact")]


def ready(task: Task, run: Path) -> bool:
    return all(is_done(run, task.network, stage, 0) for stage in task.after)


def begin(task: Task, args: argparse.Namespace) -> subprocess.Popen[bytes]:
    folder = args.run / task.network
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(STAGES_SCRIPT), task.stage, "--network", task.network, "--shard"]
    command += [str(task.shard), "--run", str(args.run), "--data", str(args.data), "--jobs", str(task.cores)]
    command += ["--queries", str(args.queries), "--epochs", str(args.epochs), "--train-seconds"]
    command += [str(args.train_seconds), "--preset", args.preset, "--seed", str(args.seed)]
    command += ["--max-steps", str(args.max_steps), "--reference-steps", str(args.reference_steps)]
    command += ["--refresh", str(args.refresh), "--states-per-query", str(args.states_per_query)]
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with (folder / f"{task.stage}-{task.shard}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **threads})


def drive(args: argparse.Namespace) -> None:
    """Keep the machine busy until all is done or time is up."""
    every = [task for network in args.models for task in tasks_of(network, args.prepare_cores)]
    every = [task for task in every if task.stage in args.stages]
    waiting = [task for task in every if not is_done(args.run, task.network, task.stage, task.shard)]
    running: dict[Task, subprocess.Popen[bytes]] = {}
    deadline = monotonic() + 60 * args.minutes
    while (waiting or running) and monotonic() < deadline:
        for task, process in list(running.items()):
            if process.poll() is not None:
                del running[task]
                verdict = "done" if process.returncode == 0 else f"FAILED ({process.returncode})"
                print(
                    f"{60 * args.minutes - (deadline - monotonic()):6.0f} s  {task.name}: {verdict}",
                    flush=True,
                )
        for task in list(waiting):
            cores = sum(other.cores for other in running) + task.cores
            gpu = sum(other.gpu for other in running) + task.gpu
            if ready(task, args.run) and cores <= args.cores and gpu <= args.gpu:
                waiting.remove(task)
                running[task] = begin(task, args)
        if not running and waiting:
            print("nothing left that can be begun:", ", ".join(task.name for task in waiting), flush=True)
            return
        sleep(0.2)
    for process in running.values():
        process.terminate()
    print(f"{len(waiting) + len(running)} of {len(every)} stages are left", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with paper/NAME.uai.xz")
    parser.add_argument("--run", type=Path, required=True, help="folder for everything that is made")
    parser.add_argument("--models", nargs="+", default=list(ALL_MODELS))
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--reference-steps", type=int, default=100_000, help="of GLS+ for each reference")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--train-seconds", type=float, default=60.0, help="time after which no epoch begins")
    parser.add_argument("--states-per-query", type=int, default=50, help="in an epoch")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--prepare-cores", type=int, default=6)
    parser.add_argument("--gpu", type=float, default=1.5, help="how much of the GPU may be asked for at once")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=STEPS[-1])
    parser.add_argument("--refresh", type=int, default=1, help="steps between two scorings of the test runs")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    args = parser.parse_args()
    assert set(args.models) <= set(ALL_MODELS), f"models are {', '.join(ALL_MODELS)}"
    drive(args)


if __name__ == "__main__":
    main()
