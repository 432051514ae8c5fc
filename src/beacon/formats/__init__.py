"""One file per format: models, evidence, solutions, compressed or not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from beacon.errors import FormatError, ModelError, UsageError
from beacon.formats import bif, cfn, uai, wcsp
from beacon.formats.evidence import parse_evidence_items, read_evidence, write_evidence
from beacon.formats.evidence_table import read_evidence_table
from beacon.formats.pgmpy import from_pgmpy
from beacon.formats.solution import read_solution, write_solution
from beacon.io.files import base_suffix, read_text, write_text
from beacon.model.graphical_model import GraphicalModel

__all__ = [
    "from_pgmpy",
    "parse_evidence_items",
    "read_evidence",
    "read_evidence_table",
    "read_model",
    "read_solution",
    "write_evidence",
    "write_model",
    "write_solution",
]


class _Format(NamedTuple):
    suffix: str
    start: str | None  # pattern of the first words of a file, after comments
    read: Callable[[str, str], GraphicalModel]  # text and path
    write: Callable[[GraphicalModel, int], str] | None  # model and precision


_FORMATS = (
    _Format(".uai", r"(?i:MARKOV|BAYES)\s", uai.read, lambda model, _: uai.write(model)),
    _Format(".lg", None, partial(uai.read, logs=True), lambda model, _: uai.write(model, logs=True)),
    _Format(".wcsp", r"\S+(?:[ \t]+\d+){4}[ \t]*\n", wcsp.read, wcsp.write),
    _Format(".cfn", r"\{", cfn.read, None),
    _Format(".bif", r"(?:network|variable|probability)\b", bif.read, lambda model, _: bif.write(model)),
)
_COMMENTS = re.compile(r"\A(?:\s+|(?://|#)[^\n]*|/\*.*?\*/)*", re.DOTALL)


def read_model(path: str | os.PathLike[str]) -> GraphicalModel:
    """Read a model, compressed or not: .uai, .lg, .wcsp, .cfn or .bif, whatever the case.

    Another name is told by its content; an .lg file needs its name, since it looks like an .uai file.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> beacon.write_model(model, "pair.uai.gz")
    >>> beacon.read_model("pair.uai.gz").fingerprint == model.fingerprint
    True
    """
    place = os.fspath(path)
    text = read_text(place)
    known = _format_of_name(place) or _format_of_content(text, place)
    try:
        return known.read(text, place)
    except ModelError as error:
        raise FormatError(place, "", str(error)) from None


def write_model(model: GraphicalModel, path: str | os.PathLike[str], *, precision: int = 6) -> None:
    """Write a model in the format of the file's suffix, and compressed if a second suffix says so.

    ``precision`` is the number of decimals that the integer costs of a .wcsp file keep.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> for name in ("pair.uai", "pair.wcsp", "pair.lg.xz"):
    ...     beacon.write_model(model, name)
    """
    known = _format_of_name(path)
    if known is None or known.write is None:
        writable = _suffixes(known for known in _FORMATS if known.write)
        raise UsageError(
            f"cannot write {os.fspath(path)}: models are written to files that end in {writable}"
        )
    write_text(path, known.write(model, precision))


def _format_of_name(path: str | os.PathLike[str]) -> _Format | None:
    suffix = base_suffix(path)
    return next((known for known in _FORMATS if known.suffix == suffix), None)


def _format_of_content(text: str, path: str) -> _Format:
    start = _COMMENTS.sub("", text, count=1)
    for known in _FORMATS:
        if known.start and re.match(known.start, start):
            return known
    wanted = f"expected a model, or a name that ends in {_suffixes(_FORMATS)}"
    raise FormatError(path, "line 1", f"cannot tell the format by the content; {wanted}")


def _suffixes(formats: Iterable[_Format]) -> str:
    """Suffixes as errors list them; each may be followed by that of a compression."""
    return ", ".join(known.suffix for known in formats) + " (then .gz, .xz or .bz2 if compressed)"
