"""One problem of a UAI competition: limits from the environment, and an answer on disk at any moment."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from beacon.cli.answer_file import AnswerFile, quality_of, simple_answer
from beacon.cli.console import note
from beacon.cli.ending import Deadline, TimeUpError, timed_out_at
from beacon.cli.evidence import NO_FILE, read_queries
from beacon.errors import UsageError
from beacon.formats import read_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.solve import solve
from beacon.runner.stop import MaxRuntime
from beacon.runner.warm_up import warm_up
from beacon.strategies.strategy import Auto

DEFAULT_SECONDS = 20.0

Number = TypeVar("Number", int, float)


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


def solve_for_competition(
    model_file: str, evidence_file: str, path: Path, seed: int, deadline: Deadline, quiet: bool
) -> dict[str, Any]:
    """Search until the deadline, with the best answer so far in the file; what came of it."""
    model = read_model(model_file)
    evidence = _evidence(evidence_file, model)
    first = simple_answer(model, evidence)
    result: Result | None = None
    stop = "interrupted"
    with AnswerFile(path, first, quality_of(model, first)) as answer:
        try:
            result = _searched(model, evidence, seed, deadline, answer)
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
) -> Result:
    strategy = Auto()
    with timed_out_at(deadline):
        warm_up(strategy)
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
