"""Pages of research/ and docs/ whose tables are made from results files."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- table: ([a-z0-9 .+-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a results file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def updated(page: str, made: dict[str, Callable[[], str]]) -> str:
    """A page with its tables made anew."""
    return MARKS.sub(lambda mark: f"{mark[1]}\n{made[mark[2]]()}\n\n{mark[3]}", page)
