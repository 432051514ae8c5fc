"""The demo's patient: simulated, examined in part, and diagnosed from that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import sample_assignments
from beacon.runner.result import Result

NO, YES = 0, 1
VIA = "_via_"  # variables FINDING_via_DISEASE say what has set off a finding


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


def diseases_of(model: GraphicalModel) -> list[int]:
    """Variables without parents."""
    return [factor.scope[0] for factor in model.factors if len(factor.scope) == 1]


def findings_of(model: GraphicalModel) -> list[int]:
    """What a doctor can observe."""
    diseases = set(diseases_of(model))
    return [i for i, name in enumerate(model.names) if i not in diseases and VIA not in name]


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
