"""``beacon uai``: solve a problem in the manner of the UAI inference competitions."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from beacon.cli.console import note, one_line, say, say_json
from beacon.cli.ending import Deadline, TimeUpError, interrupted_by_signals, memory_limit, timed_out_at
from beacon.cli.options import LIMITS, OUTPUT, Json, ModelFile, Quiet, at_least
from beacon.cli.outputs import check_writable
from beacon.errors import UsageError

if TYPE_CHECKING:
    from beacon.cli.answer_file import AnswerFile
    from beacon.model.graphical_model import GraphicalModel
    from beacon.runner.result import Result

TASK = "MPE"
OTHER_TASKS = ("PR", "MAR", "MMAP", "MLC")
DEFAULT_SECONDS = 20.0

Number = TypeVar("Number", int, float)


def uai(
    model_file: ModelFile,
    evidence_file: Annotated[
        str, typer.Argument(metavar="EVID", help="Evidence file of one query; empty or -: nothing observed.")
    ],
    query_file: Annotated[
        str, typer.Argument(metavar="QUERY", help="Not used by this task; may be empty or missing.")
    ],
    task: Annotated[str, typer.Argument(metavar="TASK", help="MPE, the most probable explanation.")],
    *,
    time: Annotated[
        float | None,
        typer.Option(
            "--time",
            metavar="S",
            callback=at_least(0),
            rich_help_panel=LIMITS,
            help=f"Seconds from start to end; default: INF_TIME or TIMESEC, else {DEFAULT_SECONDS:g}.",
        ),
    ] = None,
    memory: Annotated[
        float | None,
        typer.Option(
            "--memory",
            metavar="GB",
            callback=at_least(0),
            rich_help_panel=LIMITS,
            help="Gigabytes of memory; default: INF_MEMORY, or MEMKB in kilobytes, else no limit.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="S",
            callback=at_least(0),
            help="Seed of all randomness; default: INF_SEED, else 0.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--out",
            metavar="OUT.MPE",
            rich_help_panel=OUTPUT,
            help="Solution file; default: MODEL's name with .MPE added, in the working directory.",
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
    limits = Limits.of_environment(time, memory, seed)
    deadline = Deadline(limits.seconds)
    target = out if out is not None else f"{Path(model_file).name}.{TASK}"
    check_writable(target, [model_file, evidence_file, query_file])
    with interrupted_by_signals(), memory_limit(limits.gigabytes):
        summary = _solved(model_file, evidence_file, Path(target), limits.seed, deadline, quiet)
    if json:
        say_json(summary)
    else:
        say(one_line(_in_words(summary)))


def _check_task(task: str) -> None:
    if task == TASK:
        return
    if task == "MAP":
        raise UsageError("expected the task MPE, found 'MAP'; give MPE for the best values of all variables")
    known = " is another task, which Beacon does not solve" if task in OTHER_TASKS else " is no task"
    raise UsageError(f"expected the task MPE; {task!r}{known}")


class Limits(NamedTuple):
    """What the options say, or else the environment: the names of 2011 to 2016, then those of 2022."""

    seconds: float
    gigabytes: float | None
    seed: int

    @classmethod
    def of_environment(cls, seconds: float | None, gigabytes: float | None, seed: int | None) -> Limits:
        """Fill in what no option says."""
        if seconds is None:
            seconds = _variable("INF_TIME", float)
        if seconds is None:
            seconds = _variable("TIMESEC", float)
        if gigabytes is None:
            gigabytes = _variable("INF_MEMORY", float)
        if gigabytes is None and (kilobytes := _variable("MEMKB", float)) is not None:
            gigabytes = kilobytes / 1e6
        if seed is None:
            seed = _variable("INF_SEED", int)
        return cls(DEFAULT_SECONDS if seconds is None else seconds, gigabytes, seed or 0)


def _variable(name: str, kind: type[Number]) -> Number | None:
    """A number from the environment; None if there is none."""
    text = os.environ.get(name, "").strip()
    if not text:
        return None
    try:
        number = kind(text)
    except ValueError:
        number = kind(-1)
    if not 0 <= number < math.inf:
        wanted = "a whole number" if kind is int else "a number"
        raise UsageError(f"the environment variable {name} must be {wanted} of at least 0; found {text!r}")
    return number


def _solved(
    model_file: str, evidence_file: str, path: Path, seed: int, deadline: Deadline, quiet: bool
) -> dict[str, Any]:
    from beacon.cli.answer_file import AnswerFile, quality_of, simple_answer  # noqa: PLC0415
    from beacon.formats import read_model  # noqa: PLC0415

    model = read_model(model_file)
    evidence = _evidence(evidence_file, model)
    first = simple_answer(model, evidence)
    result: Result | None = None
    stop = "interrupted"
    with AnswerFile(path, first, quality_of(model, first)) as answer:
        try:
            result = _searched(model, evidence, seed, deadline, answer, quiet)
        except KeyboardInterrupt:
            if not quiet:
                note("interrupted before the search; the answer is a simple one")
        except TimeUpError:
            stop = "seconds"
            if not quiet:
                note("the time was up before the search kernels were loaded; the answer is a simple one")
    return _summary(path, model, answer, result, seed, stop)


def _evidence(file: str, model: GraphicalModel) -> dict[int, int]:
    """The one query of a file; a file without a word in it observes nothing."""
    from beacon.cli.evidence import NO_FILE, read_queries  # noqa: PLC0415

    if file in ("", NO_FILE) or (os.path.isfile(file) and not Path(file).read_bytes().strip()):
        return {}
    queries = read_queries(model, [file], [], [])
    if len(queries) != 1:
        raise UsageError(f"{file} holds {len(queries)} queries; expected one: `beacon solve` takes several")
    return queries[0]


def _searched(
    model: GraphicalModel,
    evidence: dict[int, int],
    seed: int,
    deadline: Deadline,
    answer: AnswerFile,
    quiet: bool,
) -> Result:
    from beacon.cli.answer_file import quality_of  # noqa: PLC0415
    from beacon.cli.kernels import load_kernels  # noqa: PLC0415
    from beacon.runner.solve import solve  # noqa: PLC0415
    from beacon.runner.stop import MaxRuntime  # noqa: PLC0415
    from beacon.strategies.strategy import Auto  # noqa: PLC0415

    strategy = Auto()
    with timed_out_at(deadline):
        load_kernels(strategy, quiet)
    stop = MaxRuntime(deadline.seconds_left)
    result = solve(model, evidence, strategy=strategy, stop=stop, seed=seed, on_improvement=answer.hear)
    answer.offer(result.assignment, quality_of(model, result.assignment))
    return result


def _summary(
    path: Path, model: GraphicalModel, answer: AnswerFile, result: Result | None, seed: int, stop: str
) -> dict[str, Any]:
    log_score = model.log_score(answer.best)
    return {
        "out": str(path),
        "log_score": log_score if math.isfinite(log_score) else None,
        "zero_factors": -answer.quality.possible,
        "steps": result.steps if result else 0,
        "seconds": result.seconds if result else 0.0,
        "method": result.method if result else "",
        "seed": seed,
        "stop": result.stop if result else stop,
    }


def _in_words(summary: dict[str, Any]) -> str:
    score = summary["log_score"]
    return (
        f"wrote {summary['out']}: log score {'-inf' if score is None else f'{score:.6f}'}, "
        f"{summary['zero_factors']} zero factors, {summary['steps']:,} steps in {summary['seconds']:.3f} s "
        f"(stopped by: {summary['stop']})"
    )
