"""The results of many queries: a list that can be put into a table again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from beacon.model.html_view import html_table
from beacon.runner.result import Result

if TYPE_CHECKING:
    import pyarrow as pa

FIGURES = ("log_score", "zero_factors", "steps", "seconds", "stop", "proof", "gap")


class ResultList(list[Result]):
    """One result per query, in the queries' order; a list in every other way.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [[4, 1], [1, 2]])])
    >>> results = beacon.solve_many(model, [{0: 0}, {0: 1}], stop=beacon.MaxSteps(50), threads=1)
    >>> results.to_columns()[model.names[1]]
    ['0', '1']
    """

    def to_columns(self) -> dict[str, list[Any]]:
        """Column by column: the label of every variable, evidence included, then scores and costs.

        ``pandas.DataFrame(results.to_columns())`` and ``polars.DataFrame(...)`` make a table of it. A figure
        whose name a variable has is called by that name and an underscore.
        """
        if not self:
            return {name: [] for name in FIGURES}
        model = self[0].model
        rows = np.array([result.assignment for result in self])
        columns: dict[str, list[Any]] = {
            name: [labels[value] for value in rows[:, i].tolist()]
            for i, (name, labels) in enumerate(zip(model.names, model.labels, strict=True))
        }
        for figure in FIGURES:
            columns[_free_name(figure, columns)] = [getattr(result, figure) for result in self]
        return columns

    def to_arrow(self) -> pa.Table:
        """The same as a table of Arrow, whose ``to_pandas()`` and ``polars.from_arrow`` are quick."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        return pa.table(self.to_columns())

    def _repr_html_(self) -> str:
        """A row per query, for notebooks."""
        rows = ((str(query), *_figures(result)) for query, result in enumerate(self))
        header = ("query", "log score", "zero factors", "steps", "seconds", "stopped by")
        return html_table(f"{len(self):,} results", rows, header, f"… {len(self):,} in all")


def _free_name(name: str, taken: dict[str, list[Any]]) -> str:
    return name if name not in taken else _free_name(f"{name}_", taken)


def _figures(result: Result) -> tuple[str, ...]:
    score, cost = f"{result.log_score:.6f}", f"{result.seconds:.3f}"
    return score, str(result.zero_factors), f"{result.steps:,}", cost, result.stop
