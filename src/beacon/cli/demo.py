"""``beacon demo``: what Beacon is for, and what learning adds to it, on a bundled model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_drawn
from beacon.cli.options import OUTPUT, Quiet, option
from beacon.io.files import check_named

NAME, PICTURE = "clinic", "demo.png"


def demo(
    *,
    out: Annotated[str, option("-o --out DIR", "Folder for what it makes.", OUTPUT)] = "beacon-demo",
    quiet: Quiet = False,
) -> None:
    """Diagnose a patient with a bundled network, then learn from many: search with and without a guide.

    Takes a few minutes on two cores the first time, when kernels are compiled, and about one after that.

    Example:  beacon demo
    """
    from beacon.cli import demo_story as story  # noqa: PLC0415
    from beacon.model.families import demo_model  # noqa: PLC0415
    from beacon.pipeline import demo as clinic  # noqa: PLC0415
    from beacon.pipeline.pipeline import Job, stage_line  # noqa: PLC0415
    from beacon.pipeline.run import run_job  # noqa: PLC0415
    from beacon.report.comparisons import difference_tables  # noqa: PLC0415
    from beacon.report.drawings import write_picture  # noqa: PLC0415

    check_named(out)
    folder, model = Path(out), demo_model()
    clinic.make_ready(folder, model)
    story.tell_story(model, quiet)
    say(story.LEARNING.format(count=clinic.COUNT, folder=one_line(out)))
    with ProgressBar("", 0, quiet) as bar:
        job = Job(model, NAME, folder, clinic.demo_settings(), command=command_line(), on_progress=bar.show)
        made = run_job(job, redo=True, on_stage=lambda *stage: bar.say(one_line(stage_line(*stage))))
    results, best = made.evaluation, made.stages["tune"]["summary"].partition(": ")[2]
    write_picture(results, folder / PICTURE)
    say_drawn(*difference_tables(results))
    say(story.METHODS.format(best=best, log_zero=results.records[0].log_zero, words=clinic.in_words(results)))
    places = {"model": folder / clinic.MODEL_FILE, "guide": made.guide}
    words = {name: one_line(str(place)) for name, place in places.items()}
    say(story.NEXT.format(folder=one_line(out), page=made.report.name, picture=PICTURE, **words))
