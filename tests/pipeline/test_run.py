"""``beacon.run``: all that ``beacon run`` does, from Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import beacon
from beacon.errors import UsageError
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.train import FastSettings
from beacon.learn.tune import TuneSettings
from beacon.model.families import random_bayes_net
from beacon.pipeline.run import FinishedRun

MODEL = random_bayes_net(num_variables=12, max_domain=3, zero_fraction=0.1, seed=1)
SMALL = {
    "queries.query_ratio": (0.5, 0.8),
    "teacher.steps": 200,
    "collect.steps": 0,
    "train.max_epochs": 2,
    "tune.steps": [5, 40],
    "tune.queries": 3,
    "evaluate.steps": [5, 40],
    "evaluate.seconds": [],
    "evaluate.methods": ["gls+", "beacon"],
}


def test_a_run_makes_a_guide_and_a_report_and_goes_on_where_it_stopped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    beacon.compile_kernels()  # a fresh machine may say that it compiles
    capfd.readouterr()
    stages: list[tuple[str, bool]] = []
    heard: list[tuple[str, int, int]] = []

    def made(**more: object) -> object:
        return beacon.run(
            MODEL,
            tmp_path / "out",
            preset="fast",
            count=30,
            **{"changes": SMALL, "seed": 3, **more},  # type: ignore[arg-type]
            on_stage=lambda name, seconds, summary: stages.append((name, seconds is None)),
            on_progress=lambda what, done, total: heard.append((what, done, total)),
        )

    finished = made()
    names = ["queries", "collect", "train", "tune", "evaluate", "report"]
    assert stages == [(name, False) for name in names]
    assert ("collecting", 30, 30) in heard
    assert ("model, beacon", 6, 6) in heard
    assert isinstance(finished, FinishedRun)
    assert finished.evaluation.methods == ["gls+", "beacon"]
    assert "<svg" in finished.report.read_text(encoding="utf-8")
    assert beacon.solve(MODEL, guide=finished.guide, stop=beacon.MaxSteps(10)).steps <= 10
    stages.clear()
    made()
    assert stages == [(name, True) for name in names]
    with pytest.raises(UsageError, match=r"other settings: train\.width was 64, now 8"):
        made(changes={**SMALL, "train.width": 8})
    assert capfd.readouterr() == ("", "")


def test_settings_are_objects_or_a_file(tmp_path: Path) -> None:
    settings = beacon.RunSettings(
        count=20,
        collect=CollectSettings(TeacherSettings(steps=100), steps=0),
        preset="fast",
        train=FastSettings(max_epochs=1),
        tune=TuneSettings(seconds=(), steps=(5,), queries=2),
        evaluate=beacon.EvaluateSettings(methods=("gls+",), steps=(5,)),
    )
    file = tmp_path / "net.bif"
    beacon.write_model(MODEL, file)
    finished = beacon.run(file, tmp_path / "out", settings)
    assert finished.evaluation.networks == ["net"]
    assert finished.evaluation.methods == ["gls+"]
    with pytest.raises(UsageError, match="preset, count and changes are for settings of a file"):
        beacon.run(file, tmp_path / "out", settings, count=3)


def test_a_misspelt_change_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no section is called 'tecaher'; did you mean 'teacher'"):
        beacon.run(MODEL, tmp_path / "out", changes={"tecaher.steps": 3})
    with pytest.raises(UsageError, match=r"\[teacher\] has no setting 'stpes'; did you mean 'steps'"):
        beacon.run(MODEL, tmp_path / "out", changes={"teacher.stpes": 3})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"queries": [{0: 0}, {0: 1}, {1: 0}]},
            "expected queries for training, validation and test, found 3 with none for test; at least 8 "
            "different ones are needed",
        ),
        ({"count": 2}, "found 2 with none for validation and test; at least 8 different ones are needed"),
        (
            {"changes": {"queries.splits": (0.5, 0.5, 0.0)}},
            "none for test; the splits (0.5, 0.5, 0.0) leave them none",
        ),
    ],
)
def test_too_few_queries_are_refused_before_the_first_stage(
    tmp_path: Path, asked: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        beacon.run(MODEL, tmp_path / "out", preset="solved", **asked)
    assert not (tmp_path / "out").exists()


def test_a_run_takes_queries_of_ones_own_and_refuses_others_in_the_same_folder(tmp_path: Path) -> None:
    table = {MODEL.names[0]: ["0", "1"] * 20, MODEL.names[1]: ["0", "0", "1", None] * 10}
    table[MODEL.names[2]] = [str(k // 20) for k in range(40)]

    def made(**more: Any) -> FinishedRun:
        return beacon.run(MODEL, tmp_path / "out", preset="fast", changes=SMALL, **more)

    finished = made(queries=table)
    assert finished.stages["queries"]["summary"].startswith("40 queries (")
    assert made(queries=table).stages == finished.stages
    for more in ({}, {"queries": table | {MODEL.names[0]: ["1", "0"] * 20}}):
        with pytest.raises(UsageError, match="holds a run on other queries; go on with that"):
            made(**more)
