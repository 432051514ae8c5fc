"""One file per format: models, evidence, solutions, compressed or not. Each is loaded when it is needed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beacon.formats.evidence import parse_evidence_items as parse_evidence_items
    from beacon.formats.evidence import read_evidence as read_evidence
    from beacon.formats.evidence import write_evidence as write_evidence
    from beacon.formats.evidence_table import read_evidence_table as read_evidence_table
    from beacon.formats.models import read_model as read_model
    from beacon.formats.models import write_model as write_model
    from beacon.formats.pgmpy import from_pgmpy as from_pgmpy
    from beacon.formats.solution import read_solution as read_solution
    from beacon.formats.solution import write_solution as write_solution

_HOMES = {
    "from_pgmpy": "pgmpy",
    "parse_evidence_items": "evidence",
    "read_evidence": "evidence",
    "read_evidence_table": "evidence_table",
    "read_model": "models",
    "read_solution": "solution",
    "write_evidence": "evidence",
    "write_model": "models",
    "write_solution": "solution",
}


def __getattr__(name: str) -> Any:
    """Load a name from where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'beacon.formats' has no attribute {name!r}")
    return getattr(import_module(f"beacon.formats.{_HOMES[name]}"), name)
