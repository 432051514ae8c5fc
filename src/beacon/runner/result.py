"""What searches found, checked: every score here is recomputed from the model, not taken from the search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon.engine.core import rescore
from beacon.errors import BeaconError, plural
from beacon.model.flat import FlatModel, as_fixed, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.search import Search, Trace

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from beacon.runner.alternatives import Alternatives
    from beacon.runner.margins import Margins

FIGURES = ("log_score", "zero_factors", "steps", "seconds", "stop", "proof", "gap")
MAX_SUM_ENTRIES = 1 << 22  # table entries up to which a probability is cheap: some tens of milliseconds


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search leaves behind, not checked yet. Its clock counts everything since its query began."""

    assignment: NDArray[np.int64]
    score: float
    """Floored, as the search believes."""
    zero_factors: int
    trace: Trace
    steps: int
    seconds: float
    """Set-up, its share of all scorings, and search."""
    setup_seconds: float
    """Until the search could begin: set-up, and its share of a scoring before it."""
    stop: str
    """Why it ended."""
    method: str
    upper_bound: float | None = None
    """No assignment is better than this; None if nothing is known."""
    proof: str | None = None
    """How the assignment is proved optimal, if it is."""
    is_impossible: bool = False
    """Is it proved that every assignment has probability zero?"""

    @classmethod
    def of(cls, search: Search, stop: str, setup_seconds: float = 0.0, trace: Trace | None = None) -> Outcome:
        """The outcome of a search as it stands."""
        is_bounded = stop in {"optimal", "gap"} or search.upper_bound < math.inf
        return cls(
            assignment=search.best_assignment,
            score=search.best_score,
            zero_factors=search.best_zeros,
            trace=search.trace if trace is None else trace,
            steps=search.steps,
            seconds=search.seconds,
            setup_seconds=setup_seconds,
            stop=stop,
            method=search.strategy.name,
            upper_bound=search.least_bound if is_bounded else None,
            proof="bound" if stop == "optimal" else None,
        )

    def as_impossible(self) -> Outcome:
        """The same where every assignment is proved to have probability zero: none is the optimum."""
        stop = self.stop if self.stop == "interrupted" else "impossible"
        return replace(self, is_impossible=True, stop=stop, proof=None, upper_bound=None)


