"""The structure of JSON and TOML: one line says where it is not as it should be."""

from __future__ import annotations

from typing import Any

import pytest

from beacon.io.structure import NOTHING, NUMBER, misfit

SHAPE = {"name": str, "size?": int, "rows": [{"x": NUMBER}], "of": {...: (str, NOTHING)}}
GOOD = {"name": "a", "rows": [{"x": 1}, {"x": 2.5, "more": []}], "of": {"a": None, "b": "c"}, "else": 1}


def test_what_fits_is_no_problem() -> None:
    assert misfit(GOOD, SHAPE) == ""
    assert misfit({**GOOD, "size": 3}, SHAPE) == ""


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "expected an object, found a list"),
        ({}, "expected 'name', found nothing"),
        ({**GOOD, "name": 1}, "expected text as 'name', found a whole number"),
        ({**GOOD, "size": True}, "expected a whole number as 'size', found true or false"),
        ({**GOOD, "rows": {}}, "expected a list as 'rows', found an object"),
        ({**GOOD, "rows": [{"x": "1"}]}, "expected a number as 'rows[0].x', found text"),
        ({**GOOD, "rows": [{"x": 1}, {}]}, "expected 'rows[1].x', found nothing"),
        ({**GOOD, "of": {"a": 1}}, "expected text or null as 'of.a', found a whole number"),
    ],
)
def test_what_does_not_is_said_with_its_place(value: Any, problem: str) -> None:
    assert misfit(value, SHAPE) == problem
