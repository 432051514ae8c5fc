"""``beacon uai``: solve a problem in the manner of the UAI inference competitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from beacon.cli import interrupted_by_signals
from beacon.cli.console import one_line, say, say_json
from beacon.cli.ending import Deadline, Limits, memory_limit
from beacon.cli.options import LIMITS, OUTPUT, Json, ModelFile, Quiet, argument, flags, option
from beacon.errors import UsageError, plural
from beacon.io.files import check_writable

TASK = "MPE"
OTHER_TASKS = ("PR", "MAR", "MMAP", "MLC")


@flags("limits", Limits, LIMITS, "--seed S", seconds="--time S", gigabytes="--memory GB")
def uai(
    model_file: ModelFile,
    evidence_file: Annotated[
        str, argument("EVID", "Evidence file of one query; empty or -: nothing observed.")
    ],
    query_file: Annotated[str, argument("QUERY", "Not used by this task; may be empty or missing.")],
    task: Annotated[str, argument("TASK", "MPE, the most probable explanation.")],
    *,
    limits: Limits,
    out: Annotated[
        str | None,
        option(
            "-o --out OUT.MPE",
            "Solution file; default: MODEL's name with .MPE added, in the working directory.",
            OUTPUT,
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Solve a problem in the manner of the UAI inference competitions.

    The best answer so far is in the solution file at any moment. SIGTERM and Ctrl-C end the search early;
    the exit code is 0 once there is an answer.

    Example:  INF_TIME=60 beacon uai grid.uai grid.uai.evid grid.uai.query MPE
    """
    _check_task(task)
    seconds, gigabytes, seed = limits.filled_in()
    deadline = Deadline(seconds)
    target = out if out is not None else f"{Path(model_file).name}.{TASK}"
    check_writable(target, [model_file, evidence_file, query_file])
    with interrupted_by_signals(), memory_limit(gigabytes):
        from beacon.cli.competition import solve_for_competition  # noqa: PLC0415  (takes a second)

        summary = solve_for_competition(model_file, evidence_file, Path(target), seed, deadline, quiet)
    say_json(summary) if json else say(one_line(_in_words(summary)))


def _check_task(task: str) -> None:
    if task == TASK:
        return
    if task == "MAP":
        raise UsageError("expected the task MPE, found 'MAP'; give MPE for the best values of all variables")
    known = " is another task, which Beacon does not solve" if task in OTHER_TASKS else " is no task"
    raise UsageError(f"expected the task MPE; {task!r}{known}")


def _in_words(summary: dict[str, Any]) -> str:
    score = summary["log_score"]
    zeros, steps = plural(summary["zero_factors"], "zero factor"), plural(summary["steps"], "step")
    return (
        f"wrote {summary['out']}: log score {'-inf' if score is None else f'{score:.6f}'}, "
        f"{zeros}, {steps} in {summary['seconds']:.3f} s (stopped by: {summary['stop']})"
    )
