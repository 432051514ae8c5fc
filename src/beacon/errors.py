"""What can go wrong through no fault of the code: errors of one line for the user, and their words."""

from __future__ import annotations

import math
import numbers
from typing import Any

MOST = (1 << 63) - 1


class BeaconError(Exception):
    """Base of all errors that a user can cause and a user can fix.

    >>> import beacon
    >>> try:
    ...     beacon.MaxSteps(-1)
    ... except beacon.BeaconError as error:
    ...     print(error)
    MaxSteps needs a limit of 0 or more; found -1
    """


def shown(found: object) -> str:
    """What was found, for the one line of an error: an object whose text is long goes by its type."""
    text = repr(found)
    return text if len(text) <= 80 and "\n" not in text else f"an object of type {type(found).__name__}"


def plural(count: int, word: str) -> str:
    """1 query, 2 queries."""
    ending = word if count == 1 else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {ending}"


def first_line(error: Exception) -> str:
    """The first line of an error, which may have many."""
    return (str(error).splitlines() or ["no reason given"])[0]


class FormatError(BeaconError):
    """A file does not hold what its format says it should."""

    def __init__(self, path: object, where: str, problem: str) -> None:
        """Join the three parts of every parse error: which file, where in it, what is wrong."""
        place = f"{path}, {where}" if where else str(path)
        super().__init__(f"{place}: {problem}")


class ModelError(BeaconError):
    """Variables and factors that do not make a graphical model, or not the kind that was asked for."""


class EvidenceError(BeaconError):
    """Evidence, or an assignment, that does not fit the model."""


class UsageError(BeaconError):
    """A wrong argument; the command line leaves with exit code 2."""


class MissingDependencyError(BeaconError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, purpose: str, extra: str | None) -> None:
        """Name the package, what for, and the extra that installs it; None: it is installed by itself."""
        wanted = package if extra is None else f"'beacon-mpe[{extra}]'"
        super().__init__(f"{purpose} needs {package}; install it with: pip install {wanted}")


def check_seed(seed: object) -> None:
    """A seed numpy accepts."""
    check_count("seed", seed, 0)


def check_count(name: str, value: Any, low: int, high: int | None = None) -> None:
    """A whole number within bounds."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or not low <= value <= (MOST if high is None else high):
        is_open = high is None and not _is_too_large(value)
        bounds = f"of at least {low}" if is_open else f"from {low} to {MOST if high is None else high}"
        raise UsageError(f"{name} must be a whole number {bounds}; found {shown(value)}")


def check_is_number(name: str, value: object) -> None:
    """Refuse text, None and whatever else is no number at all; bounds are the caller's."""
    if not _is_number(value):
        raise UsageError(f"{name} needs a number{_at_most(value)}; found {shown(value)}")


def check_number(name: str, value: Any, low: float, high: float = math.inf) -> None:
    """A finite number within bounds."""
    if not _is_number(value) or not math.isfinite(value) or not low <= value <= high:
        bounds = f"of at least {low:g}{_at_most(value)}" if high == math.inf else f"from {low:g} to {high:g}"
        raise UsageError(f"{name} must be a number {bounds}; found {shown(value)}")


def check_positive(name: str, value: Any) -> None:
    """A finite number above zero."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise UsageError(f"{name} must be a positive number{_at_most(value)}; found {shown(value)}")


def check_at_least(name: str, value: Any, low: float) -> None:
    """A number of at least ``low``, or infinity."""
    if not _is_number(value) or not value >= low:
        raise UsageError(f"{name} must be {low:g} or more{_at_most(value)}; found {shown(value)}")


def check_dropout(name: str, value: Any) -> None:
    """A share that leaves something."""
    if not _is_number(value) or not 0 <= value < 1:
        raise UsageError(f"{name} must be a share, 0 ≤ {name} < 1; found {shown(value)}")


def _is_too_large(value: Any) -> bool:
    return isinstance(value, int) and value > MOST


def _at_most(value: Any) -> str:
    """The limit that a whole number breaks though it keeps all others."""
    return f", at most {MOST}" if _is_too_large(value) else ""


def _is_number(value: Any) -> bool:
    """Numbers of hundreds of digits are none: no double holds them."""
    if isinstance(value, int):
        return not isinstance(value, bool) and -MOST <= value <= MOST
    return isinstance(value, numbers.Real)
