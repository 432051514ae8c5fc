"""Beacon: most-probable-explanation inference by fast, learned local search."""

from beacon.errors import BeaconError
from beacon.model.graphical_model import Factor, GraphicalModel

__version__ = "0.1.0"

__all__ = [
    "BeaconError",
    "Factor",
    "GraphicalModel",
]
