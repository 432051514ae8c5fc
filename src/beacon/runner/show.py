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
        return cls(variables=tuple(resolve_variable(model, name) for name in names))


def as_json(result: Result, *, is_cost: bool = False, trace: bool = False) -> dict[str, Any]:
    """One result of ``beacon solve --json``; ``is_cost``: are scores minus the costs of the model's file?"""
    made = result.to_dict()
    if is_cost:
        made["cost"], made["cost_at_least"] = cost_of(result)
    if trace:
        made["trace"] = {name: getattr(result.trace, name).tolist() for name in TRACE_COLUMNS}
    return made


def probabilities(result: Result) -> dict[str, float | None]:
    """Those of the answer and of the evidence, where elimination gave the answer."""
    if result.proof != "elimination":
        return {"probability": None, "log_evidence": None}
    return {"probability": result.probability, "log_evidence": result.log_evidence}


def cost_of(result: Result) -> tuple[int | None, int | None]:
    """The cost of the answer and the least that is possible, of a file whose scores are minus its costs."""
    cost = round(-result.log_score) if result.zero_factors == 0 else None
    bound = result.upper_bound
    least = None if bound is None or not math.isfinite(bound) else math.ceil(-bound - 1e-6 * (1 + abs(bound)))
    return cost, least if cost is None or least is None else min(cost, max(least, 0))
