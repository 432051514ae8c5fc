"""The paper's protocol, network by network: queries, references, training, choice of λ, test runs.

    python benchmarks/reproduce.py --data DATA --run RUN --results results --networks BN_30 grid20x20.f5.wrap
    python benchmarks/reproduce.py --results results --list

A job is a network with a kind of queries (``own``: every query has a Gibbs chain of its own; ``shared``: one
chain for all) and a seed. Its stages leave files in RUN, so the driver may be stopped at any time
(``--minutes`` stops it by itself) and goes on from there. A finished job leaves two files in --results:
JOB.parquet, the scores of every method, query and budget, and JOB.json, how they were made. ``--list`` says
what remains. References and walks of later jobs are made on the processor while the GPU is at work. Two
drivers may share RUN with different networks: only one of them trains at a time, the other searches.
``benchmarks/reproduce_tables.py`` makes tables of the results.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np
from reproduce_clock import race, race_file, time_single
from reproduce_stages import BUDGETS, KINDS, STRATEGIES, Job, Shop, prepare, suite, test, train
from reproduce_tune import tune

# A stage begins only if there is so much time.
STAGE_SECONDS = {"train": 200.0, "tune": 150.0, "test": 60.0, "race": 130.0}


def warm_up() -> None:
    """Compile the kernels of guided searches into numba's cache, in a process beside the training."""
    from lockstep import Lockstep, run_together  # noqa: PLC0415

    from beacon.guided.guidance import GuideUse  # noqa: PLC0415
    from beacon.model.families import ising_grid  # noqa: PLC0415
    from beacon.model.flat import compile_model  # noqa: PLC0415
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415

    flat = compile_model(ising_grid(2, 2))
    for strategy in STRATEGIES:
        use = GuideUse(start="random", weight=0.5, refresh=1)
        group = Lockstep(flat, make_strategy(strategy), [{}], [np.zeros(4, np.int64)], [use], 0)
        run_together([group], lambda x, _, moves: np.zeros(moves.shape, np.float32), (1,))


def drive(jobs: Sequence[Job], args: argparse.Namespace) -> None:
    """Work through the jobs until all is done or time is up."""
    deadline = monotonic() + 60 * args.minutes
    own = [sys.executable, __file__, *sys.argv[1:]]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    helpers = [subprocess.Popen([*own, "--stage", stage], env=environment) for stage in ("warm", "prepare")]
    try:
        for job in jobs:
            if not _is_finished(job, args) and not _work_on(job, args, deadline, helpers):
                break
    finally:
        for helper in helpers:
            helper.terminate()
    remaining = [job.name for job in jobs if not _is_finished(job, args)]
    print(f"{len(remaining)} of {len(jobs)} jobs remain: {', '.join(remaining) or 'none'}", flush=True)


def _work_on(job: Job, args: argparse.Namespace, deadline: float, helpers: Sequence[Any]) -> bool:
    """All stages of a job; False if time is up."""
    folder = args.run / job.name
    while not (folder / "prepare.json").exists():
        if helpers[1].poll() not in (None, 0) or monotonic() > deadline:
            return False
        sleep(0.2)
    shop = Shop(job, args)
    for stage in _stages_left(shop):
        if stage != "train":
            helpers[0].wait()
        if deadline - monotonic() < STAGE_SECONDS[stage]:
            return False
        began = perf_counter()
        if stage == "train":
            with one_training_at_a_time(args.run):
                if not train(shop, deadline):
                    return False
        else:
            {"tune": tune, "test": test, "race": race}[stage](shop)
        print(f"{job.name}: {stage} took {perf_counter() - began:.1f} s", flush=True)
    return True


def _stages_left(shop: Shop) -> list[str]:
    """What is to be done; a finished job is trained again if only its race is missing."""
    left = [stage for stage in ("train", "tune", "test") if not shop.file(f"{stage}.json").exists()]
    if shop.job.is_done(shop.args.results):
        left = [stage for stage in left if stage == "train"]
    return [*left, *(["race"] if shop.args.race and not race_file(shop.job, shop.args).exists() else [])]


def _is_finished(job: Job, args: argparse.Namespace) -> bool:
    return job.is_done(args.results) and (not args.race or race_file(job, args).exists())


@contextmanager
def one_training_at_a_time(run: Path) -> Iterator[None]:
    """Waits for the training of another driver of the same folder."""
    with (run / "training.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def show_remaining(jobs: Sequence[Job], results: Path) -> None:
    """Which jobs are done, and which are not."""
    for job in jobs:
        print(f"{'done' if job.is_done(results) else 'remains':8} {job.name}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with NAME.uai.xz")
    parser.add_argument("--run", type=Path, help="folder for everything that is made on the way")
    parser.add_argument("--results", type=Path, required=True, help="folder for the results")
    parser.add_argument("--networks", nargs="+", default=list(suite()), choices=list(suite()), metavar="NAME")
    parser.add_argument("--kinds", nargs="+", default=["own"], choices=list(KINDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument(
        "--jobs", nargs="+", type=Job.parse, help="NETWORK.KIND.SEED, instead of all of these"
    )
    parser.add_argument("--list", action="store_true", help="say what remains, and do nothing")
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--reference-steps", type=int, help="of GLS+; default: as the paper's 300 s make")
    parser.add_argument("--walk-steps", type=int, default=2000)
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--steps", type=int, default=BUDGETS[-1])
    parser.add_argument("--tune-queries", type=int, default=100, help="validation queries to choose λ on")
    parser.add_argument("--prepare-cores", type=int, default=max(1, (os.cpu_count() or 1) - 4))
    parser.add_argument("--commit", help="what made the results")
    parser.add_argument("--stage", choices=["warm", "prepare"], help=argparse.SUPPRESS)
    parser.add_argument("--single", action="store_true", help="time the steps of one query alone")
    parser.add_argument("--race", type=Path, help="folder for guided searches by the clock, 60 s each")
    parser.add_argument("--race-queries", type=int, default=20, help="test queries of each network")
    args = parser.parse_args()
    jobs = args.jobs or [Job(n, k, seed) for k in args.kinds for seed in args.seeds for n in args.networks]
    if args.list:
        return show_remaining(jobs, args.results)
    if args.data is None or args.run is None:
        parser.error("--data and --run are needed to run anything")
    if args.stage == "warm":
        return warm_up()
    if args.stage == "prepare":
        os.nice(10)  # the searches beside it are waited for
        for job in jobs:
            if not _is_finished(job, args) and not (args.run / job.name / "prepare.json").exists():
                prepare(Shop(job, args))
        return None
    if args.single:
        return time_single(jobs, args)
    return drive(jobs, args)


if __name__ == "__main__":
    main()
