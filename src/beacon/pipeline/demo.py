"""The run of ``beacon demo``: its settings, its folder, and what it found in words."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from beacon.errors import BeaconError
from beacon.evaluation.evaluation import Evaluation, Kind
from beacon.evaluation.run_file import FILE
from beacon.formats import read_model, write_model
from beacon.io.files import make_folder
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.tune import TuneSettings
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.settings import DEFAULT_EVALUATION, RunSettings
from beacon.report.naming import amount
from beacon.report.tables import duration, written

MODEL_FILE = "clinic.bif"
COUNT = 800
TEACHER_STEPS = 20_000
STEPS, SECONDS = (50, 200, 1000, 4000), (0.001, 0.003, 0.01, 0.03)


def demo_settings() -> RunSettings:
    """A run that takes about a minute."""
    return RunSettings(
        count=COUNT,
        collect=CollectSettings(
            TeacherSettings(steps=TEACHER_STEPS), steps=0
        ),  # the fast guide needs no walks
        preset="fast",
        tune=TuneSettings(seconds=(), steps=STEPS, queries=16),
        evaluate=replace(DEFAULT_EVALUATION, steps=STEPS, seconds=SECONDS),
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


def in_words(results: Evaluation) -> str:
    """What the first and the last column say of gls+ without and with the guide."""
    network = results.networks[0]
    kinds: tuple[Kind, Kind] = ("step", "second")
    lines = []
    for kind, budget in ((kind, results.budgets(kind)[place]) for kind in kinds for place in (0, -1)):
        after = f"{amount(kind, budget)} steps" if kind == "step" else duration(budget)
        plain, guided = (
            written(float((results.best(network) - results.scores(network, method, kind, budget)).mean()))
            for method in ("gls+", "beacon")
        )
        lines.append(f"After {after}, gls+ is {plain} below the best known on average, and beacon {guided}.")
    return "\n".join(lines)
