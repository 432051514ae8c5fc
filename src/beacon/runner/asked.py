"""What is asked besides the best assignment: alternatives, margins, and what if."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from beacon.errors import EvidenceError, UsageError, check_count
from beacon.model.evidence import Evidence, resolve_supposed
from beacon.model.flat import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.pool import Cancelled
from beacon.runner.result import Result, checked_result
from beacon.runner.runner import Query, Runner
from beacon.runner.stop import Stop

if TYPE_CHECKING:
    from beacon.exact.tree import Tree


@dataclass(frozen=True)
class Asked:
    """What is asked of a result besides its assignment. It checks itself."""

    alternatives: int | None = None
    """The number of best assignments, the answer included."""
    distance: int = 1
    """Any two of them differ in at least this many variables."""
    margins: bool = False
    """What each value of each variable would cost."""
    suppose: Mapping[int, int] = field(default_factory=dict)
    """Values to be supposed for once."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.alternatives is not None:
            check_count("alternatives", self.alternatives, 1)
        check_count("distance", self.distance, 1)
        if self.distance > 1 and self.alternatives is None:
            raise UsageError("a distance is that of alternatives; ask for some of them, too (alternatives=K)")

    @classmethod
    def of(
        cls,
        model: GraphicalModel,
        alternatives: int | None,
        distance: int,
        margins: bool,
        suppose: Evidence | None,
    ) -> Asked:
        """The same, with values to be supposed by name or index."""
        return cls(alternatives, distance, bool(margins), resolve_supposed(model, suppose))

    @property
    def is_nothing(self) -> bool:
        """Is only the assignment asked for?"""
        return not (self.alternatives or self.margins or self.suppose)

    def check(self, model: GraphicalModel, evidence: Mapping[int, int]) -> None:
        """Refuse to suppose what is observed."""
        for variable in self.suppose:
            if variable in evidence:
                name, label = model.names[variable], model.labels[variable][evidence[variable]]
                raise EvidenceError(
                    f"{name!r} is observed as {label!r}; suppose a variable that is not, or leave it out "
                    "of the evidence"
                )

    def answered(
        self, result: Result, runner: Runner, stop: Stop, cancelled: Cancelled | None = None
    ) -> Result:
        """The result with all that is asked; what must be searched takes as long again at most.

        After a cancelled search nothing else is computed.
        """
        cancelled = cancelled or Cancelled()
        if self.is_nothing or cancelled.is_set():
            return result
        began = perf_counter()
        tree = _tree_of(result, runner) if self.alternatives or self.margins else None
        if self.alternatives:
            from beacon.runner.alternatives import alternatives_of  # noqa: PLC0415 - on request only

            found = alternatives_of(result, self.alternatives, self.distance, tree, runner, stop, cancelled)
            result = replace(result, alternatives=found)
        if self.margins:
            from beacon.runner.margins import margins_of  # noqa: PLC0415

            result = replace(result, margins=margins_of(result, tree, runner, stop, cancelled))
        if self.suppose:
            result = replace(result, supposed=_supposed(result, self.suppose, runner, stop, cancelled))
        return replace(result, total_seconds=result.total_seconds + perf_counter() - began)


def _tree_of(result: Result, runner: Runner) -> Tree | None:
    """The tables of an elimination that has proved the result, if they can be kept."""
    if result.proof != "elimination":
        return None
    from beacon.exact.tree import grow_tree  # noqa: PLC0415

    return grow_tree(runner.flat, as_fixed(result.evidence, result.model.num_variables), result.seed)


def _supposed(
    result: Result, suppose: Mapping[int, int], runner: Runner, stop: Stop, cancelled: Cancelled
) -> Result:
    """The best assignment with some values besides the evidence; a search goes on from the answer."""
    evidence = dict(sorted({**result.evidence, **suppose}.items()))
    start = result.assignment.copy()
    for variable, value in suppose.items():
        start[variable] = value
    query = Query(evidence, start, yields=True, seed=result.seed)
    outcome = runner.outcome(query, [stop], cancelled=cancelled)
    return checked_result(result.model, evidence, outcome, runner.flat, result.seed)
