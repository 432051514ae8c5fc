"""``beacon check``: does a solution keep the evidence, and what is its score?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.app import FAILED
from beacon.cli.choices import read_query
from beacon.cli.console import say_json, say_table
from beacon.cli.options import EvidenceItems, Json, ModelFile, Quiet, argument, option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from beacon.model.graphical_model import GraphicalModel

MOST_NAMED = 10


def check(
    model_file: ModelFile,
    evidence_file: Annotated[str, argument("EVID", "Evidence file, or - if there is no evidence file.")],
    solution_file: Annotated[str, argument("SOLUTION", "Solution file (MPE).")],
    *,
    evidence: EvidenceItems = None,
    query: Annotated[
        int | None, option("--query N", "Which query of an evidence file of several: 0, 1, …", low=0)
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check that a solution keeps the evidence, and recompute its score from the model.

    Exit code 0 if all evidence is kept, 1 if not.

    Example:  beacon check alarm.bif - answer.MPE --evidence HR=HIGH
    """
    from beacon.formats import read_model, read_solution  # noqa: PLC0415

    model = read_model(model_file)
    observed = read_query(model, evidence_file, evidence or [], query)
    assignment = read_solution(solution_file, model)
    findings = check_solution(model, observed, assignment)
    say_json(findings) if json else say_table(_described(findings))
    if not findings["evidence_kept"]:
        raise typer.Exit(FAILED)


def check_solution(
    model: GraphicalModel, evidence: Mapping[int, int], assignment: NDArray[np.int64]
) -> dict[str, Any]:
    """What ``beacon check --json`` prints."""
    violations = [
        {"variable": model.names[i], "observed": model.labels[i][v], "found": model.labels[i][assignment[i]]}
        for i, v in evidence.items()
        if assignment[i] != v
    ]
    log_score = model.log_score(assignment)
    return {
        "evidence_kept": not violations,
        "observed": len(evidence),
        "violations": violations,
        "log_score": log_score if math.isfinite(log_score) else None,
        "zero_factors": model.num_zero_factors(assignment),
    }


def _described(findings: dict[str, Any]) -> list[tuple[str, str]]:
    violations = findings["violations"]
    score = findings["log_score"]
    rows = [
        ("evidence", f"{findings['observed']} observed, {len(violations)} not kept"),
        ("log score", f"{score:.6f}" if score is not None else "-inf (probability zero)"),
        ("zero factors", str(findings["zero_factors"])),
    ]
    rows += [
        ("not kept", f"{v['variable']} is {v['found']}, observed as {v['observed']}")
        for v in violations[:MOST_NAMED]
    ]
    if len(violations) > MOST_NAMED:
        rows.append(("", f"and {len(violations) - MOST_NAMED} more"))
    return rows
