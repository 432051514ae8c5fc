"""How the demo begins: one patient, diagnosed."""

from __future__ import annotations

from rich.table import Table

from beacon.cli import patient as clinic
from beacon.cli.console import ProgressBar, say, say_drawn
from beacon.cli.patient import NO, YES, Patient
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.stop import MaxRuntime
from beacon.solver import solve

SEED = 3
STOP = MaxRuntime(1.0)
NUM_PRESENT, NUM_ABSENT = 10, 12

INTRODUCTION = """\
A clinic knows how {diseases} diseases cause {findings} findings: a Bayesian network of {variables} variables.
A patient comes in: {present} findings are seen, {absent} are ruled out, everything else is unknown.
Which diseases, and which values of all other unknowns, are together the most probable explanation?
"""


def tell_story(model: GraphicalModel, quiet: bool = False) -> None:
    """Simulate a patient, search for the explanation of what a doctor sees, and show it."""
    patient = clinic.simulate_patient(model, SEED, NUM_PRESENT, NUM_ABSENT)
    say(_introduction(patient))
    with ProgressBar("searching", None, quiet):
        result = solve(patient.model, patient.evidence, stop=STOP)
    say_drawn(_findings_table(patient), _diseases_table(result, patient))
    say(_conclusion(result, patient))


def _introduction(patient: Patient) -> str:
    return INTRODUCTION.format(
        diseases=len(clinic.diseases_of(patient.model)),
        findings=len(clinic.findings_of(patient.model)),
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
    for disease, findings in clinic.explained_findings(result, patient).items():
        table.add_row(_readable(disease) or "(no disease needed)", _listed(findings))
    return table


def _conclusion(result: Result, patient: Patient) -> str:
    truth = clinic.names_of_ill(patient.model, patient.truth)
    found = set(truth) & set(clinic.names_of_ill(patient.model, result.assignment))
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
