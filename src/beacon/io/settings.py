"""Settings by name: what a dataclass or a function takes, and values for it from text and from TOML.

The dataclass is the one place where a setting's name, type, default and description stand. Options of the
command line, keys of configuration files and their help are made from it.
"""

from __future__ import annotations

import difflib
import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from beacon.errors import MOST, UsageError, shown
from beacon.io.files import parse_toml

KINDS: dict[Any, str] = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
PLURALS = {int: "whole numbers", float: "numbers", str: "words"}
FIELD = re.compile(r'^    (\w+): .*\n    """([\s\S]*?)"""', re.MULTILINE)
TRUE_WORDS, FALSE_WORDS = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Setting(NamedTuple):
    """Something that a dataclass or a function can be given."""

    name: str
    kind: Any
    default: Any
    doc: str = ""
    """The text under the field of a dataclass."""


@cache
def settings_of(source: Callable[..., Any]) -> dict[str, Setting]:
    """The settings of a dataclass, or the parameters of a function, by name."""
    kinds = get_type_hints(source)
    if is_dataclass(source):
        docs = _field_docs(source)
        found = ((field.name, field.default, field.default_factory) for field in fields(source))
        return {
            name: Setting(name, kinds[name], default if make is MISSING else make(), docs.get(name, ""))
            for name, default, make in found
        }
    parameters = inspect.signature(source).parameters.values()
    return {p.name: Setting(p.name, kinds[p.name], p.default) for p in parameters}


def _field_docs(source: Any) -> dict[str, str]:
    """The string that stands under each field, without markup and line breaks.

    Found by its place: parsing a whole module takes ten times as long, and every command needs this.
    """
    text = Path(inspect.getfile(source)).read_text(encoding="utf-8")
    body = re.split(rf"\nclass {source.__name__}\b", text, maxsplit=1)[1].partition("\n\n\n")[0]
    return {name: " ".join(doc.replace("``", "").split()) for name, doc in FIELD.findall(body)}


def closest(word: str, known: Sequence[str]) -> str:
    """A hint at what may have been meant."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"


def check_known(word: str, known: Sequence[str], problem: str) -> None:
    """Raise ``problem``, which quotes the word, with a hint unless the word is known."""
    if word not in known:
        raise UsageError(f"{problem}; {closest(word, known)}")


def as_text(value: Any) -> str:
    """A value as it is typed on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def items_to_settings(items: Sequence[str], known: Mapping[str, Setting]) -> dict[str, Any]:
    """Turn ``key=value`` items into keyword arguments."""
    chosen: dict[str, Any] = {}
    for item in items:
        key, sign, text = item.partition("=")
        if not sign:
            raise UsageError(f"expected a setting as KEY=VALUE, found {item!r}")
        check_known(key, list(known), f"no setting is called {key!r}")
        chosen[key] = from_text(key, known[key].kind, text)
    return chosen


def plain_kind(kind: Any) -> Any:
    """The type without None and without the list of its values: int of ``int | None``."""
    if get_origin(kind) in {Union, types.UnionType}:
        (kind,) = [choice for choice in get_args(kind) if choice is not type(None)]
    return str if get_origin(kind) is Literal else kind


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def from_text(what: str, kind: Any, text: str) -> Any:
    """What is typed on the command line as a value of that type; lists have commas."""
    kind = plain_kind(kind)
    if kind is bool:
        if text.lower() not in TRUE_WORDS + FALSE_WORDS:
            raise UsageError(f"{what} must be true or false; found {text!r}")
        return text.lower() in TRUE_WORDS
    is_list = get_origin(kind) is not None
    try:
        if not is_list:
            return kind(text)
        return tuple(map(get_args(kind)[0], words_of(text)))
    except ValueError:
        wanted = f"{PLURALS[get_args(kind)[0]]} with commas between them" if is_list else KINDS[kind]
        raise UsageError(f"{what} must be {wanted}; found {text!r}") from None


def guessed(text: str) -> Any:
    """What is typed, read as TOML: numbers, true and false, lists with or without brackets; else text."""
    for attempt in (text, f"[{text}]"):
        try:
            return parse_toml(f"value = {attempt}")["value"]
        except ValueError:
            continue
    return text


def converted(what: str, kind: Any, value: Any) -> Any:
    """A value of a TOML file as one of that type; ``what`` names it in messages."""
    kind = plain_kind(kind)
    if get_origin(kind) is tuple:
        return _sequence(what, get_args(kind), value)
    if not _fits(kind, value):
        raise UsageError(f"{what} must be {KINDS[kind]}; found {shown(value)}")
    return kind(value)


def _sequence(what: str, kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    """A list; or one value, or words with commas between them."""
    if isinstance(value, str):
        value = list(words_of(value))
    values = list(value) if isinstance(value, list | tuple) else [value]
    if kinds[-1] is not Ellipsis and len(values) != len(kinds):
        raise UsageError(f"{what} must be {len(kinds)} numbers; found {value!r}")
    if not all(_fits(kinds[0], one) for one in values):
        raise UsageError(f"{what} must be a list, each {KINDS[kinds[0]]}; found {value!r}")
    return tuple(kinds[0](one) for one in values)


def _fits(kind: Any, value: Any) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if isinstance(value, int) and abs(value) > MOST:
        return False
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)
