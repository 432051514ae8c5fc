"""``beacon report``: what an evaluation found, on the terminal, as files and as one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.console import one_line, say, say_drawn, say_json
from beacon.cli.options import OUTPUT, SWITCH, Json, Quiet
from beacon.cli.outputs import check_writable
from beacon.cli.progress import ProgressBar
from beacon.errors import BeaconError, UsageError

if TYPE_CHECKING:
    from beacon.report.contents import Report

PAGE_SUFFIXES = (".html", ".htm")
TERMINAL_SECTIONS = ("overview", "improvement", "wall-clock", "speed")


def report(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder of `beacon evaluate`.")],
    *,
    out: Annotated[
        str | None,
        typer.Option(
            "-o", "--out", metavar="FILE.html", rich_help_panel=OUTPUT, help="Page; default: DIR/report.html."
        ),
    ] = None,
    page_only: Annotated[
        bool,
        typer.Option(
            "--no-parts",
            metavar=SWITCH,
            rich_help_panel=OUTPUT,
            help="Only the page, without tables (Markdown, CSV, LaTeX) and plots (SVG) as files beside it.",
        ),
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", metavar=SWITCH, rich_help_panel=OUTPUT, help="Print every table.")
    ] = False,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", rich_help_panel=OUTPUT, help="Title of the page.")
    ] = "Beacon evaluation",
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite", metavar="FILE.toml", help="Take names and published figures of the networks from it."
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show an evaluation: tables here, and one self-contained page with tables, plots and every query.

    Works on an evaluation that is still running, too.

    Example:  beacon report run -o run.html
    """
    from beacon.evaluation.results import Results  # noqa: PLC0415
    from beacon.report.contents import make_report  # noqa: PLC0415
    from beacon.report.files import write_parts, write_report  # noqa: PLC0415

    place = Path(folder)
    if not place.is_dir():
        raise BeaconError(f"cannot read {folder}: no such folder")
    page = place / "report.html" if out is None else Path(out)
    check_page(page)
    check_writable(str(page), [*place.glob("*.parquet"), place / "run.json", suite])
    results = Results.load(place)
    if suite is not None:
        _take_names(results.run, suite)
    made = make_report(results, place)
    with ProgressBar("drawing", None, quiet):
        write_report(made, page, title)
        if not page_only:
            write_parts(made, page.parent)
    if json:
        say_json({"page": str(page), "tables": _facts(made, show_all)})
        return
    _show(made, show_all)
    beside = "" if page_only else "; tables/ and plots/ beside it"
    say(one_line(f"wrote {page}{beside}"))


def check_page(page: Path) -> None:
    """Refuse a name of another kind of file: most likely it is one that must not be lost."""
    is_device = page.exists() and not page.is_file()
    if page.suffix.lower() not in PAGE_SUFFIXES and not is_device:
        raise UsageError(f"expected -o FILE.html for the page, found {page}")


def _take_names(run: dict[str, dict[str, dict[str, object]]], suite: str) -> None:
    """Enter what a suite knows of the networks that were evaluated."""
    from beacon.evaluation.suite import load_suite  # noqa: PLC0415

    for network in load_suite(suite).networks:
        if network.name in run["networks"]:
            run["networks"][network.name] |= {
                "short_name": network.short_name,
                "stands_in_for": network.stands_in_for,
                "published": network.published,
            }


def _facts(made: Report, show_all: bool) -> dict[str, Any]:
    """The tables that would be printed: the texts of their cells, row by row."""
    return {
        table.key: {
            "title": table.title,
            "columns": list(table.columns),
            "rows": [[cell.full_text for cell in row] for row in table.rows],
        }
        for section in made.sections
        if show_all or section.key in TERMINAL_SECTIONS
        for table in section.tables
    }


def _show(made: Report, show_all: bool) -> None:
    """Print the tables that matter most, or all."""
    from beacon.report.tables import as_rich  # noqa: PLC0415

    for section in made.sections:
        if show_all or section.key in TERMINAL_SECTIONS:
            for table in section.tables:
                say_drawn(as_rich(table))
