"""Small tables in HTML, for notebooks: everything escaped, nothing but a few rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST_ROWS = 20


def html_table(title: str, rows: Iterable[Sequence[str]], header: Sequence[str] = (), more: str = "") -> str:
    """A table of texts; of many rows the first few, and then ``more``."""
    shown = list(islice(iter(rows), MOST_ROWS + 1))
    head = f"<thead>{_row(header, 'th')}</thead>" if header else ""
    body = "".join(_row(row, "td") for row in shown[:MOST_ROWS])
    if len(shown) > MOST_ROWS and more:
        body += f'<tr><td colspan="{len(shown[0])}"><em>{escape(more)}</em></td></tr>'
    return f"<table><caption>{escape(title)}</caption>{head}<tbody>{body}</tbody></table>"


def _row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
