"""What the demo tells, a hard search drawn as a curve, and the settings of what it learns."""

from __future__ import annotations

import math
import os
import sys
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from beacon.cli.console import ProgressBar, say, say_drawn
from beacon.errors import BeaconError
from beacon.evaluation.run_file import FILE
from beacon.evaluation.settings import EvaluateSettings
from beacon.formats import read_model, write_model
from beacon.io.files import make_folder
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.tune import TuneSettings
from beacon.model.families import ising_grid
from beacon.model.families.diagnosis import VIA, diagnosis, diseases_of, findings_of
from beacon.model.graphical_model import GraphicalModel
from beacon.pipeline.settings import RunSettings
from beacon.query.query_set import sample_queries
from beacon.query.sampling import sample_assignments
from beacon.runner.result import Result
from beacon.runner.stop import MaxRuntime
from beacon.solver import solve

if TYPE_CHECKING:
    from beacon.runner.result import Result
    from beacon.runner.search import Search

NO, YES = 0, 1
SEED = 7
NUM_PRESENT, NUM_ABSENT = 6, 8
HARD_STOP = MaxRuntime(8.0)
MODEL_FILE = "grid.uai"
SIZE = 50
COUNT = 200
TEACHER_STEPS = 100_000
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1)
WIDTH, DECADES, ROWS = 64, 4, 2  # columns; powers of ten on either side of the answer, and their rows
LEAST = 0.1  # nats at which the scale begins
FRAME_SECONDS = 0.1
SCORE, BOUND, BAND, SPACE = "●", "▔", "░", " "
INTRODUCTION = """\
1. DIAGNOSIS. A clinic knows how {diseases} diseases cause {findings} findings: a Bayesian network of
{variables} variables. A patient comes in: {present} findings are seen, {absent} are ruled out.
Which diseases, and which values of all other unknowns, are together the most probable explanation?
"""
HARD = """
2. A HARD MODEL. A spin glass: {variables} variables on a grid that pull their neighbours both ways,
{observed} of them observed. No table could hold an exact solution, so Beacon searches, and lowers an upper
bound beside it. The optimum lies in the shaded band, between the best score found (●) and the bound (▔),
drawn in nats from the answer; both scales are logarithmic.
"""
LEARNING = """
3. LEARNING. The same grid is asked again and again, with other observations each time. Beacon solves
{count} such queries, and trains a small network, the guide, to tell their answers from the observations
alone. Then it searches queries that the guide has never seen, with it and without it, each for the same
time; the guide's own time counts. (What is in {folder} already is not done again.)
"""
METHODS = """
gls+ and auto search without the guide; beacon uses it as tuning found best: {best}.
Limits of time that this names are not heeded here: all times are read from one search.
{words}"""
NEXT = """
In {folder}:
  {page:<14} the evaluation, query by query: open it in a browser
  {picture:<14} how fast the methods come close to the best known
  guide          the guide, ready to be used
What to try next:
  beacon solve {clinic} -e fever=yes -e cough=yes --margins
  beacon solve {model} --guide {guide} -e 0=1 -e 7=0
  beacon serve                  the clinic in your browser (pip install 'beacon-mpe[serve]')
  beacon run MODEL -o DIR       learn a model of your own"""


def clinic() -> GraphicalModel:
    """A diagnosis network on which every patient is diagnosed exactly."""
    return diagnosis(
        num_diseases=40, num_findings=60, max_causes=3, min_prior=0.05, max_prior=0.2, leak=0.01, seed=1
    )


@dataclass(frozen=True)
class Patient:
    """A simulated person and what a doctor has seen."""

    model: GraphicalModel
    truth: NDArray[np.int64]
    evidence: dict[int, int]

    def seen(self, value: int) -> list[str]:
        """Findings observed as present (YES) or ruled out (NO)."""
        return [self.model.names[i] for i, v in self.evidence.items() if v == value]


def simulate_patient(model: GraphicalModel) -> Patient:
    """Draw a person from the model, and look at a few findings of either kind."""
    (truth,) = sample_assignments(model, 1, SEED)
    shuffled = np.random.default_rng(SEED).permutation(findings_of(model)).tolist()
    present = [i for i in shuffled if truth[i] == YES][:NUM_PRESENT]
    absent = [i for i in shuffled if truth[i] == NO][:NUM_ABSENT]
    return Patient(model, truth, dict.fromkeys(present, YES) | dict.fromkeys(absent, NO))


