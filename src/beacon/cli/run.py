"""``beacon run``: from a model to a guide and a report, in one command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_drawn, say_json
from beacon.cli.options import Backend, Device, Jobs, Json, ModelFile, Quiet, check_least, flags, option
from beacon.io.files import check_named
from beacon.pipeline.settings import RunSettings

SETTINGS, ITEMS = "Settings", "--set SECTION.KEY=VALUE"


@dataclass(frozen=True)
class Given:
    """Where settings come from, besides the options of their own."""

    config: str | None = None
    """Settings, a section for each stage: [queries], [teacher], [collect], [train], [tune], [evaluate]."""
    items: list[str] = field(default_factory=list)
    """One setting, in place of the file's; may be repeated."""
    queries: str | None = None
    """Queries of your own in place of sampled ones: a table (.csv, .parquet), .evid, .json, or a folder."""
    key: list[str] = field(default_factory=list)
    """A column of --queries that is no variable; may be repeated."""
    seed: int | None = None
    """Seed of all randomness; default: the file's, or 0."""
    redo: bool = False
    """If DIR holds a run with other settings: do again what depends on them."""

    def __post_init__(self) -> None:
        check_least(self, seed=0)


@flags(
    *("given", Given, SETTINGS, "--config FILE.toml", "--queries FILE", "--key COLUMN", "--seed S", "--redo"),
    items=ITEMS,
)
@flags(
    "changes", RunSettings, SETTINGS, "--preset solved|fast|small|paper", "--count N", unset="{}", check=False
)
def run(
    model_file: ModelFile,
    *,
    out: Annotated[str, option("-o --out DIR", "Folder of everything it makes.")],
    given: Given,
    changes: dict[str, Any],
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
    how: dict[str, Any] = {"changes": given.items, "device": device, "jobs": jobs, **changes}
    how |= {name: getattr(given, name) for name in ("queries", "seed", "redo")} | {"keys": given.key}
    with on_backend(backend, jobs), ProgressBar("", 0, quiet) as bar:
        tell = bar.note if json else bar.say  # stdout is kept for JSON
        how |= {"on_stage": lambda *stage: tell(one_line(stage_line(*stage))), "on_progress": bar.show}
        made = library.run(model_file, out, given.config, command=command_line(), **how)
    if json:
        say_json(made.to_dict())
    else:
        say_drawn(*difference_tables(made.evaluation))
        say(one_line(f"wrote {made.report}; the guide is {made.guide}"))
