"""One relaxation of a query's open parts: messages, the bound's value, an assignment."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.exact.bound_value import (
    add_factors,
    add_messages,
    reduction_slack,
    sum_outward,
    take_messages,
)
from beacon.exact.clusters import Clusters
from beacon.exact.decode import decoded_choices
from beacon.exact.relax import relax
from beacon.exact.relaxation import BACKWARD, FORWARD, mark_living, pass_messages
from beacon.exact.solve import SolvedParts


class Level:
    """Clusters of one size, and the messages passed between them."""

    def __init__(self, solved: SolvedParts, clusters: Clusters) -> None:
        self.solved = solved
        self.clusters = clusters
        self.num_passes = 0
        self.scopes, self.relaxation, self.owned = relax(solved.tables, clusters)
        self.left = np.empty(0)
        """What the separators' values are worth besides their messages, after :meth:`value`."""
        self.tops = np.empty(0)
        """The largest entry of each cluster, then of each separator, after :meth:`value`."""
        self.last_slack = 0.0
        self.last_value = self.value()

    @property
    def is_last_forward(self) -> bool:
        """Was the last pass a forward one?"""
        return self.num_passes % 2 == 1

    def run(self, passes: int, gap: float = math.inf) -> None:
        """Pass messages forward and back in turn; values that cost more than ``gap`` are out from then on."""
        for _ in range(passes):
            pass_messages(self.relaxation, BACKWARD if self.is_last_forward else FORWARD, gap)
            self.num_passes += 1

    def value(self) -> float:
        """An upper bound on the query's best score; -inf is a proof that nothing is possible.

        It depends on the messages alone: the clusters' tables are made anew from the factors, so what earlier
        passes have rounded does not add up.
        """
        relaxation, clusters = self.relaxation, len(self.scopes.sizes)
        scales, errors = np.empty(clusters), np.empty(clusters + len(relaxation.link_starts) - 1)
        add_factors(relaxation, *self.owned, scales, errors[:clusters])
        add_messages(relaxation, scales, errors[:clusters])
        self.left = relaxation.values.copy()
        take_messages(relaxation, self.left, errors[clusters:])
        pairs = (relaxation.moved, relaxation.table_starts), (self.left, relaxation.value_starts)
        self.tops = np.concatenate([np.maximum.reduceat(table, starts[:-1]) for table, starts in pairs])
        self.last_value = -math.inf
        if not self.solved.is_impossible and (self.tops > -math.inf).all():
            terms = np.concatenate([[self.solved.score], self.tops])
            slacks = np.concatenate([[reduction_slack(self.solved.reduced)], errors])
            self.last_value = sum_outward(terms, slacks)
            self.last_slack = self.last_value - float(terms.sum())
        return self.last_value

    def living(self) -> NDArray[np.bool_]:
        """[values] those of the query's variables that passes with a gap have not ruled out."""
        tables = self.solved.tables
        is_living = np.ones(int(tables.unary_starts[-1]), dtype=np.bool_)
        mark_living(self.relaxation, self.scopes, tables.unary_starts, is_living, is_living.copy())
        return is_living

    def decoded(self) -> NDArray[np.int32]:
        """The assignment whose values the clusters like best, one after the other."""
        clusters = self.clusters
        if clusters.cluster_of_unary is not None and not self.is_last_forward:
            self.run(1)  # a value is chosen by its bucket, which knows all before it after a forward pass
        own = self._own_values() if clusters.cluster_of_unary is None else None
        sizes = self.solved.tables.sizes
        return self.solved.assignment_of(decoded_choices(sizes, self.scopes, self.relaxation, clusters, own))

    def _own_values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What the values of each variable of the decoding order are worth besides its clusters."""
        relaxation, clusters = self.relaxation, self.clusters
        separators = clusters.links[:, 1]
        sizes = np.diff(relaxation.value_starts)[separators]
        begins = relaxation.value_starts[separators] - relaxation.message_starts[:-1]
        owners = np.arange(len(relaxation.messages)) + np.repeat(begins, sizes)
        finite = np.where(np.isfinite(relaxation.messages), relaxation.messages, 0.0)
        moved = np.bincount(owners, finite, minlength=len(relaxation.values))
        return relaxation.values - moved, relaxation.value_starts
