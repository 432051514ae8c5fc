"""The outcome of tuning as a table whose numbers are never cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from beacon.learn.tune import Tuning


def tuning_table(tuning: Tuning, names: Sequence[str], slim: bool = False) -> Table:
    """A row for each way to search, under the name given; ``slim``: without lines between the columns."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    marks = [f"{mark:g} s" for mark in tuning.settings.seconds] or [f"{k:,}" for k in tuning.settings.steps]
    head = ["way" if slim else "way to search", "queries", "rank", *marks]
    rows = [
        [name, str(row["queries"]), f"{row['rank']:.2f}", *(f"{score:.3f}" for score in row["scores"])]
        for name, row in zip(names, tuning.table, strict=True)
    ]
    table = Table(title="Mean best scores", box=None if slim else box.HEAVY_HEAD, pad_edge=not slim)
    for k, column in enumerate(zip(head, *rows, strict=True)):
        width = max(map(len, column))
        table.add_column(head[k], justify="right" if k else "left", no_wrap=True, min_width=width)
    for cells in rows:
        table.add_row(*cells)
    return table
