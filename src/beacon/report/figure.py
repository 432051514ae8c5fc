"""Drawing: axes without a window, and figures as SVG that takes the colours of the page around it."""

from __future__ import annotations

import io
import re
from typing import Any

from beacon.errors import MissingDependencyError

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


def new_axes(width: float = 4.0, height: float = 2.8) -> Any:
    """Axes of a figure of their own, that no window and no global state knows of."""
    matplotlib = _matplotlib()
    with matplotlib.rc_context(STYLE):
        from matplotlib.figure import Figure  # noqa: PLC0415

        return Figure(figsize=(width, height), layout="constrained").subplots()


def shown_axes() -> Any:
    """Axes of a figure that notebooks and windows show."""
    _matplotlib()
    import matplotlib.pyplot as plt  # noqa: PLC0415 - optional

    return plt.subplots()[1]


def drawing_style() -> Any:
    """A context in which plots have the style of reports."""
    return _matplotlib().rc_context(STYLE)


def as_svg(ax: Any, name: str, *, for_page: bool) -> str:
    """The figure of some axes as an SVG element; ``for_page``: text and lines in the page's colour."""
    matplotlib = _matplotlib()
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):  # no two figures of a page share an id
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


def _matplotlib() -> Any:
    try:
        import matplotlib  # noqa: PLC0415 - optional
    except ImportError:
        raise MissingDependencyError("matplotlib", "drawing", "plots") from None
    return matplotlib
