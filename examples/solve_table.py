"""Answer a table of queries on one model, in parallel, and print the answers in the table's order."""

from pathlib import Path
from tempfile import TemporaryDirectory

import beacon
from beacon.model.families import diagnosis

TABLE = """\
fever,cough,rash,headache
yes,yes,no,
yes,yes,,yes
,,yes,no
"""

model = diagnosis(num_diseases=40, leak=0.001, seed=23)  # as `beacon generate diagnosis` makes it
with TemporaryDirectory() as folder:
    table = Path(folder) / "patients.csv"  # a column per variable, a row per query, empty: not observed
    table.write_text(TABLE, encoding="utf-8")
    queries = beacon.read_evidence_table(table, model)

results = beacon.solve_many(model, queries, stop=beacon.MaxSteps(50_000), seed=0)

for patient, result in enumerate(results):
    values = result.named_assignment
    diseases = [name for name in model.names[:40] if values[name] == "yes"]
    print(f"patient {patient}: {', '.join(diseases) or 'no disease'} (log score {result.log_score:.3f})")
