"""A report as one page, and every table and plot as a file of its own."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from beacon.errors import UsageError, plural
from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.metrics import gaps
from beacon.evaluation.records import Record
from beacon.io.files import check_writable, write_bytes
from beacon.report.contents import Report, Section
from beacon.report.plots import INK, drawing_style
from beacon.report.tables import (
    Cell,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    busy,
    colour_of,
    label,
    main_methods,
    number,
    short_name,
    written,
)

PAGE = files("beacon.report") / "page"
PAGE_SUFFIXES = (".html", ".htm")
WRITERS = {"md": as_markdown, "csv": as_csv, "tex": as_latex}


def as_html(report: Report, title: str = "Beacon evaluation") -> str:
    """The page."""
    sections = [*map(_section, report.sections), _queries(report), _provenance(report)]
    entries = [(section.key, section.title) for section in report.sections]
    entries += [("queries", "Query by query"), ("provenance", "How this was made")]
    return Template(_page_file("page.html")).substitute(
        title=escape(title),
        summary=escape(_summary(report)),
        style=_page_file("style.css"),
        script=_page_file("script.js"),
        contents="".join(f'<li><a href="#{key}">{escape(name)}</a></li>' for key, name in entries),
        sections="\n".join(sections),
        data=_embedded(curve_data(report.results)),
    )


def _page_file(name: str) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


def _summary(report: Report) -> str:
    results = report.results
    session = results.run["sessions"][-1] if results.run["sessions"] else {}
    counts = [
        plural(len(results.networks), "network"),
        plural(sum(len(results.queries(network)) for network in results.networks), "query"),
        plural(len(results.seeds), "seed"),
        plural(len(results.methods), "method"),
        plural(len(results.records), "run"),
    ]
    return f"{' · '.join(counts)} · Beacon {session.get('beacon', '')} · {session.get('began', '')[:10]}"


def _section(section: Section) -> str:
    plots = "".join(
        f"<figure>{as_svg(plot.axes, plot.key, for_page=True)}"
        f"<figcaption>{escape(plot.caption)}</figcaption></figure>"
        for plot in section.plots
    )
    gallery = f'<div class="plots">{plots}</div>' if plots else ""
    tables = "".join(map(_table, section.tables))
    if section.folded:
        names = f"<summary>{plural(len(section.folded), 'table')} with every figure</summary>"
        tables += f'<details class="more">{names}{"".join(map(_table, section.folded))}</details>'
    text = f"<p>{escape(section.text)}</p>" if section.text else ""
    points = "".join(f"<li>{escape(point)}</li>" for point in section.points)
    listed = f'<ul class="verdict">{points}</ul>' if points else ""
    return (
        f'<section id="{section.key}"><h2>{escape(section.title)}</h2>'
        f"{text}{listed}{gallery}{tables}</section>"
    )


def as_svg(ax: Any, name: str, *, for_page: bool) -> str:
    """The figure of some axes as an SVG element; ``for_page``: text and lines in the page's colour."""
    buffer = io.StringIO()
    with drawing_style({"svg.hashsalt": name}):  # no two figures of a page share an id
        ax.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return _for_page(text, name) if for_page else text


def _for_page(text: str, name: str) -> str:
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(
        r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img" class="plot">', text, count=1
    )
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    prefix = re.sub(r"\W+", "-", name)
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{prefix}-", text).replace("xlink:href", "href")
    text = re.sub(r"<[^>]+>", _shortened, text)
    text = re.sub(r"font: ([\w ]*?)([\d.]+px) [^;\"]*", r"font: \1\2 var(--font)", text)
    return text.replace(INK, "currentColor").replace("\n", "")


def _shortened(tag: re.Match[str]) -> str:
    """A tag with coordinates to a tenth of a point; text between tags stays as it is."""
    return re.sub(r"(-?\d+\.\d)\d+", r"\1", tag[0])


def _table(table: Table, row_keys: list[str] | None = None, network: str = "") -> str:
    """A sortable table inside a box that scrolls by itself."""
    head = "".join(
        f'<th scope="col" class="{_kind(table, k)}"><button type="button">{escape(name)}</button></th>'
        for k, name in enumerate(table.columns)
    )
    keys = row_keys or [""] * len(table.rows)
    body = "".join(_row(table, row, key) for row, key in zip(table.rows, keys, strict=True))
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    data = f' data-network="{escape(network)}"' if network else ""
    return (
        f'<div class="table"><h3>{escape(table.title)}</h3><div class="scroll" tabindex="0" role="region" '
        f'aria-label="{escape(table.title)}"><table id="table-{escape(table.key)}"{data}>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}</div>"
    )


def _row(table: Table, row: tuple[Cell, ...], key: str) -> str:
    cells = "".join(_cell(cell, _kind(table, k)) for k, cell in enumerate(row))
    return f'<tr data-run="{escape(key)}" tabindex="0">{cells}</tr>' if key else f"<tr>{cells}</tr>"


def _cell(cell: Cell, kind: str) -> str:
    value = cell.full_text if cell.value is None else cell.value
    colour = ""
    if cell.shade is not None:
        strength = round(min(1.0, abs(cell.shade)) * 55)
        colour = f' style="--shade:{strength}%" data-tone="{"good" if cell.shade >= 0 else "bad"}"'
    text = f"<b>{escape(cell.text)}</b>" if cell.is_best else escape(cell.text)
    text += f" <small>{escape(cell.detail)}</small>" if cell.detail else ""
    return f'<td class="{kind}" data-value="{escape(str(value))}"{colour}>{text}</td>'


