"""Evidence of queries in JSON: a list of objects, variable -> value, or one object."""

from __future__ import annotations

import os
from typing import Any

from beacon.errors import EvidenceError, FormatError, UsageError, shown
from beacon.io.files import parse_json, read_parsed
from beacon.model.evidence import resolve_evidence
from beacon.model.graphical_model import GraphicalModel


def read_json_evidence(path: str | os.PathLike[str], model: GraphicalModel) -> list[dict[int, int]]:
    """Read the evidence of each object, by names or indices."""
    content = read_parsed(path, parse_json, "queries in JSON")
    if isinstance(content, dict):
        return [_query(content, os.fspath(path), "", model)]
    if not isinstance(content, list) or not content:
        wanted = 'expected a list of objects, such as [{"fever": "yes"}], or one object'
        raise FormatError(os.fspath(path), "", f"{wanted}; found {shown(content)}")
    return [_query(one, os.fspath(path), f"object {k}", model) for k, one in enumerate(content, start=1)]


def _query(content: Any, path: str, place: str, model: GraphicalModel) -> dict[int, int]:
    try:
        return resolve_evidence(model, content)
    except (EvidenceError, UsageError) as error:
        raise FormatError(path, place, str(error)) from None
