"""The run of ``beacon demo``: its model, its settings and its folder."""

from __future__ import annotations

import os
from pathlib import Path

from beacon.errors import BeaconError
from beacon.evaluation.run_file import FILE
from beacon.evaluation.settings import EvaluateSettings
from beacon.formats import read_model, write_model
from beacon.io.files import make_folder
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.tune import TuneSettings
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.settings import RunSettings

MODEL_FILE = "grid.uai"
SIZE = 50
COUNT = 200
TEACHER_STEPS = 100_000
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1)


def hard_model() -> GraphicalModel:
    """A spin glass on a grid: far too wide for elimination, and small enough for a demo."""
    return ising_grid(SIZE, SIZE)


def demo_settings() -> RunSettings:
    """A run that takes about half a minute."""
    teacher = TeacherSettings("gls+", steps=TEACHER_STEPS)
    return RunSettings(
        count=COUNT,
        collect=CollectSettings(teacher, steps=0),  # the fast guide needs no walks
        preset="fast",
        tune=TuneSettings(seconds=SECONDS[:-1], queries=8),
        evaluate=EvaluateSettings(methods=("gls+", "auto", "beacon"), steps=(), seconds=SECONDS),
    )


def make_ready(folder: Path, model: GraphicalModel) -> None:
    """Put the model into the folder; refuse one that holds anything but an earlier demo."""
    make_folder(folder)
    file = folder / MODEL_FILE
    others = sorted(name for name in os.listdir(folder) if name != MODEL_FILE and not name.startswith("."))
    is_demo = file.exists() and read_model(file).fingerprint == model.fingerprint
    if (file.exists() and not is_demo) or (others and not (is_demo and (folder / FILE).exists())):
        found = others[0] if others else MODEL_FILE
        raise BeaconError(
            f"{folder} holds other things ({found}) than an earlier demo; choose another folder with -o DIR"
        )
    if not is_demo:
        write_model(model, file)
