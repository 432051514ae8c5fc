"""What other packages add to Beacon by name: entry points that are loaded when they are first asked for."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from beacon.errors import BeaconError

STRATEGIES = "beacon.strategies"
GUIDES = "beacon.guides"


def installed_names(group: str) -> list[str]:
    """The names that installed packages add to a group, in alphabetical order."""
    return sorted({point.name for point in entry_points(group=group)})


def load_installed(group: str, name: str) -> Any | None:
    """What an installed package calls by this name in a group; None if there is no such thing."""
    points = list(entry_points(group=group, name=name))
    return _loaded(points[0]) if points else None


def _loaded(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = point.dist.name if point.dist else "an installed package"
        raise BeaconError(f"{package} offers {point.name!r} and cannot be loaded: {error}") from None
