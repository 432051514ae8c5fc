"""``beacon check``: does a solution keep the evidence, and what is its score?"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from beacon.cli.app import FAILED
from beacon.cli.console import say_json, say_table
from beacon.cli.options import QUERY, Json, ModelFile, QueryOptions, Quiet, argument, flags, option
from beacon.errors import UsageError

NO_FILE = "-"
TAKES = "expected MODEL and SOLUTION, or MODEL, EVID and SOLUTION"
MOST_NAMED = 10


@flags("asked", QueryOptions, QUERY, "--evid FILE", "--evidence -e VARIABLE=VALUE")
def check(
    model_file: ModelFile,
    files: Annotated[
        list[str], argument("[EVID] SOLUTION", "Solution file (MPE); an evidence file may stand before it.")
    ],
    *,
    asked: QueryOptions,
    query: Annotated[
        int | None, option("--query N", "Which query of an evidence file of several: 0, 1, …", low=0)
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check that a solution keeps the evidence, and recompute its score from the model.

    Exit code 0 if all evidence is kept, 1 if not.

    Example:  beacon check alarm.bif answer.MPE -e HR=HIGH
    """
    from beacon.formats import read_model, read_solution  # noqa: PLC0415
    from beacon.formats.solution import check_solution  # noqa: PLC0415

    *before, solution_file = files
    if len(before) > 1:
        raise UsageError(f"{TAKES}; found {len(files) + 1} files")
    told = [*(file for file in before if file != NO_FILE), *asked.evid]
    model = read_model(model_file)
    queries, _ = replace(asked, evid=told).read(model)
    if query is None and len(queries) > 1:
        raise UsageError(f"{', '.join(told)}: {len(queries)} queries; choose one with --query N")
    if query is not None and query >= len(queries):
        raise UsageError(f"--query must lie in 0..{len(queries) - 1}; found {query}")
    findings = check_solution(model, queries[query or 0], read_solution(solution_file, model))
    say_json(findings) if json else say_table(_described(findings))
    if not findings["evidence_kept"]:
        raise typer.Exit(FAILED)


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
