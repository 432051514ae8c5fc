"""The guide of solved queries: it remembers references, and lets those vote that fit the evidence best."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_count
from beacon.guide.checkpoint import Checkpoint, damaged, save_checkpoint
from beacon.guide.renaming import best_renaming, renamings
from beacon.guided.guide import EvidenceGuide
from beacon.model.graphical_model import GraphicalModel

NEIGHBOURS = 15


class SolvedGuide(EvidenceGuide):
    """A vote of the references that have most of the observed values. Nothing is trained.

    >>> import numpy as np
    >>> import beacon
    >>> from beacon.guide.solved import SolvedGuide
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> guide = SolvedGuide(model, np.array([[0, 0], [1, 1]]), neighbours=1)
    >>> guide.probabilities(np.array([[1, 0]]), np.array([[True, False]])).tolist()  # x0 = 1 is observed
    [[0.25, 0.75, 0.25, 0.75]]
    """

    has_opinions: ClassVar[bool] = True

    def __init__(
        self,
        model: GraphicalModel,
        references: NDArray[np.integer],
        neighbours: int = NEIGHBOURS,
        facts: dict[str, Any] | None = None,
    ) -> None:
        """Take the references of solved queries, a row each; ``neighbours`` of them vote."""
        super().__init__(model)
        check_count("neighbours", neighbours, 1)
        if references.ndim != 2 or references.shape[1] != model.num_variables or not len(references):
            raise UsageError(
                f"expected references of {model.num_variables} variables, a row each; "
                f"found an array of shape {references.shape}"
            )
        for row in references:
            model.check_assignment(row)
        kind = np.min_scalar_type(int(model.domain_sizes.max(initial=1)) - 1)
        self.references = np.ascontiguousarray(references, dtype=kind)
        self.neighbours = neighbours
        self.facts = {
            "fingerprint": model.fingerprint,
            "settings": {"neighbours": neighbours},
            **(facts or {}),
        }
        self._by_variable = np.ascontiguousarray(self.references.T)  # evidence picks rows of it: quick
        self._renamings = renamings(model)

    @classmethod
    def from_checkpoint(cls, model: GraphicalModel, checkpoint: Checkpoint) -> SolvedGuide:
        """The guide that :meth:`save` wrote."""
        facts = checkpoint.own_facts
        try:
            neighbours = facts["settings"]["neighbours"]
            return cls(model, checkpoint.tensors["references"], neighbours, facts)
        except (KeyError, UsageError):
            raise damaged(checkpoint.path, "its references do not fit the model") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a guide's folder."""
        save_checkpoint(path, "solved", {"references": self.references}, self.facts)

    def opinions(
        self, assignment: NDArray[np.integer], observed: NDArray[np.bool_], count: int
    ) -> NDArray[np.integer]:
        """[up to ``count``, variables] the references with most of the observed values, the best first.

        Of equals the first. Where values are mere names, each reference is renamed to agree best. Cost: the
        references times the observed variables.
        """
        given = np.flatnonzero(observed)
        values = assignment[given].astype(self.references.dtype)
        rows = self._by_variable[given]
        if self._renamings is None:
            return self.references[_most((rows == values[:, None]).sum(axis=0), count)]
        ways, hits = best_renaming(self._renamings, rows, values)
        chosen = _most(hits, count)
        names = self._renamings[ways[chosen]].astype(self.references.dtype)
        return np.take_along_axis(names, self.references[chosen].astype(np.intp), axis=1)

    def probabilities(
        self, assignments: NDArray[np.integer], observed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """[states, moves] the shares of the votes, one vote more divided between all values."""
        result = np.empty((len(assignments), len(self.moves)), dtype=np.float32)
        evenly = 1 / self.moves.domain_sizes[self.moves.variable_of]
        for row, assignment, seen in zip(result, assignments, observed, strict=True):
            voters = self.opinions(assignment, seen, self.neighbours)
            votes = np.bincount(self.moves.of_assignments(voters).ravel(), minlength=len(self.moves))
            row[:] = (votes + evenly) / (len(voters) + 1)
        return result


def _most(hits: NDArray[np.integer], count: int) -> NDArray[np.intp]:
    """The places of the largest numbers, the largest first."""
    return np.argsort(-hits, kind="stable")[:count]
