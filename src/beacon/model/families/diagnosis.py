"""Medical diagnosis: rare diseases, findings that any of several diseases may cause."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_number, check_seed
from beacon.model.families.settings import check_amount, check_range, check_size
from beacon.model.families.words import DISEASES, FINDINGS, first_names
from beacon.model.graphical_model import Factor, GraphicalModel

CAUSE_STRENGTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def diagnosis(
    num_diseases: int = 100,
    num_findings: int = 60,
    *,
    min_causes: int = 2,
    max_causes: int = 10,
    min_prior: float = 1e-5,
    max_prior: float = 1e-2,
    leak: float = 0.03,
    seed: int = 0,
) -> GraphicalModel:
    """Noisy-OR network of diseases and findings, each noisy OR written as a chain of small factors.

    A finding has between ``min_causes`` and ``max_causes`` random diseases as causes. Along its chain one
    disease after another may set it off; the finding itself comes last and may also appear without a
    cause, with probability ``leak``. Priors of diseases are log-uniform between the two bounds.
    """
    check_amount("num_diseases", num_diseases, 1)
    check_amount("num_findings", num_findings, 1)
    check_amount("min_causes", min_causes, 1)
    check_amount("max_causes", max_causes, 1)
    check_range("causes", min_causes, max_causes)
    check_number("min_prior", min_prior, 1e-12, 1)
    check_number("max_prior", max_prior, 1e-12, 1)
    check_range("prior", min_prior, max_prior)
    check_number("leak", leak, 0, 1)
    check_seed(seed)
    if max_causes > num_diseases:
        raise UsageError(f"max_causes must not exceed num_diseases; found {max_causes} and {num_diseases}")
    check_size(num_diseases + num_findings * (max_causes + 1), 8 * num_findings * max_causes)
    rng = np.random.default_rng(seed)
    network = _Network(first_names(DISEASES, "disease", num_diseases))
    for disease, prior in enumerate(np.exp(rng.uniform(np.log(min_prior), np.log(max_prior), num_diseases))):
        network.add_factor((disease,), np.array([1 - prior, prior]))
    for finding in first_names(FINDINGS, "finding", num_findings):
        count = int(rng.integers(min_causes, max_causes + 1))
        causes = rng.choice(num_diseases, count, replace=False).tolist()
        network.add_finding(finding, causes, rng.choice(CAUSE_STRENGTHS, count).tolist(), leak)
    return network.model()


class _Network:
    """Names and factors so far; variable 0 .. are the diseases."""

    def __init__(self, diseases: list[str]) -> None:
        self.names = list(diseases)
        self.factors: list[Factor] = []

    def add_factor(self, scope: tuple[int, ...], table: NDArray[np.float64]) -> None:
        with np.errstate(divide="ignore"):
            self.factors.append(Factor(scope, np.log(table)))

    def add_variable(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1

    def add_finding(self, finding: str, causes: list[int], strengths: list[float], leak: float) -> None:
        """A chain of one variable per cause: "set off by this cause or an earlier one"."""
        previous = -1
        for cause, strength in zip(causes, strengths, strict=True):
            link = self.add_variable(f"{finding}_via_{self.names[cause]}")
            if previous < 0:
                self.add_factor((link, cause), _cause_table(strength))
            else:
                self.add_factor((link, cause, previous), _chain_table(strength))
            previous = link
        self.add_factor((self.add_variable(finding), previous), _leak_table(leak))

    def model(self) -> GraphicalModel:
        return GraphicalModel(tuple(self.names), (("no", "yes"),) * len(self.names), tuple(self.factors))


def _cause_table(strength: float) -> NDArray[np.float64]:
    """[link, disease]: a disease sets off the finding with this probability."""
    return np.array([[1.0, 1 - strength], [0.0, strength]])


def _chain_table(strength: float) -> NDArray[np.float64]:
    """[link, disease, previous link]: once set off, it stays so."""
    off = np.array([[1.0, 0.0], [1 - strength, 0.0]])
    return np.stack([off, 1 - off])


def _leak_table(leak: float) -> NDArray[np.float64]:
    """[finding, link]."""
    return np.array([[1 - leak, 0.0], [leak, 1.0]])
