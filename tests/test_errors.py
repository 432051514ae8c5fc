"""Checks of settings: what they let pass, and what they say of the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from beacon.errors import (
    UsageError,
    check_at_least,
    check_count,
    check_dropout,
    check_number,
    check_positive,
    plural,
)

NO_NUMBERS = ["3", None, True, np.True_, [1], 1j]

ACCEPTED: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
    (check_count, (3, 3)),
    (check_count, (np.int64(3), 0, 3)),
    (check_number, (0.0, 0)),
    (check_number, (np.float32(1), 0, 1)),
    (check_positive, (1e-300,)),
    (check_at_least, (math.inf, 0)),
    (check_at_least, (1, 1)),
    (check_dropout, (0,)),
]

REFUSED: list[tuple[Callable[..., None], tuple[Any, ...], str]] = [
    (check_count, (2, 3), "must be a whole number of at least 3; found 2"),
    (check_count, (4, 0, 3), "must be a whole number from 0 to 3; found 4"),
    (check_count, (2.0, 0), "must be a whole number of at least 0; found 2.0"),
    (check_number, (-0.1, 0), "must be a number of at least 0; found -0.1"),
    (check_number, (1.5, 0, 1), "must be a number from 0 to 1; found 1.5"),
    (check_number, (math.inf, 0), "must be a number of at least 0; found inf"),
    (check_positive, (0,), "must be a positive number; found 0"),
    (check_positive, (math.inf,), "must be a positive number; found inf"),
    (check_at_least, (math.nan, 0), "must be 0 or more; found nan"),
    (check_at_least, (0.9, 1), "must be 1 or more; found 0.9"),
    (check_count, (2**63, 0), f"must be a whole number from 0 to {2**63 - 1}; found {2**63}"),
    (check_number, (2**63, 0), f"must be a number of at least 0, at most {2**63 - 1}; found {2**63}"),
    (check_positive, (2**63,), f"must be a positive number, at most {2**63 - 1}; found {2**63}"),
    (check_at_least, (2**63, 0), f"must be 0 or more, at most {2**63 - 1}; found {2**63}"),
    (check_dropout, (1.0,), "must be a share, 0 ≤ width < 1; found 1.0"),
]

LIMITS: list[tuple[Callable[..., None], tuple[Any, ...]]] = [
    (check_count, (0,)),
    (check_number, (0,)),
    (check_positive, ()),
    (check_at_least, (0,)),
    (check_dropout, ()),
]


def test_one_is_singular() -> None:
    assert [plural(count, "query") for count in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert [plural(count, "zero factor") for count in (1, 1200)] == ["1 zero factor", "1,200 zero factors"]


@pytest.mark.parametrize(("check", "arguments"), ACCEPTED)
def test_what_lies_within_the_bounds_passes(check: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    check("width", *arguments)


@pytest.mark.parametrize(("check", "arguments", "message"), REFUSED)
def test_what_lies_outside_is_named(
    check: Callable[..., None], arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(UsageError) as error:
        check("width", *arguments)
    assert str(error.value) == f"width {message}"


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize(("check", "limits"), LIMITS)
def test_what_is_no_number_is_refused(
    check: Callable[..., None], limits: tuple[Any, ...], value: object
) -> None:
    with pytest.raises(UsageError, match=r"^width must be "):
        check("width", value, *limits)
