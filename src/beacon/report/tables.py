"""Tables as data, and as text for terminals, Markdown, CSV and LaTeX; and how they call what they show."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from beacon.errors import plural
from beacon.evaluation.evaluation import Evaluation, Kind

if TYPE_CHECKING:
    from beacon.learn.tune import Tuning

NOTHING = "–"  # what a cell without a value shows


@dataclass(frozen=True)
class Cell:
    """What a reader sees, and the number behind it."""

    text: str
    value: float | str | None = None
    """What CSV holds and what sorting goes by; None: the text."""
    is_best: bool = False
    shade: float | None = None
    """-1 (red: worse) … 1 (green: better); None: no colour."""
    detail: str = ""
    """An interval or a count beside the text, less prominent where the format allows it."""

    def __post_init__(self) -> None:
        """Numbers that JSON does not have become text."""
        if isinstance(self.value, float) and not math.isfinite(self.value):
            object.__setattr__(self, "value", str(self.value))

    @property
    def full_text(self) -> str:
        """Text and detail."""
        return f"{self.text} {self.detail}" if self.detail else self.text


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first ``num_labels`` columns say what a row is about."""

    key: str
    """Name of its files and anchor."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    num_labels: int = 1

    def __post_init__(self) -> None:
        """Every row has a cell for every column."""
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.key}: expected {len(self.columns)} cells, found {len(row)}")

    def to_dict(self) -> dict[str, Any]:
        """The texts of the cells, row by row: what ``beacon report --json`` prints."""
        rows = [[cell.full_text for cell in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def label(text: str) -> Cell:
    """A cell of words."""
    return Cell(text, text)


def number(value: float, digits: int = 2) -> Cell:
    """A cell of one number."""
    return Cell(written(value, digits), value)


def written(value: float, digits: int = 2) -> str:
    """A number for a reader."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text.replace("-", "−")


def digits_of(value: float) -> int:
    """Decimals worth showing: the larger the number, the fewer."""
    return 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0


def duration(seconds: float) -> str:
    """A time for a reader, in the unit that suits it."""
    if not math.isfinite(seconds):
        return written(seconds)
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size or unit == "µs":
            return f"{seconds / size:.3g} {unit}"
    return NOTHING


def mark_best(cells: Sequence[Cell], largest: bool = False) -> list[Cell]:
    """Mark the best of the numbers in some cells, and all that read the same."""
    values = [cell.value for cell in cells if isinstance(cell.value, int | float)]
    if len(values) < 2:
        return list(cells)
    best = max(values) if largest else min(values)
    shown = {cell.text for cell in cells if cell.value == best}
    return [replace(cell, is_best=cell.text in shown) for cell in cells]


def as_markdown(table: Table) -> str:
    """A Markdown table under its title."""
    lines = [f"### {table.title}", "", _piped(table.columns)]
    lines.append(_piped("---" if k < table.num_labels else "---:" for k in range(len(table.columns))))
    for row in table.rows:
        lines.append(_piped(_emphasised(cell) for cell in row))
    return "\n".join(lines + (["", table.note] if table.note else [])) + "\n"


