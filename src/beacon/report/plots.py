"""Plots as functions of plain data; matplotlib is needed only here, and only when one is drawn.

Every function draws into ``ax``, or into a figure of its own, and returns the axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beacon.errors import MissingDependencyError, UsageError
from beacon.evaluation.metrics import Floats, mean_of
from beacon.model.graph_view import to_networkx
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Trace

INK = "#0b0c0d"  # replaced by the page's own text colour
STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.12,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
}
MOST_DRAWN = 200  # variables of a model; more cannot be told apart
GAP_FLOOR = 0.01  # percent; below it a logarithmic axis becomes linear, down to 0
GREEN, RED = "#1a9850", "#d73027"
DASHES = ("-", "--", "-.", ":")


def new_axes(width: float = 4.0, height: float = 2.8) -> Any:
    """Axes of a new figure, outside of all windows and of matplotlib's global state."""
    with drawing_style():
        from matplotlib.figure import Figure  # noqa: PLC0415 - optional

        return Figure(figsize=(width, height), layout="constrained").subplots()


def shown_axes() -> Any:
    """Axes of a figure that notebooks and windows show."""
    _matplotlib()
    import matplotlib.pyplot as plt  # noqa: PLC0415 - optional

    return plt.subplots()[1]


def drawing_style(more: Mapping[str, Any] | None = None) -> Any:
    """A context in which plots have the style of reports, and more settings of matplotlib."""
    return _matplotlib().rc_context(STYLE | dict(more or {}))


def _matplotlib() -> Any:
    try:
        import matplotlib  # noqa: PLC0415 - optional
    except ImportError:
        raise MissingDependencyError("matplotlib", "drawing", "plots") from None
    return matplotlib


def plot_trace(trace: Trace, ax: Any = None, label: str | None = None) -> Any:
    """Draw the best score of a search against time as steps; a shaded band reaches up to the upper bound.

    Scores of assignments with zero factors are floored, and drawn dotted. The optimum lies in the band.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> result = beacon.solve(ising_grid(6, 6), stop=beacon.MaxSteps(500))
    >>> ax = beacon.plot_trace(result.trace, label="auto")  # result.plot() is the same
    >>> ax.get_ylabel()
    'best log score'
    """
    ax = ax if ax is not None else shown_axes()
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
    if len(trace.bounds):
        _fill_gap(ax, trace, line.get_color())
    ax.set_xlabel("seconds")
    ax.set_ylabel("best log score")
    return ax


def _fill_gap(ax: Any, trace: Trace, colour: Any) -> None:
    """A band between score and bound, from the first bound on."""
    seconds = np.union1d(trace.seconds, trace.bound_seconds)
    seconds = seconds[seconds >= trace.bound_seconds[0]]
    bounds = trace.bound_after(seconds)
    ax.step(seconds, bounds, where="post", linewidth=0.8, color=colour)
    ax.fill_between(seconds, trace.best_after(seconds), bounds, step="post", alpha=0.15, color=colour)


def plot_model(model: GraphicalModel, ax: Any = None) -> Any:
    """Draw a small model's variables and who depends on whom; needs networkx.

    >>> import beacon
    >>> from beacon.model.families import random_bayes_net
    >>> ax = beacon.plot_model(random_bayes_net(num_variables=8, seed=1))
    >>> len(ax.texts)
    8
    """
    if model.num_variables > MOST_DRAWN:
        raise UsageError(f"expected at most {MOST_DRAWN} variables to draw, found {model.num_variables:,}")
    graph = to_networkx(model)
    import networkx as nx  # noqa: PLC0415  (need not be installed)

    if graph.is_directed():
        for generation, names in enumerate(nx.topological_generations(graph)):
            nx.set_node_attributes(graph, dict.fromkeys(names, -generation), "generation")
        places = nx.multipartite_layout(graph, subset_key="generation", align="horizontal")
    else:
        places = nx.spring_layout(graph, seed=0)
    ax = ax if ax is not None else shown_axes()
    style = {"node_color": "#dce6f2", "edge_color": "#888888", "node_size": 900, "font_size": 8}
    nx.draw_networkx(graph, places, ax=ax, **style)
    ax.set_axis_off()
    return ax


