"""Which variables of an answer are shown, and the answer as JSON."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from beacon.errors import UsageError
from beacon.model.evidence import resolve_variable
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result

QUERY, CHANGED, ALL = "query", "changed", "all"
TRACE_COLUMNS = ("steps", "seconds", "scores", "zero_factors")


class Show(NamedTuple):
    """Which variables to print."""

    word: str | None = None
    """``query``, ``changed`` or ``all``, in full; None: those of the query, cut if there are many."""
    variables: tuple[int, ...] = ()
    """Those that were named, if any were."""

    @classmethod
    def of(cls, asked: str | None, model: GraphicalModel, num_queries: int) -> Show:
        """From the option ``--show``; of many queries only named variables are printed."""
        if asked is None:
            return cls()
        if asked in {QUERY, CHANGED, ALL}:
            if num_queries != 1:
                raise UsageError(
                    f"--show {asked} is for one query; for several, name variables (--show A,B) or use --json"
                )
            return cls(asked)
        if asked in model.name_to_variable:  # a name may have a comma in it
            return cls(variables=(model.name_to_variable[asked],))
        names = [name.strip() for name in asked.split(",") if name.strip()]
        if not names:
            raise UsageError(f"--show needs query, changed, all, or names of variables; found {asked!r}")
        for word in (QUERY, CHANGED, ALL):
            if word in names and word not in model.name_to_variable:
                raise UsageError(f"--show takes {word} alone, or names of variables; found {asked!r}")
        return cls(variables=tuple(resolve_variable(model, name) for name in names))


def as_json(result: Result, *, costs: tuple[bool, bool] | None = None, trace: bool = False) -> dict[str, Any]:
    """One result of ``beacon solve --json``; ``costs``: see :func:`cost_of`."""
    made = result.to_dict()
    if costs is not None:
        made["cost"], made["cost_at_most" if costs[1] else "cost_at_least"] = cost_of(result, *costs)
    if trace:
        made["trace"] = {name: getattr(result.trace, name).tolist() for name in TRACE_COLUMNS}
    return made


def probabilities(result: Result) -> dict[str, float | None]:
    """Those of the answer and of the evidence, where elimination gave the answer."""
    if result.proof != "elimination":
        return {"probability": None, "log_evidence": None}
    return {"probability": result.probability, "log_evidence": result.log_evidence}


def cost_of(result: Result, is_whole: bool, is_maximised: bool = False) -> tuple[float | None, float | None]:
    """The cost of the answer in the units of its file, and the best that is possible as far as is known.

    Scores are minus the costs, or the costs themselves where these are to be maximised.
    """

    def number(score: float) -> float:
        cost = score if is_maximised else -score
        return round(cost) if is_whole else float(f"{cost:.12g}")  # sums of decimals are rounded

    cost = number(result.log_score) if result.zero_factors == 0 else None
    bound = result.upper_bound
    if cost is not None and result.is_optimal:
        return cost, cost
    if bound is None or not math.isfinite(bound):
        return cost, None
    bound += 1e-6 * (1 + abs(bound))
    best: float = max(math.ceil(-bound), 0) if is_whole else number(bound)
    if cost is None:
        return None, best
    return cost, max(cost, best) if is_maximised else min(cost, best)
