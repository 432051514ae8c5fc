"""Settings by name: what a dataclass says of itself, and values from text and TOML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from beacon.errors import UsageError
from beacon.io.settings import as_text, check_known, converted, from_text, guessed, settings_of


@dataclass(frozen=True)
class Example:
    """Some settings."""

    count: int = 3
    """How many; ``0`` means
    none."""
    ratio: float | None = None
    kind: Literal["a", "b"] = "a"
    """Which."""
    steps: tuple[int, ...] = (1, 2)


def test_a_dataclass_is_the_one_source_of_names_kinds_defaults_and_texts() -> None:
    known = settings_of(Example)
    assert list(known) == ["count", "ratio", "kind", "steps"]
    assert (known["count"].default, known["count"].doc) == (3, "How many; 0 means none.")
    assert (known["ratio"].default, known["ratio"].doc) == (None, "")
    assert known["kind"].doc == "Which."


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "3", 3),
        (float | None, "0.5", 0.5),
        (bool, "Yes", True),
        (Literal["a", "b"], "b", "b"),
        (tuple[int, ...], "1, 2,", (1, 2)),
        (tuple[float, ...], "", ()),
    ],
)
def test_text_becomes_a_value_of_the_settings_kind(kind: Any, text: str, value: object) -> None:
    assert from_text("it", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (int, "2.5", "it must be a whole number; found '2.5'"),
        (bool, "perhaps", "it must be true or false; found 'perhaps'"),
        (tuple[int, ...], "1,x", "it must be whole numbers with commas between them; found '1,x'"),
    ],
)
def test_text_of_another_kind_is_refused(kind: Any, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_text("it", kind, text)


def test_values_of_toml_are_checked_and_converted() -> None:
    assert converted("it", tuple[float, ...], [1, 2.5]) == (1.0, 2.5)
    assert converted("it", tuple[str, ...], "a, b") == ("a", "b")
    assert converted("it", float, 2) == 2.0
    with pytest.raises(UsageError, match="it must be a whole number; found True"):
        converted("it", int, True)


def test_what_is_typed_is_read_as_toml_where_it_can_be() -> None:
    assert [guessed(text) for text in ("3", "0.5", "true", "1,2", "gls+,beacon")] == [
        3,
        0.5,
        True,
        [1, 2],
        "gls+,beacon",
    ]
    assert [as_text(value) for value in (True, (1, 2), 0.5)] == ["true", "1,2", "0.5"]


def test_an_unknown_word_brings_the_closest_known_one() -> None:
    check_known("tune", ["tune", "train"], "unused")
    with pytest.raises(UsageError, match=r"no section is called 'tuen'; did you mean 'tune'\?"):
        check_known("tuen", ["tune", "train"], "no section is called 'tuen'")