@dataclass(frozen=True, eq=False)
class Result:
    """The best assignment of one query and how it was found.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> result = beacon.solve(ising_grid(4, 4), {"x_0_0": 1})
    >>> int(result.assignment[0]), result.zero_factors, result.is_optimal, result.proof, result.gap
    (1, 0, True, 'elimination', 0.0)
    >>> result = beacon.solve(ising_grid(4, 4), {"x_0_0": 1}, strategy="gls+", stop=beacon.MaxSteps(200))
    >>> result.steps, result.proof, bool(result.trace.best_at(200) >= result.trace.best_at(9))
    (200, None, True)
    """

    model: GraphicalModel = field(repr=False)
    evidence: dict[int, int] = field(repr=False)
    assignment: NDArray[np.int64] = field(repr=False)
    """A value index for every variable, evidence included."""
    log_score: float
    """Natural log of the product of all potentials; -inf if one is zero."""
    floored_log_score: float
    """The same with ``log_zero`` for each zero potential."""
    log_zero: float
    zero_factors: int
    """Number of factors whose potential is zero."""
    steps: int
    """Flips made."""
    seconds: float
    """Time spent on the query: set-up, scoring and search, without reading, compiling and checking."""
    method: str
    seed: int
    stop: str
    """Why the search ended."""
    trace: Trace = field(repr=False)
    upper_bound: float | None = None
    """No assignment has a higher log score; None if no bound is known. Where zeros cannot be avoided and it
    is met, a bound on the floored score."""
    proof: str | None = None
    """How the assignment is proved optimal: ``"elimination"``, ``"bound"`` (its score meets the upper
    bound), ``"toulbar2"``, or None: it is not."""
    is_impossible: bool = False
    """Is it proved that every assignment has probability zero, whatever the values?"""
    total_seconds: float = 0.0
    """From the evidence to the answer, checking included."""
    alternatives: Alternatives | None = field(default=None, repr=False)
    """The best assignments, this one included, where they were asked for; see :func:`beacon.solve`."""
    margins: Margins | None = field(default=None, repr=False)
    """What each value would lose, where that was asked for."""
    supposed: Result | None = field(default=None, repr=False)
    """The best assignment with what was to be supposed; its :meth:`loss_against` this one is the price."""

    @cached_property
    def probability(self) -> float | None:
        """The probability of the assignment given the evidence; None where it is not cheap to know exactly.

        Computed when it is first asked for.

        >>> import beacon, numpy
        >>> coin = beacon.GraphicalModel.from_tables([2], [((0,), numpy.log([0.25, 0.75]))])
        >>> round(beacon.solve(coin).probability, 9)
        0.75
        """
        if self._log_sum is None:
            return None
        return min(1.0, math.exp(self.log_score - self._log_sum)) if self.zero_factors == 0 else 0.0

    @cached_property
    def log_evidence(self) -> float | None:
        """The log probability of the evidence in a Bayesian network; None as for ``probability``, or if it
        is no Bayesian network."""
        from beacon.model.bayes import child_of_factors  # noqa: PLC0415 - on request only

        return self._log_sum if child_of_factors(self.model) is not None else None

    @cached_property
    def _log_sum(self) -> float | None:
        """The log of the summed products of potentials over all assignments that keep the evidence."""
        from beacon.exact.tree import log_sum  # noqa: PLC0415 - on request only

        fixed = as_fixed(self.evidence, self.model.num_variables)
        return log_sum(compile_model(self.model), fixed, MAX_SUM_ENTRIES)

    def loss_against(self, other: Result) -> float:
        """By how many nats the log score is below another result's."""
        return other.log_score - self.log_score if self.log_score > -math.inf else math.inf

    def changes_against(self, other: Result) -> dict[str, str]:
        """The variables that differ from another result's, with the values that they have here."""
        return self.model.changes_between(other.assignment, self.assignment)

    @property
    def named_assignment(self) -> dict[str, str]:
        """The assignment as variable name -> value label."""
        return self.model.named_assignment(self.assignment)

    @property
    def is_optimal(self) -> bool:
        """Is this proved to be a best assignment?"""
        return self.proof is not None

    @property
    def gap(self) -> float | None:
        """How far the log score may be below the optimum, in nats: 0 if proved, None if no bound is known."""
        if self.is_optimal:
            return 0.0
        return None if self.upper_bound is None else max(0.0, self.upper_bound - self.log_score)

    def summary(self) -> str:
        """A few lines for a person."""
        score = f"{self.log_score:.6f}" if self.zero_factors == 0 else "-inf (probability zero)"
        lines = [
            f"log score      {score}",
            f"zero factors   {self.zero_factors}",
            f"query          {plural(self.model.num_variables - len(self.evidence), 'variable')}, "
            f"{len(self.evidence)} observed",
            f"search         {self.method}, {plural(self.steps, 'step')} in {self.seconds:.3f} s "
            f"(seed {self.seed}, stopped by: {self.stop})",
            f"last improved  at step {self.trace.steps[-1]:,}, {self.trace.seconds[-1]:.3f} s",
        ]
        if self.zero_factors:
            lines.insert(1, f"floored score  {self.floored_log_score:.6f} (zeros count {self.log_zero:g})")
        if self.is_impossible:
            lines.insert(0, "evidence       proved impossible: every assignment has probability zero")
        if self.certainty:
            lines.insert(1 + self.is_impossible, f"certainty      {self.certainty}")
        return "\n".join(lines)

    @property
    def certainty(self) -> str:
        """What is known about the optimum, in words; empty if nothing is."""
        if self.proof is not None:
            means = "its upper bound" if self.proof == "bound" else self.proof
            return f"optimal, proved by {means} in {_duration(self.seconds)}"
        if self.upper_bound is None or math.isinf(self.upper_bound):
            return ""
        if self.zero_factors:
            return f"no assignment has a log score above {self.upper_bound:.6f}"
        gap = self.gap or 0.0
        nats = f"{gap:,.1f} nats" if gap >= 10 else f"{gap:.2g} nats"
        share = f"{_two_digits(100 * gap / abs(self.log_score))} % ({nats})" if self.log_score else nats
        return f"at most {share} below the optimum"

    def to_dict(self) -> dict[str, Any]:
        """What ``beacon solve --json`` prints."""
        return self._figures() | self._answers()

    def _answers(self) -> dict[str, Any]:
        """What was asked for besides the assignment."""
        made: dict[str, Any] = {}
        if self.alternatives is not None:
            made["alternatives"] = [one.to_dict() for one in self.alternatives]
            made["alternatives_exact"] = self.alternatives.exact
        if self.margins is not None:
            made |= self.margins.to_dict()
        if self.supposed is not None:
            changes, loss = self.supposed.changes_against(self), self.supposed.loss_against(self)
            made["supposed"] = self.supposed.to_dict() | {"loss": _finite(loss), "changes": changes}
        return made

    def _figures(self) -> dict[str, Any]:
        return {
            "log_score": _finite(self.log_score),
            "floored_log_score": self.floored_log_score,
            "log_zero": self.log_zero,
            "zero_factors": self.zero_factors,
            "assignment": self.assignment.tolist(),
            "named_assignment": self.named_assignment,
            "steps": self.steps,
            "seconds": self.seconds,
            "total_seconds": self.total_seconds,
            "upper_bound": _finite(self.upper_bound),
            "gap": _finite(self.gap),
            "optimal": self.is_optimal,
            "proof": self.proof,
            "impossible": self.is_impossible,
            "method": self.method,
            "seed": self.seed,
            "stop": self.stop,
        }

    def _repr_html_(self) -> str:
        """What was found and how, and the values of the query's variables, for notebooks."""
        from beacon.model.html_view import html_table  # noqa: PLC0415 - for notebooks alone

        rows = [
            (name, text.strip()) for name, _, text in (s.partition("  ") for s in self.summary().splitlines())
        ]
        if self.gap is not None and math.isfinite(self.gap):
            rows.append(("gap", f"{self.gap:.4g} nats"))
        named: list[tuple[str, ...]] = list(self.named_assignment.items())
        asked = [pair for i, pair in enumerate(named) if i not in self.evidence]
        header: tuple[str, ...] = ("variable", "value")
        if self.margins is not None:
            closest = {name: (value, f"{loss:.4g}") for name, value, loss in self.margins.closest()}
            asked = [(*pair, *closest.get(pair[0], ("none", "∞"))) for pair in asked]
            header = (*header, "next best", "loses, nats" if self.margins.exact else "loses at most, nats")
        more = f"… {len(asked):,} in all: see named_assignment"
        return html_table("Result", rows) + html_table("Most probable explanation", asked, header, more)

    def plot(self, ax: Any = None) -> Any:
        """Draw the best score over time; see :func:`beacon.report.plots.plot_trace`."""
        from beacon.report.plots import plot_trace  # noqa: PLC0415 - drawing is needed only here

        return plot_trace(self.trace, ax=ax)