def names_of_ill(model: GraphicalModel, assignment: NDArray[np.int64]) -> list[str]:
    """Diseases that an assignment has."""
    return [model.names[i] for i in diseases_of(model) if assignment[i] == YES]


def explained_findings(result: Result, patient: Patient) -> dict[str, list[str]]:
    """The observed findings that each disease of the result has set off; "" stands for no disease at all."""
    explained: dict[str, list[str]] = {name: [] for name in names_of_ill(patient.model, result.assignment)}
    for finding in patient.seen(YES):
        explained.setdefault(_cause(result, finding), []).append(finding)
    return explained


def _cause(result: Result, finding: str) -> str:
    """The first link of the finding's chain that is set: the disease it names has set off the finding."""
    start = finding + VIA
    links = ((i, name) for i, name in enumerate(result.model.names) if name.startswith(start))
    return next((name.removeprefix(start) for i, name in links if result.assignment[i] == YES), "")


def tell_story(model: GraphicalModel, quiet: bool = False) -> None:
    """Simulate a patient, find the explanation of what a doctor sees, and show how sure it is."""
    patient = simulate_patient(model)
    present, absent = patient.seen(YES), patient.seen(NO)
    counts = {"diseases": len(diseases_of(model)), "findings": len(findings_of(model))}
    say(
        INTRODUCTION.format(variables=model.num_variables, present=len(present), absent=len(absent), **counts)
    )
    with ProgressBar("solving", None, quiet):
        result = solve(model, patient.evidence, margins=True)
    findings = _table("What the doctor knows", "seen", "ruled out")
    findings.add_row(_listed(present), _listed(absent))
    say_drawn(findings, _diseases_table(result, patient))
    say(_conclusion(result, patient))


def show_search(model: GraphicalModel, quiet: bool = False) -> None:
    """Solve one query of a hard model before the reader's eyes."""
    evidence = sample_queries(model, count=1, seed=SEED).evidence(0)
    say(HARD.format(variables=f"{model.num_variables:,}", observed=len(evidence)))
    with Curve(quiet) as curve:
        result = solve(model, evidence, stop=HARD_STOP, on_improvement=curve.hear)
        curve.end(result)
    say(
        f"Log score {result.log_score:.4f}, {result.certainty}, after {result.steps:,} steps in "
        f"{result.seconds:.1f} s."
    )


def _diseases_table(result: Result, patient: Patient) -> Table:
    table = _table("The most probable explanation", "disease", "causes", "an explanation without it is")
    for disease, findings in explained_findings(result, patient).items():
        row = _readable(disease) or "(no disease needed)", _listed(findings)
        table.add_row(*row, _less_probable(_margin(result, disease)) if disease else "")
    return table


def _margin(result: Result, disease: str) -> float:
    """What the best explanation loses in which the disease has its other value."""
    assert result.margins is not None
    return max(result.margins[disease].values())


def _less_probable(loss: float) -> str:
    return "impossible" if math.isinf(loss) else f"{math.exp(loss):,.1f} times less probable"


def _conclusion(result: Result, patient: Patient) -> str:
    model = patient.model
    truth, named = (names_of_ill(model, one) for one in (patient.truth, result.assignment))
    other = min((model.names[i] for i in diseases_of(model)), key=lambda name: _margin(result, name))
    supposed = solve(model, patient.evidence | {model.names.index(other): int(other not in named)})
    return (
        f"This is {result.certainty}.\n"
        f"The next-best set of diseases: {_listed(names_of_ill(model, supposed.assignment)) or 'none'}; "
        f"{_less_probable(supposed.loss_against(result))}.\n"
        f"The patient is simulated, so the truth is known: {_listed(truth)}. "
        f"The explanation names {len(set(truth) & set(named))} of these {len(truth)}."
    )


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left")


def _listed(names: list[str]) -> str:
    return ", ".join(map(_readable, names))


def _readable(name: str) -> str:
    return name.replace("_", " ")


class Point(NamedTuple):
    """What is known at one time."""

    seconds: float
    score: float
    bound: float


