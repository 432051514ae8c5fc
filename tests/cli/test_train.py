"""``beacon train``: what it writes and says, and what happens when it is stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.guide.attention import AttentionGuide
from beacon.guide.checkpoint import load_guide
from beacon.guided.guide import States
from beacon.model.families import random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries
from tests.cli.helpers import Outcome, run
from tests.conftest import ROOT
from tests.learn.trajectory_helpers import walk_trajectories

MODEL = random_bayes_net(num_variables=7, max_domain=3, zero_fraction=0.1, seed=1)


class Files:
    """A model with queries and trajectories in a folder."""

    def __init__(self, folder: Path) -> None:
        from dataclasses import replace  # noqa: PLC0415

        from beacon.formats import write_model  # noqa: PLC0415

        self.model, self.queries, self.trajectories = (
            folder / "m.bif",
            folder / "q.parquet",
            folder / "t.parquet",
        )
        self.guide = folder / "guide"
        write_model(MODEL, self.model)
        queries = sample_queries(MODEL, 20, query_ratio=(0.4, 0.8), splits=(0.6, 0.2, 0.2))
        queries.save(self.queries)
        made = walk_trajectories(MODEL, queries, runs=2, steps=4)
        replace(made, settings={"queries": queries.digest}).save(self.trajectories)

    def train(self, *args: object) -> Outcome:
        given = ("--trajectories", self.trajectories, "-o", self.guide, "--device", "cpu", "--epochs", 3)
        return run("train", self.model, self.queries, *given, *args)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def load(files: Files) -> tuple[GraphicalModel, Any]:
    from beacon.formats import read_model  # noqa: PLC0415

    model = read_model(files.model)
    return model, load_guide(files.guide, model, "cpu")


@pytest.mark.parametrize("preset", ["fast", "small"])
def test_a_guide_is_written_that_scores_states(files: Files, preset: str) -> None:
    outcome = files.train("--preset", preset)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(f"wrote {files.guide}: epoch ")
    assert "epoch 1: loss " in outcome.err
    model, guide = load(files)
    queries = QuerySet.load(files.queries, model)
    scores = guide.score(States(queries.samples.astype(np.int64), queries.observed))
    assert scores.shape == (20, model.domain_sizes.sum())
    assert not list(files.guide.parent.glob("*.unfinished"))


def test_solved_queries_are_remembered_without_training(files: Files) -> None:
    given = ("--trajectories", files.trajectories, "-o", files.guide, "--preset", "solved")
    outcome = run("train", files.model, files.queries, *given)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith(f"wrote {files.guide} with validation loss ")
    assert len(load(files)[1].references) == 12
    assert "epochs has no meaning for the guide of solved queries" in files.train("--preset", "solved").error


def test_json_is_one_object_with_the_history(files: Files) -> None:
    outcome = files.train("--json", "--quiet", "--batch", 8, "--states-per-query", 2)
    assert outcome.err == ""
    answer = outcome.json
    assert [record["epoch"] for record in answer["history"]] == [1, 2, 3]
    assert answer["validation_loss"] == min(record["validation_loss"] for record in answer["history"])
    assert (answer["complete"], answer["preset"], answer["epochs"]) == (True, "small", 3)


def test_ctrl_c_keeps_the_best_epoch_and_the_same_command_goes_on(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beacon.learn.attention import Trainer  # noqa: PLC0415

    epoch = Trainer.epoch

    def interrupted(self: Trainer, forward: Any, state: Any) -> Any:
        if len(state.history) == 2:
            raise KeyboardInterrupt
        return epoch(self, forward, state)

    monkeypatch.setattr(Trainer, "epoch", interrupted)
    outcome = files.train()
    assert outcome.code == 0
    assert "the best of 2" in outcome.out
    assert "training was interrupted; the same command goes on from where it stopped" in outcome.err
    assert isinstance(load(files)[1], AttentionGuide)
    monkeypatch.undo()
    resumed = files.train()
    assert "the best of 3" in resumed.out
    assert "interrupted" not in resumed.err
    weights = load(files)[1].network.state_dict()
    files.guide = files.guide.with_name("straight")
    files.train()
    straight = load(files)[1].network.state_dict()
    assert all((weights[name] == straight[name]).all() for name in weights)


def test_tensorboard_logs_are_written(files: Files) -> None:
    pytest.importorskip("tensorboard")
    logs = files.guide.parent / "logs"
    assert files.train("--tensorboard", logs).code == 0
    (written,) = logs.iterdir()
    assert b"validation_loss" in written.read_bytes()


def test_what_is_not_trained_is_not_logged(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.formats.read_model", pytest.fail)
    outcome = files.train("--preset", "solved", "--tensorboard", "logs")
    assert (outcome.code, "tensorboard has no meaning for the guide of solved" in outcome.error) == (2, True)


def test_missing_tensorboard_is_named_with_its_extra(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    outcome = files.train("--tensorboard", "logs")
    assert outcome.code == 1
    assert outcome.error == (
        "logging for TensorBoard needs tensorboard; install it with: pip install 'beacon-mpe[tensorboard]'"
    )


def test_missing_torch_is_named_with_its_extra(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    outcome = files.train()
    assert outcome.error == "training a guide needs torch; install it with: pip install 'beacon-mpe[learn]'"


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("--preset", "huge"), 2, "presets are solved, fast, small, paper; found 'huge'"),
        (("--device", "tpu"), 2, "device must be auto, cpu or cuda; found 'tpu'"),
        (("--epochs", 0), 2, "--epochs must be a whole number of at least 1; found 0"),
        (
            ("--preset", "fast", "--states-per-query", 3),
            2,
            "states_per_query has no meaning for the fast guide",
        ),
    ],
)
def test_wrong_use_is_one_line(files: Files, args: tuple, code: int, message: str) -> None:
    outcome = files.train(*args)
    assert outcome.code == code
    assert message in outcome.error


def test_a_guide_with_other_files_is_refused_before_any_work(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.guide.mkdir()
    (files.guide / "guide.json").write_text("{}")
    (files.guide / "thesis.txt").write_text("years of work")
    monkeypatch.setattr("beacon.formats.read_model", pytest.fail)
    outcome = files.train()
    assert (outcome.code, "holds a guide and other files (thesis.txt)" in outcome.error) == (1, True)


def test_a_folder_that_is_no_guide_is_not_overwritten(files: Files) -> None:
    files.guide.mkdir()
    (files.guide / "thesis.txt").write_text("years of work")
    outcome = files.train()
    assert (outcome.code, "exists and is no guide" in outcome.error) == (1, True)
    assert (files.guide / "thesis.txt").exists()


def test_trajectories_are_collected_where_none_are_given(files: Files) -> None:
    outcome = run(
        "train", files.model, files.queries, "-o", files.guide, "--preset", "fast", "--epochs", 2, "-q"
    )
    assert (outcome.code, outcome.err) == (0, "")
    load(files)


@pytest.mark.slow
def test_torchrun_trains_what_one_process_does(files: Files) -> None:
    """Two processes on the CPU; one of them writes and speaks."""
    assert files.train("--preset", "small", "--json").code == 0
    alone = load(files)[1].history
    given = ["train", files.model, files.queries, "--trajectories", files.trajectories, "-o", files.guide]
    given += ["--device", "cpu", "--epochs", 3, "--preset", "small", "--json"]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [*launcher, "-m", "beacon", *map(str, given)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["epochs"] == 3
    together = load(files)[1].history
    for key in ("train_loss", "validation_loss"):
        np.testing.assert_allclose([e[key] for e in together], [e[key] for e in alone], rtol=0.05)
