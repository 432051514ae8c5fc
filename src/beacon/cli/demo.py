"""``beacon demo``: what Beacon is good at, in a minute or two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_drawn
from beacon.cli.options import OUTPUT, Quiet, option
from beacon.io.files import check_named

NAME, PICTURE, CLINIC = "grid", "demo.png", "clinic.bif"


def demo(
    *,
    out: Annotated[str, option("-o --out DIR", "Folder for what it makes.", OUTPUT)] = "beacon-demo",
    quiet: Quiet = False,
) -> None:
    """Diagnose a patient exactly, solve a hard model before your eyes, then learn to solve it faster.

    Takes less than a minute on two cores; the first time, when kernels are compiled, two minutes more.

    Example:  beacon demo
    """
    from beacon.cli import demo_story as story  # noqa: PLC0415
    from beacon.formats import write_model  # noqa: PLC0415
    from beacon.pipeline.pipeline import Job, stage_line  # noqa: PLC0415
    from beacon.pipeline.run import run_job  # noqa: PLC0415
    from beacon.report.comparisons import difference_tables  # noqa: PLC0415
    from beacon.report.contents import verdict  # noqa: PLC0415
    from beacon.report.drawings import write_picture  # noqa: PLC0415

    check_named(out)
    folder, model, clinic = Path(out), story.hard_model(), story.clinic()
    story.make_ready(folder, model)
    story.tell_story(clinic, quiet)
    story.show_search(model, quiet)
    say(story.LEARNING.format(count=story.COUNT, folder=one_line(out)))
    with ProgressBar("", 0, quiet) as bar:
        job = Job(model, NAME, folder, story.demo_settings(), command=command_line(), on_progress=bar.show)
        made = run_job(job, redo=True, on_stage=lambda *stage: bar.say(one_line(stage_line(*stage))))
    results, best = made.evaluation, made.stages["tune"]["summary"].partition(": ")[2]
    write_picture(results, folder / PICTURE)
    write_model(clinic, folder / CLINIC)
    say_drawn(*difference_tables(results))
    say(story.METHODS.format(best=best, words="\n".join(verdict(results))))
    places = {"clinic": folder / CLINIC, "model": folder / story.MODEL_FILE, "guide": made.guide}
    words = {name: one_line(str(place)) for name, place in places.items()}
    say(story.NEXT.format(folder=one_line(out), page=made.report.name, picture=PICTURE, **words))
