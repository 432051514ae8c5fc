"""The verbs on workers of every kind: results do not depend on who finds them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import beacon
from beacon.evaluation.records import record_store
from beacon.learn.collect import collect
from beacon.learn.tune import tune
from beacon.model.families import ising_grid
from beacon.runner.crews import on_backend
from tests.cli.helpers import run
from tests.evaluation.helpers import engine_methods, evaluated, repeatable, small_network
from tests.learn.collecting import QUICK, are_equal

GRID = ising_grid(6, 6, wrap=True, seed=1)
QUERIES = beacon.sample_queries(GRID, count=30)
STOP = beacon.MaxSteps(400)


@pytest.fixture(
    scope="module",
    params=["loky", *(pytest.param(name, marks=pytest.mark.slow) for name in ("dask", "ray"))],
)
def workers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param != "loky":
        pytest.importorskip({"dask": "distributed"}.get(request.param, request.param))
    with on_backend(request.param, 2):
        yield request.param


def answers(results: list[beacon.Result]) -> list[Any]:
    return [
        (
            result.assignment.tolist(),
            result.log_score,
            result.steps,
            result.stop,
            result.trace.scores.tolist(),
        )
        for result in results
    ]


def threads_here() -> Any:
    """Back to this process."""
    return joblib.parallel_config(backend="threading", n_jobs=2)


def killer(workers: str) -> Callable[[], None]:
    """Kills one of the workers, from outside."""

    def kill() -> None:
        if workers == "dask":
            from distributed import get_client  # noqa: PLC0415

            (process, *_) = get_client().run(os.getpid).values()
        else:
            from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415

            process = next(iter(get_reusable_executor(reuse=True)._processes))
        os.kill(process, signal.SIGKILL)

    return kill


def test_solve_many_finds_the_same(workers: str) -> None:
    asked: dict[str, Any] = {"alternatives": 2, "margins": True, "stop": STOP, "seed": 3}
    heard: dict[int, beacon.Result] = {}
    found = beacon.solve_many(GRID, QUERIES, strategy="gls+", on_result=heard.__setitem__, **asked)
    with threads_here():
        expected = beacon.solve_many(GRID, QUERIES, strategy="gls+", **asked)
    assert answers(found) == answers(expected)
    assert [heard[k] for k in range(len(found))] == found
    for one, other in zip(found, expected, strict=True):
        assert one.model is GRID
        assert one.alternatives is not None
        assert [a.assignment.tolist() for a in one.alternatives] == [
            a.assignment.tolist() for a in other.alternatives or ()
        ]
        assert one.margins is not None


def test_solve_many_outlives_a_worker(workers: str) -> None:
    if workers == "ray":
        pytest.skip("Ray's workers have no handle to kill them by")
    kill, heard = killer(workers), []

    def hear(query: int, _: beacon.Result) -> None:
        heard.append(query)
        if len(heard) == 3:
            kill()

    stop = beacon.MaxSteps(100_000)  # the workers are busy when one of them dies
    found = beacon.solve_many(GRID, QUERIES, strategy="gls+", stop=stop, on_result=hear)
    with threads_here():
        assert answers(found) == answers(beacon.solve_many(GRID, QUERIES, strategy="gls+", stop=stop))
    assert sorted(heard) == list(range(len(QUERIES)))


def test_what_is_left_after_ctrl_c_stays_where_it_begins(workers: str) -> None:
    def interrupt(query: int, _: beacon.Result) -> None:
        raise KeyboardInterrupt

    stop = beacon.MaxSteps(50_000)
    found = beacon.solve_many(GRID, QUERIES, strategy="gls+", stop=stop, on_result=interrupt)
    stops = {result.stop for result in found}
    assert stops == {"steps", "interrupted"}
    assert all(result.steps == 0 for result in found if result.stop == "interrupted")


def test_evaluations_are_the_same_and_go_on(workers: str, tmp_path: Path) -> None:
    network = small_network()
    some, both = engine_methods("greedy"), engine_methods("greedy", "gls+")
    evaluated(tmp_path / "there", network, some, seeds=(0, 1))
    with record_store(tmp_path / "there") as store:
        before = store.keys()
    there = evaluated(tmp_path / "there", network, both, seeds=(0, 1))
    with threads_here():
        here = evaluated(tmp_path / "here", network, both, seeds=(0, 1))
    key = lambda row: (row["method"], row["seed"], row["query"])  # noqa: E731
    assert sorted(map(repeatable, there), key=key) == sorted(map(repeatable, here), key=key)
    assert 0 < len(before) < len(there)


def test_tuning_chooses_the_same(workers: str) -> None:
    settings = beacon.TuneSettings(seconds=(), steps=(20, 100), queries=12)
    queries = beacon.sample_queries(GRID, count=30, splits=(0.2, 0.6, 0.2))
    there = tune(GRID, queries, None, settings)
    with threads_here():
        assert tune(GRID, queries, None, settings) == there


def test_collections_are_the_same_and_are_kept_in_parts(workers: str, tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done:
            raise StoppedError

    path = tmp_path / "t.parquet"
    with pytest.raises(StoppedError):
        collect(GRID, QUERIES, QUICK, path=path, on_progress=stop)
    assert any((tmp_path / "t.parquet.parts").iterdir())
    there = collect(GRID, QUERIES, QUICK, path=path)
    with threads_here():
        assert are_equal(collect(GRID, QUERIES, QUICK), there)


def test_guides_travel(workers: str) -> None:
    from beacon.guide.trivial import FrequencyGuide  # noqa: PLC0415

    solved = collect(GRID, QUERIES, QUICK)
    guide = FrequencyGuide.from_references(GRID, solved.references.astype(np.int64), QUERIES.observed)
    use = {"start": "guide", "weight": 0.5}
    there = beacon.solve_many(GRID, QUERIES, guide=guide, use=use, stop=STOP)
    with threads_here():
        assert answers(beacon.solve_many(GRID, QUERIES, guide=guide, use=use, stop=STOP)) == answers(there)


@pytest.mark.parametrize("backend", ["loky", pytest.param("dask", marks=pytest.mark.slow)])
def test_the_command_line_takes_a_backend(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    beacon.write_model(GRID, "grid.uai")
    assert run(*["queries", "grid.uai", "-o", "q.parquet", "--count", "20", "-q"]).code == 0
    for k in range(3):
        beacon.write_evidence(f"{k}.evid", {k: 1})
    for verb in (
        "solve grid.uai --evid 0.evid --evid 1.evid --evid 2.evid --method gls+ --steps 100 --json",
        "tune grid.uai q.parquet -o profile --steps 5 --limit 2 --json",
    ):
        here = run(*verb.split()).json
        there = run(*verb.split(), "--backend", backend, "--threads", "2").json
        for result in (one for made in (here, there) for one in made.get("results", [made])):
            for timed in ("seconds", "total_seconds"):
                result.pop(timed, None)
        assert there == here
    for verb in (
        "collect grid.uai q.parquet --teacher gls+ --teacher-steps 100 --steps 0 -q",
        "evaluate grid.uai q.parquet -o results --methods greedy --steps 5 -q",
    ):
        outcome = run(*verb.split(), "--backend", backend, "--threads", "2")
        assert outcome.code == 0, outcome.err
    assert len(beacon.Trajectories.load("trajectories.parquet")) == 20
