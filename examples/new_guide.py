"""A guide of one's own: ask the most similar queries of the past; complete, saved, loaded and compared.

Usage: python new_guide.py. docs/extending.md explains it line by line.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import beacon
from beacon.extend import Checkpoint, EvidenceGuide, save_checkpoint
from beacon.model.families import ising_grid


class NeighbourGuide(EvidenceGuide):
    """Finds a value as likely as it is frequent in the answers to the most similar queries."""

    kind = "neighbours"

    def __init__(
        self,
        model: beacon.GraphicalModel,
        references: NDArray[np.integer],
        observed: NDArray[np.bool_],
        neighbours: int = 10,
    ) -> None:
        """Remember solved queries: their answers [queries, variables], and what was evidence in each."""
        super().__init__(model)
        self.references, self.observed, self.neighbours = references, observed, neighbours
        self.facts: dict[str, Any] = {
            "fingerprint": model.fingerprint,  # ties the guide to its model
            "settings": {"neighbours": neighbours},
        }
        self._known = self._evidence_rows(references, observed)
        self._answers = self._evidence_rows(references, ~observed)

    def probabilities(
        self, assignments: NDArray[np.integer], observed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] shares of the neighbours' votes, and one vote for every value."""
        agreement = self._evidence_rows(assignments, observed) @ self._known.T
        nearest = np.argsort(-agreement, axis=1, kind="stable")[:, : self.neighbours]
        votes = 1 + self._answers[nearest].sum(axis=1)
        shares: NDArray[np.float32] = votes / self.moves.per_move(self.moves.total(votes))
        return shares

    def save(self, path: Path) -> None:
        """Write a folder that `from_checkpoint` reads."""
        tensors = {"references": self.references, "observed": self.observed}
        save_checkpoint(path, self.kind, tensors, self.facts)

    @classmethod
    def from_checkpoint(cls, model: beacon.GraphicalModel, checkpoint: Checkpoint) -> "NeighbourGuide":
        """Read what `save` wrote, and how tuning found it best used."""
        guide = cls(model, **checkpoint.tensors, **checkpoint.facts["settings"])
        guide.facts = checkpoint.own_facts
        return guide

    def _evidence_rows(
        self, assignments: NDArray[np.integer], chosen: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] 1 at the values of the chosen variables."""
        rows = np.zeros((len(assignments), len(self.moves)), dtype=np.float32)
        np.put_along_axis(rows, self.moves.of_assignments(assignments), chosen.astype(np.float32), axis=1)
        return rows


def main() -> None:
    """Learn from 300 solved queries, and answer 30 others with and without what was learned."""
    budgets = [10, 100, 1_000]
    model = ising_grid(12, 12, seed=1)
    queries = beacon.sample_queries(
        model, count=330, query_ratio=(0.5, 0.7), splits=(0.9, 0.01, 0.09), seed=0
    )
    train, test = queries.split("train"), queries.split("test")
    settings = beacon.CollectSettings(teacher=beacon.TeacherSettings(method="gls+", steps=5_000), steps=0)
    solved = beacon.collect(model, train, settings)
    guide = NeighbourGuide(model, solved.references, train.observed)

    evidences = [test.evidence(k) for k in range(len(test))]
    print(f"{'steps':>10}", *(f"{budget:>10,}" for budget in budgets))
    for name, chosen in (("random", None), ("neighbours", guide)):
        results = beacon.solve_many(
            model, evidences, guide=chosen, strategy="gls+", stop=beacon.MaxSteps(budgets[-1])
        )
        means = np.mean([result.trace.best_at(budgets) for result in results], axis=0)
        print(f"{name:>10}", *(f"{mean:10.2f}" for mean in means))

    with TemporaryDirectory() as folder:
        guide.save(Path(folder) / "guide")
        kind = (Path(folder) / "guide" / "guide.json").read_text(encoding="utf-8")
        print("saved as a guide of kind neighbours:", '"kind": "neighbours"' in kind)


if __name__ == "__main__":
    main()