def as_csv(table: Table) -> str:
    """Full numbers, one row a line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([cell.full_text if cell.value is None else cell.value for cell in row])
    return out.getvalue()


def as_latex(table: Table) -> str:
    """A table for a paper, with the rules of booktabs."""
    columns = "l" * table.num_labels + "r" * (len(table.columns) - table.num_labels)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escaped(table.title)}}}"]
    lines += [rf"\label{{tab:{table.key}}}", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_row(map(_escaped, table.columns)), r"\midrule"]
    for row in table.rows:
        lines.append(_row(map(_latex_cell, row)))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def as_rich(table: Table) -> RichTable:
    """A table for the terminal."""
    drawn = RichTable(
        title=table.title, title_justify="left", caption=table.note or None, caption_justify="left"
    )
    for k, column in enumerate(table.columns):
        drawn.add_column(Text(column), justify="left" if k < table.num_labels else "right")
    for row in table.rows:
        drawn.add_row(*(Text(cell.full_text, style=_style(cell)) for cell in row))
    return drawn


def tuning_table(tuning: Tuning, names: Sequence[str], slim: bool = False) -> RichTable:
    """A row for each way to search, under the name given; ``slim``: without lines between the columns."""
    marks = [f"{mark:g} s" for mark in tuning.settings.seconds] or [f"{k:,}" for k in tuning.settings.steps]
    head = ["way" if slim else "way to search", "queries", "rank", *marks]
    rows = [
        [name, str(row["queries"]), f"{row['rank']:.2f}", *map(_known, row["scores"])]
        for name, row in zip(names, tuning.table, strict=True)
    ]
    shared = min(row["queries"] for row in tuning.table)
    title = f"Mean best scores of the first {plural(shared, 'query')}"
    table = RichTable(title=title, box=None if slim else box.HEAVY_HEAD, pad_edge=not slim)
    for k, column in enumerate(zip(head, *rows, strict=True)):
        width = max(map(len, column))
        table.add_column(head[k], justify="right" if k else "left", no_wrap=True, min_width=width)
    for cells in rows:
        table.add_row(*cells)
    return table


def _known(score: float | None) -> str:
    return "none" if score is None else f"{score:.3f}"


def _style(cell: Cell) -> str:
    colour = "" if cell.shade is None or abs(cell.shade) < 0.05 else ("green" if cell.shade > 0 else "red")
    return " ".join(filter(None, ["bold" if cell.is_best else "", colour]))


def _emphasised(cell: Cell) -> str:
    return replace(cell, text=f"**{cell.text}**").full_text if cell.is_best else cell.full_text


def _latex_cell(cell: Cell) -> str:
    text, detail = _escaped(cell.text), _escaped(cell.detail)
    bold = rf"\textbf{{{text}}}" if cell.is_best else text
    return rf"{bold} {{\small {detail}}}" if detail else bold


def _piped(cells: object) -> str:
    texts = [str(cell).replace("|", r"\|") for cell in cells]  # type: ignore[attr-defined]
    return f"| {' | '.join(texts)} |"


def _row(cells: object) -> str:
    return " & ".join(cells) + r" \\"  # type: ignore[arg-type]


LATEX = {
    "\\": r"\textbackslash{}",
    "−": r"$-$",
    "–": "--",
    "±": r"$\pm$",
    "∞": r"$\infty$",
    "λ": r"$\lambda$",
    "α": r"$\alpha$",
    "µ": r"\textmu{}",
    "≤": r"$\leq$",
    "½": r"$\frac{1}{2}$",
    "₀": r"$_0$",
    "×": r"$\times$",
    "…": r"\ldots{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _escaped(text: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in text)


COLOURS = {
    "gls+": "#3b7dd8",
    "tree": "#e07b39",
    "auto": "#2a9d6f",
    "beacon": "#a35bc9",
    "toulbar2": "#d64550",
    "beacon-gls+": "#17a2b8",
    "greedy": "#8a8f98",
    "beacon-greedy": "#c9a227",
}
"""Distinct for colour-blind readers, and legible on white and on dark grey."""


def short_name(results: Evaluation, network: str) -> str:
    """A network's short name; an asterisk where it stands in for another one."""
    facts = results.run["networks"].get(network, {})
    return (facts.get("short_name") or network) + ("*" if facts.get("stands_in_for") else "")


def is_variant(results: Evaluation, method: str) -> bool:
    """Is it one of several weights of the same guided method, measured for the λ curves?"""
    return results.weights.get(method) is not None and " λ=" in method


def main_methods(results: Evaluation) -> list[str]:
    """The methods of the comparison, without the variants of a λ sweep."""
    return [method for method in results.methods if not is_variant(results, method)]


def colour_of(results: Evaluation, method: str) -> str:
    """The same colour for a method in every plot, and in every report if it is one of Beacon's own."""
    if method in COLOURS:
        return COLOURS[method]
    others = [one for one in results.methods if one not in COLOURS]
    free = [colour for name, colour in COLOURS.items() if name not in results.methods] or [*COLOURS.values()]
    return free[others.index(method) % len(free)]


def amount(kind: Kind, budget: float) -> str:
    """A budget as a column's heading."""
    if kind == "step":
        return f"{int(budget):,}"
    return f"{budget:g} s"


def busy(session: Mapping[str, Any]) -> str:
    """How busy the machine was, from its load averages at the beginning and at the end."""
    loads = [load for load in session.get("load", []) if load is not None]
    if not loads:
        return "how busy the machine was is not known"
    return (
        f"load {' … '.join(f'{load:.1f}' for load in loads)} on {plural(session.get('cores') or 0, 'core')}"
    )
