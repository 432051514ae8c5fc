"""The public names: all there, and the same for people and for type checkers."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import beacon

SOURCE = Path(beacon.__file__).read_text(encoding="utf-8")


def names_for_type_checkers() -> dict[str, list[str]]:
    """Home -> names, as listed under ``if TYPE_CHECKING``."""
    homes: dict[str, list[str]] = {}
    for block in ast.parse(SOURCE).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                assert isinstance(line, ast.ImportFrom)
                assert all(alias.name == alias.asname for alias in line.names)  # re-exported on purpose
                homes.setdefault(str(line.module), []).extend(alias.name for alias in line.names)
    return homes


@pytest.mark.parametrize("name", beacon.__all__)
def test_every_public_name_is_what_its_home_calls_by_that_name(name: str) -> None:
    assert getattr(beacon, name) is getattr(import_module(beacon._NAME_TO_HOME[name]), name)


def test_type_checkers_see_the_same_names_in_the_same_homes() -> None:
    assert names_for_type_checkers() == beacon._HOMES


def test_no_name_is_listed_twice() -> None:
    names = [name for names in beacon._HOMES.values() for name in names]
    assert sorted(names) == beacon.__all__
    assert len(set(names)) == len(names)


def test_the_public_names_are_listed_for_completion() -> None:
    assert set(beacon.__all__) | {"__version__"} == set(dir(beacon))


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in beacon.__version__.split(".")] == [True] * 3


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'beacon' has no attribute 'solv'"):
        beacon.solv  # noqa: B018
    assert not hasattr(beacon, "_nothing")
