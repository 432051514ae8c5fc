"""A report on disk: one page, and every table and plot as a file of its own."""

from __future__ import annotations

from pathlib import Path

from beacon.io.files import write_bytes
from beacon.report.contents import Report
from beacon.report.figure import as_svg
from beacon.report.html import as_html
from beacon.report.tables import as_csv, as_latex, as_markdown

WRITERS = {"md": as_markdown, "csv": as_csv, "tex": as_latex}


def write_report(report: Report, page: Path, title: str) -> None:
    """Write the page."""
    _write(page, as_html(report, title))


def write_parts(report: Report, folder: Path) -> None:
    """Write ``tables/`` (Markdown, CSV, LaTeX) and ``plots/`` (SVG) into a folder."""
    for name in ("tables", "plots"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for table in report.tables:
        for suffix, write in WRITERS.items():
            _write(folder / "tables" / f"{table.key}.{suffix}", write(table))
    for plot in report.plots:
        _write(folder / "plots" / f"{plot.key}.svg", as_svg(plot.axes, plot.key, for_page=False))


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode())
