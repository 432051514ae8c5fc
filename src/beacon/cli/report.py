"""``beacon report``: what an evaluation found, on the terminal, as files and as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from beacon.cli.console import ProgressBar, one_line, say, say_drawn, say_json
from beacon.cli.options import OUTPUT, Json, Quiet, argument, option

TERMINAL_SECTIONS = ("overview", "improvement", "wall-clock", "speed")


def report(
    folder: Annotated[str, argument("DIR", "Folder of `beacon evaluate`.")],
    *,
    out: Annotated[
        str | None, option("-o --out FILE.html", "Page; default: DIR/report.html.", OUTPUT)
    ] = None,
    page_only: Annotated[
        bool,
        option(
            "--no-parts",
            "Only the page, without tables (Markdown, CSV, LaTeX) and plots (SVG) as files beside it.",
            OUTPUT,
        ),
    ] = False,
    show_all: Annotated[bool, option("--all", "Print every table.", OUTPUT)] = False,
    title: Annotated[str, option("--title TEXT", "Title of the page.", OUTPUT)] = "Beacon evaluation",
    suite: Annotated[
        str | None, option("--suite FILE.toml", "Take short names of the networks from it.")
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show an evaluation: tables here, and one self-contained page with tables, plots and every query.

    Works on an evaluation that is still running, too.

    Example:  beacon report run -o run.html
    """
    from beacon.evaluation.evaluation import Evaluation  # noqa: PLC0415
    from beacon.evaluation.problem import enter_names, load_suite  # noqa: PLC0415
    from beacon.report.contents import make_report  # noqa: PLC0415
    from beacon.report.html import check_page, write_parts, write_report  # noqa: PLC0415
    from beacon.report.tables import as_rich  # noqa: PLC0415

    place = Path(folder)
    page = place / "report.html" if out is None else Path(out)
    results = Evaluation.load(place)
    check_page(page, [*place.glob("*.parquet"), place / "run.json", suite])
    if suite is not None:
        enter_names(load_suite(suite), results.run)
    made = make_report(results)
    with ProgressBar("drawing", None, quiet):
        write_report(made, page, title)
        if not page_only:
            write_parts(made, page.parent)
    sections = [section for section in made.sections if show_all or section.key in TERMINAL_SECTIONS]
    tables = [table for section in sections for table in (*section.tables, *section.folded)]
    if json:
        say_json({"page": str(page), "tables": {table.key: table.to_dict() for table in tables}})
        return
    say("\n".join(point for section in made.sections for point in section.points))
    say_drawn(*map(as_rich, tables))
    say(one_line(f"wrote {page}{'' if page_only else '; tables/ and plots/ beside it'}"))
