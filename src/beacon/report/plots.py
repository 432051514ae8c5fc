"""Plots as functions; matplotlib is needed only here, and only when one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from beacon.errors import MissingDependencyError
from beacon.search.trace import Trace


def plot_trace(trace: Trace, ax: Any = None, label: str | None = None) -> Any:
    """Draw the best score of a search against time as steps, into ``ax`` or a new figure; return the axes.

    Scores of assignments with zero factors are floored, and drawn dotted.
    """
    ax = ax if ax is not None else _new_axes()
    feasible = trace.zero_factors == 0
    line = ax.step(trace.seconds, np.where(feasible, trace.scores, np.nan), where="post", label=label)[0]
    if not feasible.all():
        ax.step(
            trace.seconds,
            np.where(feasible, np.nan, trace.scores),
            where="post",
            linestyle=":",
            color=line.get_color(),
        )
    ax.set_xlabel("seconds")
    ax.set_ylabel("best log score")
    return ax


def _new_axes() -> Any:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ImportError:
        raise MissingDependencyError("matplotlib", "drawing", "plots") from None
    return plt.subplots()[1]
