"""The public names: all there, and the same for people and for type checkers."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import beacon

LIST = Path(beacon.__file__).with_suffix(".pyi")


@pytest.mark.parametrize("name", beacon.__all__)
def test_every_public_name_is_what_its_home_calls_by_that_name(name: str) -> None:
    assert getattr(beacon, name) is getattr(import_module(beacon._NAME_TO_HOME[name]), name)


def test_every_line_of_the_list_exports_a_name_on_purpose() -> None:
    lines = [
        line for line in ast.parse(LIST.read_text(encoding="utf-8")).body if isinstance(line, ast.ImportFrom)
    ]
    exported = [(alias.name, alias.asname, str(line.module)) for line in lines for alias in line.names]
    assert all(name == alias for name, alias, _ in exported)
    assert {name: home for name, _, home in exported} == beacon._NAME_TO_HOME
    assert len(exported) == len(beacon.__all__)


def test_the_public_names_are_listed_for_completion() -> None:
    assert set(beacon.__all__) | {"__version__"} == set(dir(beacon))


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in beacon.__version__.split(".")] == [True] * 3


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'beacon' has no attribute 'solv'"):
        beacon.solv  # noqa: B018
    assert not hasattr(beacon, "_nothing")
