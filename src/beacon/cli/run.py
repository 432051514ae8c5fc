"""``beacon run``: from a model to a guide and a report, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_drawn, say_json
from beacon.cli.options import Device, Jobs, Json, ModelFile, Quiet, option
from beacon.io.files import check_named
from beacon.pipeline.settings import DEFAULT_COUNT, DEFAULT_PRESET

SETTINGS = "Settings"  # panel of the help
Config = Annotated[
    str | None,
    option(
        "--config FILE.toml",
        "Settings, a section for each stage: [queries], [teacher], [collect], [train], [tune], [evaluate].",
        SETTINGS,
    ),
]
Items = Annotated[
    list[str] | None,
    option("--set SECTION.KEY=VALUE", "One setting, in place of the file's; may be repeated.", SETTINGS),
]
Preset = Annotated[
    str | None,
    option("--preset fast|small|paper", f"The guide, as train.preset; default: {DEFAULT_PRESET}.", SETTINGS),
]
Count = Annotated[
    int | None,
    option("--count N", f"Number of queries, as queries.count; default: {DEFAULT_COUNT}.", SETTINGS, low=1),
]
OwnQueries = Annotated[
    str | None,
    option(
        "--queries FILE",
        "Queries of your own in place of sampled ones: a table (.csv, .parquet), .evid, .json, or a folder.",
        SETTINGS,
    ),
]
AnySeed = Annotated[
    int | None, option("--seed S", "Seed of all randomness; default: the file's, or 0.", SETTINGS, low=0)
]
Redo = Annotated[
    bool, option("--redo", "If DIR holds a run with other settings: do again what depends on them.")
]


def run(
    model_file: ModelFile,
    *,
    out: Annotated[str, option("-o --out DIR", "Folder of everything it makes.")],
    config: Config = None,
    items: Items = None,
    preset: Preset = None,
    count: Count = None,
    queries: OwnQueries = None,
    seed: AnySeed = None,
    redo: Redo = False,
    device: Device = "auto",
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample queries, find references, train and tune a guide, evaluate it and write a report.

    Stop it at any time; the same command goes on from there.

    Example:  beacon run alarm.bif -o alarm --preset fast --count 300
    """
    from beacon.evaluation.problem import network_name  # noqa: PLC0415
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.pipeline.pipeline import Job, stage_line  # noqa: PLC0415
    from beacon.pipeline.run import run_job  # noqa: PLC0415
    from beacon.pipeline.settings import gathered, make_settings, seed_of  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415
    from beacon.report.comparisons import difference_tables  # noqa: PLC0415

    check_named(out)
    options = {"train.preset": preset, "queries.count": count, ".seed": seed}
    sections = gathered(config, items or [], options)
    settings, number = make_settings(sections), seed_of(sections)
    name, folder, model = network_name(model_file), Path(out), read_model(model_file)
    own = None if queries is None else QuerySet.load(queries, model)
    with ProgressBar("", 0, quiet) as bar:
        job = Job(model, name, folder, settings, number, jobs, device, command_line(), bar.show, own)
        tell = bar.note if json else bar.say  # stdout is kept for JSON
        made = run_job(job, redo, lambda *stage: tell(one_line(stage_line(*stage))))
    if json:
        say_json(made.to_dict())
    else:
        say_drawn(*difference_tables(made.evaluation))
        say(one_line(f"wrote {made.report}; the guide is {made.guide}"))
