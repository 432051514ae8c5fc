"""``beacon run``: from a model to a guide and a report, in one command."""

from __future__ import annotations

from typing import Annotated, Any

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_drawn, say_json
from beacon.cli.options import Backend, Device, Jobs, Json, ModelFile, Quiet, flags, option
from beacon.io.files import check_named
from beacon.pipeline.settings import RunSettings

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


@flags(
    "changes", RunSettings, SETTINGS, "--preset solved|fast|small|paper", "--count N", unset="{}", check=False
)
def run(
    model_file: ModelFile,
    *,
    out: Annotated[str, option("-o --out DIR", "Folder of everything it makes.")],
    config: Config = None,
    items: Items = None,
    changes: dict[str, Any],
    queries: OwnQueries = None,
    seed: AnySeed = None,
    redo: Redo = False,
    device: Device = "auto",
    jobs: Jobs = None,
    backend: Backend = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample queries, find references, train and tune a guide, evaluate it and write a report.

    Stop it at any time; the same command goes on from there.

    Example:  beacon run alarm.bif -o alarm --preset fast --count 300
    """
    from beacon.pipeline import run as library  # noqa: PLC0415
    from beacon.pipeline.pipeline import stage_line  # noqa: PLC0415
    from beacon.report.comparisons import difference_tables  # noqa: PLC0415
    from beacon.runner.crews import on_backend  # noqa: PLC0415

    check_named(out)
    given: dict[str, Any] = changes | {
        "queries": queries,
        "seed": seed,
        "device": device,
        "jobs": jobs,
        "redo": redo,
    }
    with on_backend(backend, jobs), ProgressBar("", 0, quiet) as bar:
        tell = bar.note if json else bar.say  # stdout is kept for JSON
        given |= {"on_stage": lambda *stage: tell(one_line(stage_line(*stage))), "on_progress": bar.show}
        made = library.run(model_file, out, config, changes=items, command=command_line(), **given)
    if json:
        say_json(made.to_dict())
    else:
        say_drawn(*difference_tables(made.evaluation))
        say(one_line(f"wrote {made.report}; the guide is {made.guide}"))