class Curve:
    """Hears a search and draws it: live where a person watches, and at the end for everybody."""

    def __init__(self, quiet: bool = False) -> None:
        self.points: list[Point] = []
        self._live = None
        if not quiet and sys.stdout.isatty():
            from rich.live import Live  # noqa: PLC0415 - rich takes a moment to load

            self._live = Live(transient=True, auto_refresh=False)
        self._drawn = -math.inf

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._live:
            self._live.stop()
        if kind is None:
            say(drawn(self.points))

    def hear(self, search: Search) -> None:
        """Note how the search stands: a callback for the library."""
        self.points.append(Point(search.seconds, search.best_score, search.upper_bound))
        if self._live and monotonic() > self._drawn + FRAME_SECONDS:
            self._drawn = monotonic()
            self._live.update(drawn(self.points), refresh=True)

    def end(self, result: Result) -> None:
        """Note how it ended."""
        bound = math.inf if result.upper_bound is None else result.upper_bound
        self.points.append(Point(result.seconds, result.floored_log_score, bound))


def drawn(points: list[Point]) -> str:
    """The curve in lines: both scales are logarithmic, and the answer lies in the middle."""
    half = DECADES * ROWS
    best, first, end = points[-1].score, points[0].seconds, points[-1].seconds
    times = [first * (end / first) ** (column / WIDTH) for column in range(1, WIDTH + 1)]
    columns = [_column(_at(points, time), best, half) for time in times]
    lines = [
        f"{_label(row - half):>9} {''.join(column[row] for column in columns)}" for row in range(2 * half + 1)
    ]
    began = f"{first * 1e3:.0f} ms"
    return "\n".join([*lines, f"{'':9} {began}{f'{end:.2f} s':>{WIDTH - len(began)}}"])


def _at(points: list[Point], time: float) -> Point:
    """What was known at a time; rounding must not lose the last point."""
    place = bisect_right(points, time * (1 + 1e-9), key=lambda point: point.seconds)
    return points[max(place - 1, 0)]


def _column(point: Point, best: float, half: int) -> list[str]:
    top, bottom = half - _rows(point.bound - best, half), half + _rows(best - point.score, half)
    column = [BAND if top <= row <= bottom else SPACE for row in range(2 * half + 1)]
    if math.isfinite(point.bound):
        column[top] = BOUND
    column[bottom] = SCORE
    return column


def _rows(nats: float, half: int) -> int:
    """How many rows from the middle a difference is drawn."""
    if nats < LEAST / 2:
        return 0
    return half if math.isinf(nats) else min(half, max(1, 1 + round(ROWS * math.log10(nats / LEAST))))


def _label(row: int) -> str:
    if row == 0:
        return "answer"
    power = (abs(row) - 1) / ROWS
    return f"{'-+'[row < 0]}{LEAST * 10**power:g}" if power == int(power) else ""


def hard_model() -> GraphicalModel:
    """A spin glass on a grid: far too wide for elimination, and small enough for a demo."""
    return ising_grid(SIZE, SIZE)


def demo_settings() -> RunSettings:
    """A run that takes about half a minute."""
    teacher = TeacherSettings("gls+", steps=TEACHER_STEPS)
    return RunSettings(
        count=COUNT,
        collect=CollectSettings(teacher, steps=0),  # the fast guide needs no walks
        preset="fast",
        tune=TuneSettings(seconds=SECONDS[:-1], queries=8),
        evaluate=EvaluateSettings(methods=("gls+", "auto", "beacon"), steps=(), seconds=SECONDS),
    )


def make_ready(folder: Path, model: GraphicalModel) -> None:
    """Put the model into the folder; refuse one that holds anything but an earlier demo."""
    make_folder(folder)
    file = folder / MODEL_FILE
    others = sorted(name for name in os.listdir(folder) if name != MODEL_FILE and not name.startswith("."))
    is_demo = file.exists() and read_model(file).fingerprint == model.fingerprint
    if (file.exists() and not is_demo) or (others and not (is_demo and (folder / FILE).exists())):
        found = others[0] if others else MODEL_FILE
        raise BeaconError(
            f"{folder} holds other things ({found}) than an earlier demo; choose another folder with -o DIR"
        )
    if not is_demo:
        write_model(model, file)
