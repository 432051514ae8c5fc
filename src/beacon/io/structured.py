"""JSON and TOML: whatever is wrong with a text is a ValueError with one line."""

from __future__ import annotations

import json
import math
import tomllib
from typing import Any

TOO_DEEP = "brackets are nested too deeply"


def parse_json(text: str | bytes, *, finite: bool = True) -> Any:
    """The value of a JSON text; ``finite`` refuses nan, infinities and numbers that overflow."""
    number = _finite if finite else float
    try:
        return json.loads(text, parse_float=number, parse_constant=number)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML text."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"expected finite numbers, found {text}")
    return number
