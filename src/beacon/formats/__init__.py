"""Models in files of any format, and one file per format: each is loaded when it is needed.

``read_model`` and ``write_model`` are here; evidence, solutions and pgmpy's networks have files of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from beacon.errors import FormatError, ModelError, UsageError, shown
from beacon.io.files import TextFile, base_suffix, read_text, write_text
from beacon.model.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from beacon.formats.evidence import read_evidence as read_evidence
    from beacon.formats.evidence import write_evidence as write_evidence
    from beacon.formats.evidence_table import read_evidence_table as read_evidence_table
    from beacon.formats.pgmpy import from_pgmpy as from_pgmpy
    from beacon.formats.pgmpy import to_pgmpy as to_pgmpy
    from beacon.formats.solution import read_solution as read_solution
    from beacon.formats.solution import write_solution as write_solution


_HOMES = {
    "from_pgmpy": "pgmpy",
    "read_evidence": "evidence",
    "read_evidence_table": "evidence_table",
    "read_solution": "solution",
    "to_pgmpy": "pgmpy",
    "write_evidence": "evidence",
    "write_solution": "solution",
}


def __getattr__(name: str) -> Any:
    """Load a name from where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'beacon.formats' has no attribute {name!r}")
    return getattr(import_module(f"beacon.formats.{_HOMES[name]}"), name)


class _Format(NamedTuple):
    suffix: str
    start: str | None
    """Pattern of the first words of a file, after comments."""
    module: str
    """Where ``read(text, path)`` and ``write(model)`` are; imported when a file needs it."""
    options: dict[str, Any]
    """What both take, too."""
    is_written: bool = True
    in_parts: bool = False
    """Does ``read`` take a :class:`TextFile` in place of the text?"""

    @property
    def code(self) -> Any:
        """The module."""
        return import_module(f"beacon.formats.{self.module}")


_FORMATS = (
    _Format(".uai", r"(?i:MARKOV|BAYES)\s", "uai", {}, in_parts=True),
    _Format(".lg", None, "uai", {"logs": True}, in_parts=True),
    _Format(".wcsp", r"\S+(?:[ \t]+\d+){4}[ \t]*\n", "wcsp", {}, in_parts=True),
    _Format(".cfn", r"\{", "cfn", {}),
    _Format(".bif", r"(?:network|variable|probability)\b", "bif", {}),
    _Format(".xmlbif", r"<", "xmlbif", {}),
    _Format(".xml", None, "xmlbif", {}),
    _Format(".erg", r"[0-9]+\s", "ergo", {}, is_written=False),
)
_COMMENTS = re.compile(r"\A(?:\s+|(?://|#)[^\n]*|/\*.*?\*/)*", re.DOTALL)


def read_model(path: str | os.PathLike[str]) -> GraphicalModel:
    """Read a model, compressed or not: .uai, .lg, .wcsp, .cfn, .bif, .xmlbif (.xml) or .erg, in any case.

    Another name is told by its content; an .lg file needs its name, since it looks like an .uai file.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> beacon.write_model(model, "pair.uai.gz")
    >>> beacon.read_model("pair.uai.gz").fingerprint == model.fingerprint
    True
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"expected the path of a model file; found {shown(path)}")
    place = os.fspath(path)
    known, source = _format_and_source(place)
    try:
        model: GraphicalModel = known.code.read(source, place, **known.options)
    except ModelError as error:
        raise FormatError(place, "", str(error)) from None
    return model


def write_model(model: GraphicalModel, path: str | os.PathLike[str], *, precision: int = 6) -> None:
    """Write a model in the format of the file's suffix, and compressed if a second suffix says so.

    ``precision`` is the number of decimals that the integer costs of a .wcsp file keep, and that solvers keep
    of a .cfn file.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> for name in ("pair.uai", "pair.wcsp", "pair.lg.xz"):
    ...     beacon.write_model(model, name)
    """
    known = _format_of_name(path)
    if known is None or not known.is_written:
        writable = _suffixes(known for known in _FORMATS if known.is_written)
        raise UsageError(
            f"cannot write {os.fspath(path)}: models are written to files that end in {writable}"
        )
    options = {"precision": precision} if known.module in {"wcsp", "cfn"} else known.options
    write_text(path, known.code.write(model, **options))


def _format_and_source(path: str) -> tuple[_Format, str | TextFile]:
    """The format of a file, and what its reader takes."""
    known = _format_of_name(path)
    if known is not None and known.in_parts:
        return known, TextFile(path)
    text = read_text(path)
    return known or _format_of_content(text, path), text


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
