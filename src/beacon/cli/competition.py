"""One problem of a UAI competition, with an answer on disk at any moment."""

from __future__ import annotations

import math
import os
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any

from beacon.cli import stopped_by_signals, told_by_signals
from beacon.cli.answer_file import AnswerFile, Quality, quality_of, simple_answer
from beacon.cli.console import note
from beacon.cli.ending import Deadline, TimeUpError, timed_out_at
from beacon.errors import UsageError
from beacon.formats import read_evidence, read_model
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.stop import MaxRuntime
from beacon.runner.warm_up import warm_up_exact, warm_up_long_way, warm_up_search
from beacon.solver import solve
from beacon.strategies.strategy import make_strategy

BLANKS = 1 << 16  # bytes of white space that may stand for an empty file


def solve_for_competition(
    model_file: str, evidence_file: str, path: Path, seed: int, deadline: Deadline, quiet: bool
) -> dict[str, Any]:
    """Search until the deadline, with the best answer so far in the file; what came of it."""
    model = read_model(model_file)
    evidence = _evidence(evidence_file, model)
    began, result, stop = perf_counter(), None, "interrupted"
    first = simple_answer(model, evidence)
    with told_by_signals() as cancelled, AnswerFile(path, first, quality_of(model, first)) as answer:
        deadline.reserve(perf_counter() - began)
        try:
            result = _searched(model, evidence, seed, deadline, answer, cancelled)
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
    if file in ("", "-") or (os.path.isfile(file) and _is_blank(Path(file))):
        return {}
    queries = read_evidence(file, model)
    if len(queries) != 1:
        raise UsageError(f"{file} holds {len(queries)} queries; expected one: `beacon solve` takes several")
    return queries[0]


def _is_blank(file: Path) -> bool:
    with file.open("rb") as opened:
        return not opened.read(BLANKS).strip()


def _searched(
    model: GraphicalModel,
    evidence: dict[int, int],
    seed: int,
    deadline: Deadline,
    answer: AnswerFile,
    cancelled: Event,
) -> Result:
    strategy = make_strategy("auto")
    with timed_out_at(deadline), stopped_by_signals():
        warm_up_exact()  # a solve leaves out of its time what it has to load: here every moment counts
        warm_up_long_way()
        warm_up_search(strategy, compile_model(model))
    stop = MaxRuntime(deadline.seconds_left)
    result = solve(
        model,
        evidence,
        strategy=strategy,
        stop=stop,
        seed=seed,
        on_improvement=answer.hear,
        cancelled=cancelled,
    )
    others = result.floored_log_score - result.zero_factors * result.log_zero
    answer.offer(result.assignment, Quality(-result.zero_factors, others))
    return result


def _summary(
    path: Path, model: GraphicalModel, answer: AnswerFile, result: Result | None, seed: int, stop: str
) -> dict[str, Any]:
    is_last = result is not None and answer.best is result.assignment
    log_score = result.log_score if result and is_last else model.log_score(answer.best)
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
