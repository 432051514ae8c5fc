"""What the demo tells: one simulated patient, examined in part and diagnosed; then what learning adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from beacon.cli.console import ProgressBar, say, say_drawn
from beacon.model.families.diagnosis import VIA, diseases_of, findings_of
from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import sample_assignments
from beacon.runner.result import Result
from beacon.runner.stop import MaxRuntime
from beacon.solver import solve

NO, YES = 0, 1
SEED = 3
STOP = MaxRuntime(1.0)
NUM_PRESENT, NUM_ABSENT = 10, 12
INTRODUCTION = """\
A clinic knows how {diseases} diseases cause {findings} findings: a Bayesian network of {variables} variables.
A patient comes in: {present} findings are seen, {absent} are ruled out, everything else is unknown.
Which diseases, and which values of all other unknowns, are together the most probable explanation?
"""
LEARNING = """
A clinic sees many patients: the same network is asked again and again, with other observations each time.
So Beacon learns from {count} simulated queries that observe a random 5 to 20 % of the variables: it searches
each for long, trains a small network (the guide) to tell the values found there from the observations alone,
and finds out on queries kept apart how the guide is used best. Then the test queries are searched with and
without it, from the same random starts. (What is in {folder} already is not done again.)
"""
METHODS = """
greedy, gls+ and auto search without the guide; beacon-gls+ is gls+ from the same random starts with the
guide's say in every move; beacon uses the guide as tuning found best: {best}.
Every impossible part (zero factor) of an assignment counts {log_zero:g}: hence the thousands. Steps are the
same on every machine, times are not; the guide's own time is counted.
{words}"""
NEXT = """
In {folder}:
  {page:<14} all tables and curves, query by query: open it in a browser
  {picture:<14} how fast the methods come close to the best known
  guide          the guide, ready to be used
What to try next:
  beacon solve {model} --guide {guide} -e fever=yes -e cough=yes
  beacon run MODEL -o DIR       the same for a model of your own
  beacon --help                 everything else"""


@dataclass(frozen=True)
class Patient:
    """A simulated person and what a doctor has seen."""

    model: GraphicalModel
    truth: NDArray[np.int64]
    evidence: dict[int, int]

    def seen(self, value: int) -> list[str]:
        """Findings observed as present (YES) or ruled out (NO)."""
        return [self.model.names[i] for i, v in self.evidence.items() if v == value]


def simulate_patient(model: GraphicalModel, seed: int, num_present: int, num_absent: int) -> Patient:
    """Draw a person from the model, and look at a few findings of either kind."""
    (truth,) = sample_assignments(model, 1, seed)
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(findings_of(model)).tolist()
    present = [i for i in shuffled if truth[i] == YES][:num_present]
    absent = [i for i in shuffled if truth[i] == NO][:num_absent]
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
    """Simulate a patient, search for the explanation of what a doctor sees, and show it."""
    patient = simulate_patient(model, SEED, NUM_PRESENT, NUM_ABSENT)
    say(_introduction(patient))
    with ProgressBar("searching", None, quiet):
        result = solve(patient.model, patient.evidence, stop=STOP)
    say_drawn(_findings_table(patient), _diseases_table(result, patient))
    say(_conclusion(result, patient))


def _introduction(patient: Patient) -> str:
    return INTRODUCTION.format(
        diseases=len(diseases_of(patient.model)),
        findings=len(findings_of(patient.model)),
        variables=patient.model.num_variables,
        present=len(patient.seen(YES)),
        absent=len(patient.seen(NO)),
    )


def _findings_table(patient: Patient) -> Table:
    table = _table("What the doctor knows", "seen", "ruled out")
    table.add_row(_listed(patient.seen(YES)), _listed(patient.seen(NO)))
    return table


def _diseases_table(result: Result, patient: Patient) -> Table:
    table = _table("The most probable explanation", "disease", "causes")
    for disease, findings in explained_findings(result, patient).items():
        table.add_row(_readable(disease) or "(no disease needed)", _listed(findings))
    return table


def _conclusion(result: Result, patient: Patient) -> str:
    truth = names_of_ill(patient.model, patient.truth)
    found = set(truth) & set(names_of_ill(patient.model, result.assignment))
    speed = result.steps / max(result.seconds, 1e-9)
    return (
        f"The patient is simulated, so the truth is known: {_listed(truth)}.\n"
        f"The explanation names {len(found)} of these {len(truth)} diseases.\n"
        f"\n"
        f"Log score {result.log_score:.4f}, found after {result.trace.seconds[-1]:.3f} s. "
        f"The search made {result.steps:,} steps\n"
        f"of {result.method} in {result.seconds:.1f} s, {speed:,.0f} a second, and found nothing better."
    )


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left")


def _listed(names: list[str]) -> str:
    return ", ".join(map(_readable, names))


def _readable(name: str) -> str:
    return name.replace("_", " ")
