"""``beacon run``: from a model to a guide and a report, in one command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.collect_options import Jobs
from beacon.cli.console import note, one_line, say, say_drawn, say_json
from beacon.cli.evaluate import results_folder
from beacon.cli.options import SWITCH, Json, ModelFile, Quiet, at_least
from beacon.cli.outputs import check_named
from beacon.cli.train import check_device
from beacon.errors import MissingDependencyError

if TYPE_CHECKING:
    from beacon.evaluation.results import Results
    from beacon.pipeline.pipeline import Job

SETTINGS = "Settings"  # panel of the help


def run(
    model_file: ModelFile,
    *,
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Folder of everything it makes.")],
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            metavar="FILE.toml",
            rich_help_panel=SETTINGS,
            help="Settings, a section for each stage: [queries], [teacher], [collect], [train], [tune], "
            "[evaluate].",
        ),
    ] = None,
    items: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.KEY=VALUE",
            rich_help_panel=SETTINGS,
            help="One setting, in place of the file's; may be repeated.",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="fast|small|paper",
            rich_help_panel=SETTINGS,
            help="The guide, as train.preset; default: small.",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            metavar="N",
            callback=at_least(1),
            rich_help_panel=SETTINGS,
            help="Number of queries, as queries.count; default: 1000.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="S",
            callback=at_least(0),
            rich_help_panel=SETTINGS,
            help="Seed of all randomness; default: the file's, or 0.",
        ),
    ] = None,
    redo: Annotated[
        bool,
        typer.Option(
            "--redo",
            metavar=SWITCH,
            help="If DIR holds a run with other settings: do again what depends on them.",
        ),
    ] = False,
    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="auto|cpu|cuda",
            help="Where the attention network is trained; auto: on the GPU where there is one.",
        ),
    ] = "auto",
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample queries, find references, train and tune a guide, evaluate it and write a report.

    Stop it at any time; the same command goes on from there.

    Example:  beacon run alarm.bif -o alarm --preset fast --count 300
    """
    from beacon.pipeline.pipeline import Job  # noqa: PLC0415
    from beacon.pipeline.settings import gathered, make_settings, seed_of  # noqa: PLC0415

    check_named(out)
    options = {"train.preset": preset, "queries.count": count, ".seed": seed}
    sections = gathered(config, items or [], options)
    job = Job(model_file, Path(out), make_settings(sections), seed_of(sections), jobs, device, quiet)
    stages = run_pipeline(job, redo, _teller(json, quiet))
    if json:
        say_json(_summary(job, stages))
    else:
        _show(job)


def run_pipeline(job: Job, redo: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """All stages of a job, unless another process is at it; what the record says of each stage."""
    from beacon.io.folder_lock import folder_lock  # noqa: PLC0415
    from beacon.pipeline.pipeline import Pipeline  # noqa: PLC0415
    from beacon.pipeline.stages import STAGES, evaluation_facts  # noqa: PLC0415

    _ = job.model  # a file that is no model must not leave a folder behind
    folder = results_folder(str(job.folder))
    with folder_lock(folder):
        pipeline = Pipeline(job, STAGES, evaluation_facts(job))
        pipeline.open(redo)
        if not pipeline.is_done:
            _check_packages()
            if job.settings.preset != "fast":
                check_device(job.device)
        return pipeline.run(tell)


def _check_packages() -> None:
    """What the last stages need must not be found missing after hours of work."""
    from importlib.util import find_spec  # noqa: PLC0415

    needs = {"joblib": ("collecting", "learn"), "torch": ("training a guide", "learn")}
    needs |= {"safetensors": ("training a guide", "learn"), "matplotlib": ("drawing", "plots")}
    for package, (purpose, extra) in needs.items():
        if find_spec(package) is None:
            raise MissingDependencyError(package, purpose, extra)


def _teller(json: bool, quiet: bool) -> Callable[[str], None]:
    """Stages are reported on stdout; on stderr if that is kept for JSON."""
    if not json:
        return lambda line: say(one_line(line))
    return (lambda line: None) if quiet else note


def _show(job: Job) -> None:
    from beacon.evaluation.results import Results  # noqa: PLC0415
    from beacon.report.budgets import budget_table  # noqa: PLC0415
    from beacon.report.tables import as_rich  # noqa: PLC0415

    results = Results.load(job.folder)
    for kind in ("step", "second"):
        if results.budgets(kind):
            say_drawn(as_rich(budget_table(results, results.networks[0], kind)))
    say(one_line(f"wrote {job.folder / 'report.html'}; the guide is {job.folder / 'guide'}"))


def _summary(job: Job, stages: dict[str, Any]) -> dict[str, Any]:
    from beacon.evaluation.results import Results  # noqa: PLC0415

    results = Results.load(job.folder)
    return {
        "folder": str(job.folder),
        "guide": str(job.folder / "guide"),
        "report": str(job.folder / "report.html"),
        "seed": job.seed,
        "stages": stages,
        "step_budgets": results.step_budgets,
        "second_budgets": results.second_budgets,
        "mean_scores": {method: _mean_scores(results, method) for method in results.methods},
    }


def _mean_scores(results: Results, method: str) -> dict[str, list[float | None]]:
    """Mean floored score over the test queries at each budget; null where there is none."""
    import math  # noqa: PLC0415

    (network,) = results.networks
    means = {
        f"{kind}s": [float(results.scores(network, method, kind, b).mean()) for b in results.budgets(kind)]
        for kind in ("step", "second")
    }
    return {name: [v if math.isfinite(v) else None for v in values] for name, values in means.items()}