def plot_win_heatmap(
    percentages: Floats, rows: Sequence[str], columns: Sequence[str], ax: Any = None, title: str = ""
) -> Any:
    """Win percentages [rows, columns]: green above 50, red below, darker the farther from it.

    >>> import beacon, numpy
    >>> wins = numpy.array([[80.0, 55.0], [30.0, 50.0]])
    >>> ax = beacon.plot_win_heatmap(wins, rows=["grid", "pedigree"], columns=["500", "1,000"])
    >>> [text.get_text() for text in ax.texts]
    ['80', '55', '30', '50']
    """
    with drawing_style():
        from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415 - optional

        ax = ax if ax is not None else new_axes(max(4.0, 1.5 + 0.62 * len(columns)), 0.7 + 0.27 * len(rows))
        ax.pcolormesh(
            np.clip(percentages, 0, 100),
            cmap=LinearSegmentedColormap.from_list("wins", [RED, "#fdd9cf", "#fbfbf5", "#d3eccb", GREEN]),
            vmin=0,
            vmax=100,
            edgecolors="white",
            linewidth=1.5,
        )
        for i, k in np.ndindex(percentages.shape):
            value = percentages[i, k]
            strong = abs(value - 50) > 42
            ax.text(
                k + 0.5,
                i + 0.5,
                "–" if np.isnan(value) else f"{value:.0f}",
                ha="center",
                va="center",
                color="white" if strong else "#1c1c1c",
                fontsize=8,
            )
        ax.set_xticks(np.arange(len(columns)) + 0.5, columns)
        ax.set_yticks(np.arange(len(rows)) + 0.5, rows)
        ax.tick_params(length=0)
        ax.grid(False)
        ax.invert_yaxis()
        ax.spines[:].set_visible(False)
        ax.set_title(title, loc="left")
    return ax


def plot_anytime(
    grid: Floats,
    curves: Mapping[str, Floats],
    colours: Mapping[str, str],
    ax: Any = None,
    *,
    xlabel: str = "steps",
    title: str = "",
) -> Any:
    """Gap to the best known over the budget: the median of each [queries, grid], the middle half shaded.

    A curve begins, with a dot if that is late, where half of the queries have an answer (a finite gap).

    >>> import beacon, numpy
    >>> gaps = {"gls+": numpy.array([[5.0, 1.0, 0.1], [7.0, 2.0, 0.0]])}
    >>> ax = beacon.plot_anytime(numpy.array([10, 100, 1000]), gaps, {"gls+": "tab:blue"})
    >>> ax.get_xlabel()
    'steps'
    """
    with drawing_style():
        ax = ax if ax is not None else new_axes()
        for place, (method, gaps) in enumerate(curves.items()):
            low, middle, high = np.quantile(gaps, [0.25, 0.5, 0.75], axis=0, method="higher")
            known = np.isfinite(middle)
            if not known.any():
                continue
            points, look = grid[known], {"color": colours[method], "zorder": 3 + place}
            style = DASHES[place // 4 % len(DASHES)]
            first = {} if known[0] else {"marker": "o", "markersize": 4, "markevery": [0]}
            ax.plot(points, middle[known], label=method, linestyle=style, clip_on=False, **look, **first)
            ax.fill_between(points, low[known], high[known], alpha=0.15, linewidth=0, color=colours[method])
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=GAP_FLOOR, linscale=0.5)
        ax.set_ylim(bottom=-GAP_FLOOR / 5)  # what is at 0 must not hide behind the axis
        _plain_ticks(ax.xaxis, ax.yaxis)
        return _labelled(ax, xlabel, "gap to best known, %", title)


