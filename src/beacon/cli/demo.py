"""``beacon demo``: what Beacon is for, and what learning adds to it, on a bundled model."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from beacon.cli.console import ProgressBar, command_line, one_line, say
from beacon.cli.options import OUTPUT, Quiet, option
from beacon.errors import BeaconError
from beacon.io.files import check_named

if TYPE_CHECKING:
    from beacon.evaluation.evaluation import Evaluation, Kind
    from beacon.model.graphical_model import GraphicalModel
    from beacon.pipeline.settings import RunSettings

NAME, MODEL_FILE, PICTURE = "clinic", "clinic.bif", "demo.png"
COUNT = 800
TEACHER_STEPS = 20_000
STEPS, SECONDS = (50, 200, 1000, 4000), (0.001, 0.003, 0.01, 0.03)

LEARNING = """
A clinic sees many patients: the same network is asked again and again, with other observations each time.
So Beacon learns from {count} simulated queries that observe a random 5 to 20 % of the variables: it searches
each for long, trains a small network (the guide) to tell the values found there from the observations alone,
and finds out on queries kept apart how the guide is used best. Then the test queries are searched with and
without it, from the same random starts. (What is in {folder} already is not done again.)
"""

METHODS = """
greedy, gls+ and auto search without the guide; beacon-gls+ is gls+ from the same random starts with the
guide's say in every move; beacon uses the guide as tuning found best: {best}.
Every impossible part (zero factor) of an assignment counts {log_zero:g}: hence the thousands. Steps are the
same on every machine, times are not; the guide's own time is counted.
{words}"""

NEXT = """
In {folder}:
  {page:<14} all tables and curves, query by query: open it in a browser
  {picture:<14} how fast the methods come close to the best known
  guide          the guide, ready to be used
What to try next:
  beacon solve {model} --guide {guide} -e fever=yes -e cough=yes
  beacon run MODEL -o DIR       the same for a model of your own
  beacon --help                 everything else"""


def demo(
    *,
    out: Annotated[str, option("-o --out DIR", "Folder for what it makes.", OUTPUT)] = "beacon-demo",
    quiet: Quiet = False,
) -> None:
    """Diagnose a patient with a bundled network, then learn from many: search with and without a guide.

    Takes a few minutes on two cores the first time, when kernels are compiled, and about one after that.

    Example:  beacon demo
    """
    from beacon.cli.demo_story import tell_story  # noqa: PLC0415
    from beacon.cli.run import show_differences, stage_teller  # noqa: PLC0415
    from beacon.model.families import demo_model  # noqa: PLC0415
    from beacon.pipeline.pipeline import Job  # noqa: PLC0415
    from beacon.pipeline.run import run_job  # noqa: PLC0415
    from beacon.report.budgets import write_picture  # noqa: PLC0415

    check_named(out)
    folder, model = Path(out), demo_model()
    _make_ready(folder, model)
    tell_story(model, quiet)
    say(LEARNING.format(count=COUNT, folder=one_line(out)))
    with ProgressBar("", 0, quiet) as bar:
        job = Job(model, NAME, folder, demo_settings(), command=command_line(), on_progress=bar.show)
        made = run_job(job, redo=True, on_stage=stage_teller(bar))
    results, best = made.evaluation, made.stages["tune"]["summary"].partition(": ")[2]
    write_picture(results, folder / PICTURE)
    show_differences(results)
    say(METHODS.format(best=best, log_zero=results.records[0].log_zero, words=in_words(results)))
    places = {"model": folder / MODEL_FILE, "guide": made.guide}
    words = {name: one_line(str(place)) for name, place in places.items()}
    say(NEXT.format(folder=one_line(out), page=made.report.name, picture=PICTURE, **words))


def demo_settings() -> RunSettings:
    """A run that takes about a minute."""
    from beacon.learn.collect import CollectSettings  # noqa: PLC0415
    from beacon.learn.teacher import TeacherSettings  # noqa: PLC0415
    from beacon.learn.tune import TuneSettings  # noqa: PLC0415
    from beacon.pipeline.settings import DEFAULT_EVALUATION, RunSettings  # noqa: PLC0415

    return RunSettings(
        count=COUNT,
        collect=CollectSettings(
            TeacherSettings(steps=TEACHER_STEPS), steps=0
        ),  # the fast guide needs no walks
        preset="fast",
        tune=TuneSettings(seconds=(), steps=STEPS, queries=16),
        evaluate=replace(DEFAULT_EVALUATION, steps=STEPS, seconds=SECONDS),
    )


def _make_ready(folder: Path, model: GraphicalModel) -> None:
    """Put the model into the folder; refuse one that holds anything but an earlier demo."""
    from beacon.evaluation.run_file import FILE  # noqa: PLC0415
    from beacon.formats import read_model, write_model  # noqa: PLC0415
    from beacon.io.files import make_folder  # noqa: PLC0415

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
    from beacon.report.naming import amount  # noqa: PLC0415
    from beacon.report.tables import duration, written  # noqa: PLC0415

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
