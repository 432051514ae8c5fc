"""The Bayesian Interchange Format (.bif): networks with named variables and values."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import NDArray

from beacon.formats.lexer import Lexer, unquoted
from beacon.formats.limits import TableBudget
from beacon.formats.tokens import shortened
from beacon.model.graphical_model import Factor, GraphicalModel

# Published tables are rounded; a row that is off by more is a mistake.
SUM_TOLERANCE = 1e-2

WORD = r'(?:[^\s{}()\[\];|,"/]|/(?![/*]))+'
_PUNCTUATION = "{}()[];"
_TOKEN = re.compile(
    rf'{WORD}|[{re.escape(_PUNCTUATION)}]|"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|["/]', re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Variable:
    token: int
    labels: tuple[str, ...]
    label_to_value: dict[str, int]


@dataclass(slots=True)
class _Distribution:
    """A probability block as it stands in the file; places are token indices."""

    token: int
    child: str
    parents: list[str]
    table: tuple[int, NDArray[np.float64]] | None = None
    default: tuple[int, NDArray[np.float64]] | None = None
    rows: dict[tuple[str, ...], tuple[int, NDArray[np.float64]]] = field(default_factory=dict)


def read(text: str, path: str) -> GraphicalModel:
    """Read a network; each factor has the scope (parents …, child), as in UAI files."""
    reader = _Reader(Lexer(text, path, _TOKEN, comments=("//", "/*")))
    reader.read_blocks()
    return reader.model()
