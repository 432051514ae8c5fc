"""What other packages add to Beacon by name: entry points, or objects by where they are."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from beacon.errors import BeaconError, UsageError

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


def load_object(path: str) -> Any:
    """The object at ``package.module:name``; a class is called, without arguments."""
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"expected an object as package.module:name, found {path!r}: {error}") from None
    return found() if isinstance(found, type) else found