def checked_result(
    model: GraphicalModel, evidence: dict[int, int], outcome: Outcome, flat: FlatModel, seed: int
) -> Result:
    """Score a search's best assignment anew and compare with what the search believed."""
    began = perf_counter()
    assignment, log_zero = outcome.assignment, flat.log_zero
    floored, zero_factors, largest = _rescored(flat, assignment)
    tolerance = 1e-6 * (1 + abs(floored)) + 1e-9 * max(largest, abs(log_zero))
    if zero_factors != outcome.zero_factors or abs(floored - outcome.score) > tolerance:
        raise RuntimeError(
            f"the search reports score {outcome.score} with {outcome.zero_factors} zero factors; "
            f"recomputed: {floored} with {zero_factors}. This is a bug in Beacon; please report it"
        )
    upper_bound, fixed = outcome.upper_bound, as_fixed(evidence, len(assignment))
    if upper_bound is not None and zero_factors == 0:
        upper_bound = max(upper_bound, floored)  # the score, added up in another order, may be above it
    if ((fixed >= 0) & (fixed != assignment)).any():
        raise RuntimeError(
            "the search changed an observed variable. This is a bug in Beacon; please report it"
        )
    return Result(
        model=model,
        evidence=evidence,
        assignment=assignment,
        log_score=-math.inf if zero_factors else floored,
        floored_log_score=floored,
        log_zero=log_zero,
        zero_factors=zero_factors,
        steps=outcome.steps,
        seconds=outcome.seconds,
        method=outcome.method,
        seed=int(seed),
        stop=outcome.stop,
        trace=outcome.trace,
        upper_bound=upper_bound,
        proof=outcome.proof,
        is_impossible=outcome.is_impossible,
        total_seconds=outcome.seconds + perf_counter() - began,
    )


