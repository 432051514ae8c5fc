"""What is measured: methods, the budgets they get, and what each leaves behind on one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Trace


@dataclass(frozen=True)
class Budget:
    """Every search runs until both the largest number of steps and the largest time are used up."""

    steps: tuple[int, ...] = (500, 1000, 2000, 4000)
    seconds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        """Sort out repeats; refuse nothing to measure and budgets that make no sense."""
        object.__setattr__(self, "steps", tuple(sorted(set(self.steps))))
        object.__setattr__(self, "seconds", tuple(sorted(set(self.seconds))))
        if not self.steps and not self.seconds:
            raise UsageError("nothing to measure; give budgets in steps, in seconds or both")
        if self.steps and self.steps[0] < 1:
            raise UsageError(f"budgets in steps must be at least 1; found {self.steps[0]}")
        if self.seconds and not 0 < self.seconds[0] <= self.seconds[-1] < np.inf:
            raise UsageError(f"budgets in seconds must be positive numbers; found {self.seconds}")

    @property
    def max_steps(self) -> int:
        """The largest number of steps; 0 if only time counts."""
        return self.steps[-1] if self.steps else 0

    @property
    def max_seconds(self) -> float:
        """The largest time; 0 if only steps count."""
        return self.seconds[-1] if self.seconds else 0.0


@dataclass(frozen=True, eq=False)
class Query:
    """One problem: evidence, and where every method of the comparison begins."""

    index: int
    """Its place in the query set."""
    evidence: dict[int, int]
    start: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Network:
    """A model and its compiled form, shared by all methods."""

    name: str
    model: GraphicalModel
    flat: FlatModel

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process compiles the model anew."""
        return _network, (self.name, self.model, self.flat.log_zero)

    def floored_score(self, assignment: NDArray[np.int64] | None) -> tuple[float, int]:
        """An assignment's floored score and zero factors, recomputed from the model; -inf for none."""
        if assignment is None:
            return -np.inf, 0
        score = self.model.floored_log_score(assignment, self.flat.log_zero)
        return score, self.model.num_zero_factors(assignment)


def _network(name: str, model: GraphicalModel, log_zero: float) -> Network:
    return Network(name, model, compile_model(model, log_zero))


@dataclass(frozen=True, eq=False)
class Run:
    """What a method did on one query."""

    trace: Trace
    """Improvements, timed from the moment the method got the query; empty if nothing was found."""
    assignment: NDArray[np.int64] | None
    steps: int
    setup_seconds: float
    """Time before the first step."""
    seconds: float
    """Time of the steps themselves (for solvers without steps: all of it)."""
    stop: str
    proved: bool
    """Is the assignment proved optimal?"""
    upper_bound: float | None = None
    """Proved not to be below the optimum; None: nothing is known."""


class Method(Protocol):
    """A way to answer queries, ready to be measured.

    It may also have ``baseline`` (the name of the method it is meant to improve on), ``weight`` (λ of a
    guided method), ``counts_steps`` (False if budgets in steps mean nothing to it) and ``settings()`` (all
    that makes its results what they are, for the record).
    """

    @property
    def name(self) -> str:
        """What tables call it; every method of an evaluation has a name of its own."""

    def prepare(self, network: Network) -> None:
        """Whatever may be done once per model, before any clock runs."""

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """Answer queries, each as soon as it is done; closing the iterator abandons the rest."""


def settings_of_method(method: Method) -> dict[str, Any]:
    """What a method says of itself, for the record."""
    settings: dict[str, Any] = method.settings() if hasattr(method, "settings") else {}
    return settings
