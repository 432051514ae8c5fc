"""Pages of research/ and docs/ whose tables are made from results files."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKS = re.compile(r"(<!-- table: ([a-z0-9 .+-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a results file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def replace_row(path: Path, row: Mapping[str, str]) -> None:
    """Put a row into a results file, in place of the one with the same number in its first column."""
    first = next(iter(row))
    rows = {int(old[first]): old for old in rows_of(path)} if path.exists() else {}
    rows[int(row[first])] = dict(row)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerows(rows[number] for number in sorted(rows))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def updated(page: str, made: dict[str, Callable[[], str]]) -> str:
    """A page with its tables made anew."""
    return MARKS.sub(lambda mark: f"{mark[1]}\n{made[mark[2]]()}\n\n{mark[3]}", page)