def _rescored(flat: FlatModel, assignment: NDArray[np.int64]) -> tuple[float, int, float]:
    """Floored score, zero factors and largest log-potential."""
    sizes = flat.domain_sizes
    if assignment.shape != sizes.shape or (assignment < 0).any() or (assignment >= sizes).any():
        raise RuntimeError("the search left the domains. This is a bug in Beacon; please report it")
    figures = np.empty(3)
    rescore(flat, assignment, figures)
    floored, zero_factors, largest = figures.tolist()
    return floored, int(zero_factors), largest


def _finite(number: float | None) -> float | None:
    """A number for JSON, which has no infinity."""
    return number if number is not None and math.isfinite(number) else None


def _duration(seconds: float) -> str:
    return f"{1e3 * seconds:.2g} ms" if seconds < 0.0995 else f"{_two_digits(seconds)} s"


def _two_digits(number: float) -> str:
    """Two digits that count, or all that stand before the point: 0.71, 7.1, 71 and 710."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


class ResultList(list[Result]):
    """One result per query, in the queries' order; a list in every other way.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [[4, 1], [1, 2]])])
    >>> results = beacon.solve_many(model, [{0: 0}, {0: 1}], stop=beacon.MaxSteps(50), threads=1)
    >>> results.to_columns()[model.names[1]]
    ['0', '1']
    """

    def to_columns(
        self, show: Sequence[int] | None = None, keys: Mapping[str, Sequence[Any]] | None = None
    ) -> dict[str, list[Any]]:
        """Column by column: ``keys`` as they are, the labels of variables, then scores and costs.

        ``show`` are the variables' indices; None: all, evidence included. A key has a cell for each query. A
        figure whose name a variable or a key has is called by that name and an underscore.
        """
        columns: dict[str, list[Any]] = {name: list(cells) for name, cells in (keys or {}).items()}
        for i in _shown(self, show):
            labels = self[0].model.labels[i]
            columns[self[0].model.names[i]] = [labels[result.assignment[i]] for result in self]
        for figure in FIGURES:
            columns[_free_name(figure, columns)] = [getattr(result, figure) for result in self]
        return columns

    @property
    def query_variables(self) -> list[int]:
        """The variables with several values that at least one of the queries asks for."""
        sizes = self[0].model.domain_sizes.tolist() if self else []
        return [
            i for i, size in enumerate(sizes) if size > 1 and any(i not in result.evidence for result in self)
        ]

    def to_arrow(
        self, show: Sequence[int] | None = None, keys: Mapping[str, Sequence[Any]] | None = None
    ) -> pa.Table:
        """:meth:`to_columns` as a table of Arrow, which ``polars.from_arrow`` takes as it is."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        return pa.table(self.to_columns(show, keys))

    def to_pandas(
        self, show: Sequence[int] | None = None, keys: Mapping[str, Sequence[Any]] | None = None
    ) -> pd.DataFrame:
        """:meth:`to_columns` as a data frame of pandas."""
        try:
            import pandas as pd  # noqa: PLC0415  (need not be installed)
        except ImportError:
            raise BeaconError("a data frame needs pandas; install it with: pip install pandas") from None
        return pd.DataFrame(self.to_columns(show, keys))

    def _repr_html_(self) -> str:
        """A row per query, for notebooks."""
        from beacon.model.html_view import html_table  # noqa: PLC0415 - for notebooks alone

        rows = ((str(query), *_figures(result)) for query, result in enumerate(self))
        header = ("query", "log score", "zero factors", "steps", "seconds", "stopped by")
        return html_table(plural(len(self), "result"), rows, header, f"… {len(self):,} in all")


def _shown(results: ResultList, show: Sequence[int] | None) -> Sequence[int]:
    if not results:
        return ()
    return range(results[0].model.num_variables) if show is None else show


def _free_name(name: str, taken: dict[str, list[Any]]) -> str:
    return name if name not in taken else _free_name(f"{name}_", taken)


def _figures(result: Result) -> tuple[str, ...]:
    score, cost = f"{result.log_score:.6f}", f"{result.seconds:.3f}"
    return score, str(result.zero_factors), f"{result.steps:,}", cost, result.stop
