"""Plots are functions: each draws into the axes it is given, or into a figure of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import beacon
from beacon.model.families import ising_grid
from beacon.runner.search import Trace

TRACE = Trace(np.array([0, 5]), np.array([0.0, 0.1]), np.array([-9.0, -3.0]), np.array([0, 0]))
ROWS = np.array([[5.0, 1.0], [7.0, 0.0]])
DRAWN: dict[str, Callable[..., Any]] = {
    "plot_model": lambda **ax: beacon.plot_model(ising_grid(2, 2), **ax),
    "plot_trace": lambda **ax: beacon.plot_trace(TRACE, **ax),
    "plot_anytime": lambda **ax: beacon.plot_anytime(np.array([10, 100]), {"a": ROWS}, {"a": "C0"}, **ax),
    "plot_win_heatmap": lambda **ax: beacon.plot_win_heatmap(ROWS, ["r", "s"], ["10", "100"], **ax),
    "plot_weights": lambda **ax: beacon.plot_weights([10, 100], {"a": ROWS, "b": ROWS}, "a", **ax),
    "plot_history": lambda **ax: beacon.plot_history([{"loss": 0.5}, {"loss": 0.4}], **ax),
}


@pytest.fixture
def pyplot() -> Any:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


def test_a_trace_with_bounds_has_a_band_up_to_them(pyplot: Any) -> None:
    plain, bounded = beacon.plot_trace(TRACE), beacon.plot_trace(TRACE.with_bounds([(0.05, 4.0), (0.2, 1.0)]))
    assert (len(plain.lines), len(plain.collections)) == (1, 0)
    assert (len(bounded.lines), len(bounded.collections)) == (2, 1)
    assert bounded.lines[1].get_ydata().tolist() == [4.0, 4.0, 1.0]
    corners = bounded.collections[0].get_paths()[0].vertices
    assert (corners[:, 1].min(), corners[:, 1].max()) == (-9.0, 4.0)


def test_every_public_plot_is_tested() -> None:
    assert set(DRAWN) == {name for name in beacon.__all__ if name.startswith("plot_")}


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_is_drawn_into_given_axes(name: str, pyplot: Any) -> None:
    _, (left, right) = pyplot.subplots(1, 2)
    assert DRAWN[name](ax=right) is right
    assert right.lines or right.collections
    assert [*left.lines, *left.collections] == []


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_without_axes_has_a_figure_of_its_own(name: str, pyplot: Any) -> None:
    first, second = DRAWN[name](), DRAWN[name]()
    assert first.figure is not second.figure
    assert first.lines or first.collections
