"""``key=value`` settings, checked and converted after the signature of the function that takes them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from beacon.errors import UsageError

TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")


class Setting(NamedTuple):
    """A keyword that a function takes."""

    name: str
    kind: Any
    default: Any


def settings_of(function: Callable[..., Any]) -> dict[str, Setting]:
    """The settings of a function by name."""
    kinds = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return {p.name: Setting(p.name, kinds[p.name], p.default) for p in parameters}


def parse_settings(items: Sequence[str], known: dict[str, Setting]) -> dict[str, Any]:
    """Turn ``key=value`` items into keyword arguments."""
    chosen: dict[str, Any] = {}
    for item in items:
        key, sign, value = item.partition("=")
        if not sign:
            raise UsageError(f"expected a setting as KEY=VALUE, found {item!r}")
        chosen[key] = _converted(_known_setting(key, known), value)
    return chosen


def closest(word: str, known: Sequence[str]) -> str:
    """A hint at what may have been meant."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"


def written(value: Any) -> str:
    """A setting's value as it is typed on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _known_setting(key: str, known: dict[str, Setting]) -> Setting:
    if key not in known:
        raise UsageError(f"no setting is called {key!r}; {closest(key, list(known))}")
    return known[key]


def _converted(setting: Setting, text: str) -> Any:
    if setting.kind is bool:
        return _as_bool(setting, text)
    if get_origin(setting.kind) is not None:  # a sequence of numbers, such as 12,20,6
        (kind,) = get_args(setting.kind)
        return tuple(_as_number(setting, kind, part) for part in text.split(","))
    return _as_number(setting, setting.kind, text)


def _as_bool(setting: Setting, text: str) -> bool:
    if text.lower() not in TRUE_WORDS + FALSE_WORDS:
        raise UsageError(f"{setting.name} must be true or false; found {text!r}")
    return text.lower() in TRUE_WORDS


def _as_number(setting: Setting, kind: type[int] | type[float], text: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        several = "" if setting.kind is kind else ", or several with commas between them"
        raise UsageError(f"{setting.name} must be {wanted}{several}; found {text!r}") from None
