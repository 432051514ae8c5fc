"""Names for the diagnosis family."""

from __future__ import annotations

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


def first_names(words: tuple[str, ...], kind: str, count: int) -> list[str]:
    """The first ``count`` words; numbered names once they run out."""
    return [*words[:count], *(f"{kind}_{k}" for k in range(len(words), count))]
