"""Whether the content of a JSON or TOML file has the structure that its kind of file needs."""

from __future__ import annotations

from typing import Any

from beacon.io.settings import KINDS

NUMBER = (int, float)
NOTHING = type(None)
WORDS = KINDS | {dict: "an object", list: "a list", NOTHING: "null", NUMBER: "a number"}
Shape = Any
"""A type or several; ``[shape]``: a list of such; ``{...: shape}``: an object whose values all are such;
``{"name": shape, "other?": shape}``: an object with these keys, and any others."""


def misfit(value: Any, shape: Shape, place: str = "") -> str:
    """Where a value is not as the shape says, in words; empty if it is."""
    if isinstance(shape, list):
        return _wrong(value, list, place) or _first(
            misfit(entry, shape[0], f"{place}[{k}]") for k, entry in enumerate(value)
        )
    if isinstance(shape, dict):
        return (
            _wrong(value, dict, place)
            or _first(
                _misfit_at(value, str(key), inner, place) for key, inner in shape.items() if key is not ...
            )
            or _first(
                misfit(entry, shape[...], f"{place}.{key}") for key, entry in value.items() if ... in shape
            )
        )
    return _wrong(value, shape, place)


def _misfit_at(value: dict[str, Any], key: str, shape: Shape, place: str) -> str:
    name = key.removesuffix("?")
    if name not in value:
        return "" if key.endswith("?") else f"expected {f'{place}.{name}'.strip('.')!r}, found nothing"
    return misfit(value[name], shape, f"{place}.{name}".strip("."))


def _wrong(value: Any, kinds: Any, place: str) -> str:
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    is_right = isinstance(value, several) and (not isinstance(value, bool) or bool in several)
    if is_right or object in several:
        return ""
    wanted = WORDS[kinds] if kinds in WORDS else " or ".join(WORDS[kind] for kind in several)
    found = WORDS.get(type(value), type(value).__name__)
    return f"expected {wanted} as {place!r}, found {found}" if place else f"expected {wanted}, found {found}"


def _first(problems: Any) -> str:
    return next(filter(None, problems), "")
