"""Collecting that was stopped, killed or damaged goes on to the same end."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from beacon.errors import BeaconError, UsageError
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import TeacherSettings
from beacon.learn.trajectories import Trajectories
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from tests.cli.helpers import start_process
from tests.learn.collecting import QUICK, are_equal


class StoppedError(Exception):
    """Raised by a test in the middle of a collection."""


def stop_after(count: int):
    def hear(done: int, total: int) -> None:
        if done >= count:
            raise StoppedError

    return hear


class TestResumption:
    def test_an_interrupted_collection_goes_on(self, model, queries, collected, tmp_path):
        path, heard = tmp_path / "t.parquet", []
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, path=path, on_progress=stop_after(20))
        assert not path.exists()
        assert (tmp_path / "t.parquet.parts").is_dir()
        again = collect(
            model, queries, QUICK, seed=5, path=path, on_progress=lambda *done: heard.append(done)
        )
        assert heard[0][0] in {10, 20}
        assert heard[-1] == (50, 50)
        assert are_equal(again, collected)
        assert are_equal(Trajectories.load(path, model, queries), collected)
        assert [file.name for file in tmp_path.iterdir()] == ["t.parquet"]

    def test_a_killed_process_loses_nothing_that_it_saved(self, tmp_path):
        model = ising_grid(6, 6, wrap=True)
        queries = sample_queries(model, 40)
        settings = CollectSettings(TeacherSettings("gls+", steps=100_000), steps=20, restart_interval=10)
        path, parts = tmp_path / "t.parquet", tmp_path / "t.parquet.parts"
        wanted = random.randint(1, 2)  # of 5
        with collecting_process(tmp_path, model, queries, settings, path) as process:
            wait_for(lambda: len(list(parts.glob("queries-*"))) >= wanted or process.poll() is not None)
            process.kill()
        assert not path.exists()
        assert any(parts.glob("queries-*"))
        (parts / ".queries-000000-000001.parquet-0123.tmp").write_bytes(b"half a file")
        collect(model, queries, settings, path=path)
        collect(model, queries, settings, path=tmp_path / "whole.parquet")
        assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
        assert not parts.exists()

    def test_a_damaged_part_is_made_again(self, model, queries, collected, tmp_path):
        path = tmp_path / "t.parquet"
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, jobs=1, path=path, on_progress=stop_after(40))
        part = next((tmp_path / "t.parquet.parts").iterdir())
        part.write_bytes(part.read_bytes()[:-100])
        assert are_equal(collect(model, queries, QUICK, seed=5, path=path), collected)

    def test_parts_with_other_settings_are_refused(self, model, queries, tmp_path):
        path = tmp_path / "t.parquet"
        with pytest.raises(StoppedError):
            collect(model, queries, QUICK, seed=5, path=path, on_progress=stop_after(20))
        with pytest.raises(
            UsageError, match=r"t\.parquet\.parts holds an unfinished collection with other seed \(5\); go on"
        ):
            collect(model, queries, QUICK, seed=6, path=path)

    def test_files_of_others_stay(self, model, queries, tmp_path):
        folder = tmp_path / "t.parquet.parts"
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
        collect(model, queries, QUICK, path=tmp_path / "t.parquet")
        assert [file.name for file in folder.iterdir()] == ["notes.txt"]

    def test_a_folder_that_cannot_be_made_is_reported(self, model, queries, tmp_path):
        (tmp_path / "t.parquet.parts").write_text("in the way")
        with pytest.raises(BeaconError, match=r"cannot write .*t\.parquet\.parts: it is a file"):
            collect(model, queries, QUICK, path=tmp_path / "t.parquet")


def collecting_process(
    folder: Path, model: GraphicalModel, queries: QuerySet, settings: CollectSettings, path: Path
) -> subprocess.Popen[str]:
    """``beacon collect`` in a process of its own."""
    from beacon.formats import write_model  # noqa: PLC0415

    write_model(model, folder / "model.uai")
    queries.save(folder / "q.parquet")
    options = ["--teacher", settings.teacher.method, "--teacher-steps", settings.teacher.steps]
    options += ["--steps", settings.steps, "--restart-interval", settings.restart_interval]
    return start_process(
        "collect",
        folder / "model.uai",
        folder / "q.parquet",
        "-o",
        path,
        *options,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def wait_for(condition) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("nothing happened for a minute")


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    model = ising_grid(6, 6, wrap=True)
    queries = sample_queries(model, 40)
    settings = CollectSettings(TeacherSettings("gls+", steps=100_000), steps=20, restart_interval=10)
    path, parts = tmp_path / "t.parquet", tmp_path / "t.parquet.parts"
    with collecting_process(tmp_path, model, queries, settings, path) as process:
        wait_for(lambda: parts.exists() and any(parts.glob("queries-*")))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "queries are done and kept in" in errors
    assert "the same command goes on from there" in errors
    assert "Traceback" not in errors
    assert any(parts.glob("queries-*"))