def plot_bands(
    grid: Floats,
    bands: Mapping[str, tuple[Floats, Floats]],
    colours: Mapping[str, str],
    ax: Any = None,
    title: str = "",
) -> Any:
    """Mean best score over seconds, and a band up to the mean upper bound, from the first mean bound on.

    ``bands`` has the means at the points of the grid, nan where there is none.
    """
    with drawing_style():
        ax = ax if ax is not None else new_axes()
        for method, (scores, bounds) in bands.items():
            known = np.isfinite(scores) & np.isfinite(bounds)
            points, low, high = grid[known], scores[known], bounds[known]
            colour = colours[method]
            ax.step(points, low, where="post", label=method, color=colour)
            ax.step(points, high, where="post", linewidth=0.8, color=colour)
            ax.fill_between(points, low, high, step="post", alpha=0.15, linewidth=0, color=colour)
        ax.set_xscale("log")
        _plain_ticks(ax.xaxis)
        return _labelled(ax, "seconds", "mean log score, bound", title)


def plot_weights(
    budgets: Sequence[float],
    scores: Mapping[str, Floats],
    baseline: str,
    ax: Any = None,
    title: str = "",
) -> Any:
    """Mean score ± standard deviation over queries [queries, budgets] for each λ, the baseline in grey.

    >>> import beacon, numpy
    >>> scores = {"gls+": numpy.array([[-9.0, -5.0]]), "λ=0.5": numpy.array([[-7.0, -4.0]])}
    >>> ax = beacon.plot_weights([100, 1000], scores, baseline="gls+")
    >>> len(ax.containers)
    2
    """
    with drawing_style():
        ax = ax if ax is not None else new_axes()
        shades = _viridis(len(scores))
        offset = 0.012 * (max(budgets) - min(budgets) or 1)
        place = 0
        for name, values in scores.items():
            is_baseline = name == baseline
            colour = "#8a8f98" if is_baseline else shades[place]
            ax.errorbar(
                np.asarray(budgets) + (0 if is_baseline else (place + 1) * offset),
                [mean_of(column).mean for column in values.T],
                [mean_of(column).std for column in values.T],
                label=name,
                color=colour,
                linestyle="--" if is_baseline else "-",
                marker="s" if is_baseline else "o",
                markersize=3.5,
                capsize=2,
                elinewidth=0.8,
            )
            place += not is_baseline
        return _labelled(ax, "steps", "mean log score", title)


def plot_history(history: Sequence[Mapping[str, Any]], ax: Any = None, title: str = "") -> Any:
    """Losses of every epoch of a training.

    >>> import beacon
    >>> ax = beacon.plot_history([{"train_loss": 0.7, "validation_loss": 0.8}, {"train_loss": 0.5}])
    >>> ax.get_xlabel()
    'epoch'
    """
    with drawing_style():
        ax = ax if ax is not None else new_axes()
        names = [name for name in history[0] if name.endswith("loss")] if history else []
        for name in names:
            values = [float(epoch.get(name, np.nan)) for epoch in history]
            ax.plot(
                range(1, len(values) + 1), values, label=name.replace("_", " "), marker="o", markersize=2.5
            )
        return _labelled(ax, "epoch", "loss", title)


def _plain_ticks(*axes: Any) -> None:
    """Powers of ten as plain numbers, and no ticks between them: less to draw, less to read."""
    from matplotlib.ticker import FuncFormatter, NullLocator  # noqa: PLC0415

    for axis in axes:
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, place: plain_power(value)))


def plain_power(value: float) -> str:
    """0.001 … 10,000 in full, thousands and millions above."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= 10 * size or value == 1e6:
            return f"{value / size:,.0f}{unit}"
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0").rstrip(".")


def _labelled(ax: Any, xlabel: str, ylabel: str, title: str) -> Any:
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.set_title(title, loc="left")
    if ax.get_legend_handles_labels()[1]:
        ax.legend(labelcolor=INK)
    return ax


def _viridis(count: int) -> list[Any]:
    from matplotlib import colormaps  # noqa: PLC0415 - optional

    return list(colormaps["viridis"](np.linspace(0.15, 0.85, max(1, count))))
