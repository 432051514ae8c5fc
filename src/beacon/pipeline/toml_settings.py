"""Settings from TOML files and ``section.key=value`` items, checked after the dataclasses that take them."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union, get_args, get_origin

from beacon.cli.settings import Setting, closest
from beacon.errors import FormatError, UsageError
from beacon.io.structured import parse_toml

KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


class Given(NamedTuple):
    """A value that the user chose, and where."""

    value: Any
    place: str
    """The file or the option, for messages."""


def read_sections(path: str, known: Sequence[str], loose: Sequence[str]) -> dict[str, dict[str, Given]]:
    """The sections of a TOML file; the section "" has the keys outside of any, which ``loose`` lists."""
    try:
        content = parse_toml(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(path, "", f"expected settings in TOML: {error}") from None
    sections: dict[str, dict[str, Given]] = {}
    for name, value in content.items():
        if not isinstance(value, dict) and name in loose:
            sections.setdefault("", {})[name] = Given(value, path)
            continue
        _check_section(name, known, path)
        if not isinstance(value, dict):
            raise FormatError(path, "", f"expected a section [{name}]; found {name} = {value!r}")
        sections[name] = {key: Given(entry, path) for key, entry in value.items()}
    return sections


def add_item(sections: dict[str, dict[str, Given]], item: str, known: Sequence[str]) -> None:
    """Enter a ``section.key=value`` item of the command line, in place of what is there."""
    name, sign, text = item.partition("=")
    section, dot, key = name.strip().partition(".")
    if not (sign and dot):
        raise UsageError(f"--set: expected SECTION.KEY=VALUE, found {item!r}")
    _check_section(section, known, "--set")
    sections.setdefault(section, {})[key] = Given(value_of(text.strip()), "--set")


def value_of(text: str) -> Any:
    """What is typed, read as TOML: numbers, true and false, lists with or without brackets; else text."""
    for attempt in (text, f"[{text}]"):
        try:
            return parse_toml(f"value = {attempt}")["value"]
        except ValueError:
            continue
    return text


def checked(section: str, given: Mapping[str, Given], known: Mapping[str, Setting]) -> dict[str, Any]:
    """The values of a section, each of the kind that its setting has."""
    for key, (_, place) in given.items():
        if key not in known:
            raise UsageError(f"{place}: [{section}] has no setting {key!r}; {closest(key, list(known))}")
    return {
        key: _converted(f"{place}: {section}.{key}", known[key].kind, value)
        for key, (value, place) in given.items()
    }


def _check_section(name: str, known: Sequence[str], place: str) -> None:
    if name not in known:
        raise UsageError(f"{place}: no section is called {name!r}; {closest(name, known)}")


def _converted(what: str, kind: Any, value: Any) -> Any:
    if get_origin(kind) in {Union, types.UnionType}:  # a setting that may be left out
        (kind,) = [choice for choice in get_args(kind) if choice is not type(None)]
    if get_origin(kind) is tuple:
        return _sequence(what, get_args(kind), value)
    if not _fits(kind, value):
        raise UsageError(f"{what} must be {KINDS[kind]}; found {value!r}")
    return kind(value)


def _sequence(what: str, kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """A list; or one value, or words with commas between them."""
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    values = value if isinstance(value, list) else [value]
    if kinds[-1] is not Ellipsis and len(values) != len(kinds):
        raise UsageError(f"{what} must be {len(kinds)} numbers; found {value!r}")
    if not all(_fits(kinds[0], one) for one in values):
        raise UsageError(f"{what} must be a list, each {KINDS[kinds[0]]}; found {value!r}")
    return tuple(kinds[0](one) for one in values)


def _fits(kind: Any, value: Any) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)
