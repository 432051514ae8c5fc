"""Medical diagnosis: rare diseases, findings that any of several diseases may cause."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_number, check_seed
from beacon.model.factors import Factor
from beacon.model.families.settings import check_amount, check_range, check_size
from beacon.model.graphical_model import GraphicalModel

_DISEASES = """
influenza pneumonia asthma bronchitis
tuberculosis migraine anemia diabetes hypertension gout measles mumps rubella chickenpox malaria
cholera typhoid hepatitis cirrhosis pancreatitis appendicitis gastritis ulcer colitis celiac_disease
gallstones kidney_stones nephritis cystitis prostatitis hypothyroidism hyperthyroidism osteoporosis
arthritis lupus psoriasis eczema shingles tonsillitis sinusitis otitis glaucoma cataract
conjunctivitis epilepsy meningitis encephalitis stroke angina endocarditis pericarditis arrhythmia
embolism thrombosis sepsis lyme_disease mononucleosis scurvy rickets sarcoidosis emphysema pleurisy
laryngitis diverticulitis hernia sciatica fibromyalgia narcolepsy vertigo neuropathy
"""

_FINDINGS = """
fever cough headache fatigue nausea vomiting diarrhea constipation rash itching chills sweating
dizziness fainting chest_pain back_pain joint_pain muscle_pain abdominal_pain sore_throat runny_nose
sneezing wheezing hoarseness breathlessness palpitations swelling bruising jaundice pallor
weight_loss weight_gain thirst hunger insomnia drowsiness confusion tremor numbness weakness
blurred_vision red_eyes dry_eyes dry_mouth ear_pain hearing_loss tinnitus nosebleed bleeding_gums
bloating heartburn hiccups cramps stiffness limping blisters hair_loss cold_hands flushing
night_sweats high_blood_pressure low_blood_pressure fast_pulse slow_pulse high_blood_sugar
low_blood_sugar high_cholesterol low_iron protein_in_urine blood_in_urine frequent_urination
painful_urination swollen_glands swollen_ankles enlarged_liver enlarged_spleen shadow_on_x_ray
abnormal_ecg raised_white_cells low_platelets
"""

DISEASES = tuple(_DISEASES.split())
FINDINGS = tuple(_FINDINGS.split())
VIA = "_via_"  # variables FINDING_via_DISEASE say what has set off a finding
CAUSE_STRENGTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def first_names(words: tuple[str, ...], kind: str, count: int) -> list[str]:
    """The first ``count`` words; numbered names once they run out."""
    return [*words[:count], *(f"{kind}_{k}" for k in range(len(words), count))]


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


def diseases_of(model: GraphicalModel) -> list[int]:
    """Variables without parents."""
    return [factor.scope[0] for factor in model.factors if len(factor.scope) == 1]


def findings_of(model: GraphicalModel) -> list[int]:
    """What a doctor can observe."""
    diseases = set(diseases_of(model))
    return [i for i, name in enumerate(model.names) if i not in diseases and VIA not in name]


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
            link = self.add_variable(f"{finding}{VIA}{self.names[cause]}")
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