def _kind(table: Table, column: int) -> str:
    return "label" if column < table.num_labels else "number"


def _queries(report: Report) -> str:
    """A closed box for every network, with a row for every query."""
    results, boxes = report.results, []
    for network in results.networks:
        table = query_table(results, network)
        keys = [f"{row[0].text}/{row[1].text}" for row in table.rows]
        boxes.append(
            f'<details class="queries"><summary>{escape(table.title)} <span>{plural(len(keys), "row")}</span>'
            f'</summary><div class="curves" hidden></div>{_table(table, keys, network)}</details>'
        )
    text = "Open a network, then choose a query to see how every method fared on it."
    return f'<section id="queries"><h2>Query by query</h2><p>{text}</p>{"".join(boxes)}</section>'


def _provenance(report: Report) -> str:
    """The commands, machines and settings that made the numbers."""
    run = report.results.run
    sessions = "".join(
        f"<li><code>{escape(session['command'])}</code><br>{escape(_machine(session))}</li>"
        for session in run["sessions"]
        if session["runs"]
    )
    absent = "".join(
        f"<li>{escape(entry['name'])}: {escape(entry['source'])}</li>" for entry in run.get("missing", [])
    )
    missing = f"<h3>Missing networks</h3><ul>{absent}</ul>" if absent else ""
    settings = escape(json.dumps({"settings": run["settings"], "methods": run["methods"]}, indent=1))
    return (
        '<section id="provenance"><h2>How this was made</h2><p>Commands and machines; the same command on '
        "the same queries makes the same scores at every budget in steps.</p>"
        f'<ul class="sessions">{sessions}</ul>{missing}'
        f"<details><summary>All settings</summary><pre>{settings}</pre></details></section>"
    )


def _machine(session: dict[str, Any]) -> str:
    return (
        f"{session['began']}, {session['runs']:,} runs in {session['seconds']:,.0f} s, Beacon "
        f"{session['beacon']}, Python {session['python']}, {session['processor']}, {session['cores']} cores, "
        f"{plural(session['threads'], 'thread')}; {busy(session)}"
    )


def _embedded(data: dict[str, Any]) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def check_page(page: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse to write the page over another kind of file, or over one of the ``inputs``."""
    is_device = page.exists() and not page.is_file()
    if page.suffix.lower() not in PAGE_SUFFIXES and not is_device:
        raise UsageError(f"expected -o FILE.html for the page, found {page}")
    check_writable(str(page), inputs)


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


MAX_POINTS = 24  # of each curve
MAX_CURVES = 3000  # of a page; the queries beyond have a row and no curve
DIGITS = 7


def query_table(results: Evaluation, network: str) -> Table:
    """One row a query and seed: the best known score, and every method's gap to it at the end."""
    methods = [method for method in main_methods(results) if results.runs(network, method)]
    best = dict(zip(results.queries(network), results.best(network).tolist(), strict=True))
    rows = []
    for query in results.queries(network):
        for seed in results.seeds:
            runs = [results.record(network, method, seed, query) for method in methods]
            known = [run for run in runs if run is not None]
            if known:
                cells = [_gap_cell(run, best[query]) for run in runs]
                free = number(known[0].num_free, 0)
                rows.append((label(str(query)), label(str(seed)), free, number(best[query], 4), *cells))
    return Table(
        f"queries-{network}",
        short_name(results, network),
        ("query", "seed", "free variables", "best known score", *methods),
        tuple(rows),
        "Gaps at the end of each run, %. A click on a row draws its curves; “*” marks a proved optimum.",
        num_labels=2,
    )


def _gap_cell(run: Record | None, best: float) -> Cell:
    if run is None:
        return number(np.nan)
    gap = float(gaps([run.score], [best])[0])
    proved, zeros = "*" if run.proved else "", f"({run.zeros} zeros)" if run.zeros else ""
    shade = None if not np.isfinite(gap) else (0.6 if gap < 1e-9 else -min(1.0, gap / 10))
    return Cell(written(gap, 3 if gap < 100 else 0) + proved, gap, shade=shade, detail=zeros)


def curve_data(results: Evaluation) -> dict[str, Any]:
    """What the page's script draws: per network, query and seed the improvements of every method."""
    methods = main_methods(results)
    room = MAX_CURVES // max(1, len(methods) * len(results.seeds) * len(results.networks))
    networks = {}
    for network in results.networks:
        shown = results.queries(network)[:room]
        networks[network] = {
            f"{query}/{seed}": [_curve(results.record(network, method, seed, query)) for method in methods]
            for query in shown
            for seed in results.seeds
        }
    return {
        "methods": methods,
        "colours": [colour_of(results, method) for method in methods],
        "networks": networks,
    }


def _curve(run: Record | None) -> dict[str, Any] | None:
    """Steps, seconds and scores of a run's improvements, thinned; null without any."""
    if run is None or not run.trace_scores:
        return None
    places = np.unique(np.linspace(0, len(run.trace_scores) - 1, MAX_POINTS).round().astype(int))
    return {
        "steps": [run.trace_steps[k] for k in places],
        "seconds": [_short(run.trace_seconds[k], 4) for k in places],
        "scores": [_short(run.trace_scores[k], DIGITS) for k in places],
        "end": [run.steps, _short(run.setup_seconds + run.seconds, 4)],
    }


def _short(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
