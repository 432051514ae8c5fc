"""One relaxation of a query's open parts: messages, the bound's value, an assignment."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beacon.exact.bound_value import add_factors, add_messages, sum_outward, top_clusters, top_separators
from beacon.exact.clusters import Clusters
from beacon.exact.decode import decode
from beacon.exact.relax import relax
from beacon.exact.relaxation import BACKWARD, FORWARD, mark_living, pass_messages
from beacon.exact.slack import reduction_slack
from beacon.exact.solve import SolvedParts
from beacon.reduce.tables import MAX_AXES


class Level:
    """Clusters of one size, and the messages passed between them."""

    def __init__(self, solved: SolvedParts, clusters: Clusters) -> None:
        self.solved = solved
        self.clusters = clusters
        self.num_passes = 0
        self.scopes, self.relaxation, self.owned = relax(solved.tables, clusters)
        self.num_clusters = len(self.relaxation.table_starts) - 1
        count = self.num_clusters + len(self.relaxation.link_starts) - 1
        self.scales = np.empty(self.num_clusters)
        self.tops, self.errors = np.empty(count), np.empty(count)
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
        relaxation, count = self.relaxation, self.num_clusters
        tops, errors = self.tops, self.errors
        add_factors(relaxation, *self.owned, self.scales, errors[:count])
        add_messages(relaxation, self.scales, errors[:count])
        top_clusters(relaxation, tops[:count])
        top_separators(relaxation, tops[count:], errors[count:])
        self.last_value = -math.inf
        if not self.solved.is_impossible and (tops > -math.inf).all():
            terms = np.concatenate([[self.solved.score], tops])
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
        tables, clusters, relaxation = self.solved.tables, self.clusters, self.relaxation
        if clusters.cluster_of_unary is not None and not self.is_last_forward:
            self.run(1)  # a value is chosen by its bucket, which knows all before it after a forward pass
        choices = np.zeros(len(tables.sizes), dtype=np.int32)
        choices[clusters.order] = -1
        own_values, own_starts = self._own_values()
        decode(
            tables.sizes,
            self.scopes,
            relaxation.table_starts,
            relaxation.moved,
            own_values,
            own_starts,
            clusters.order,
            *clusters.readers,
            np.empty((MAX_AXES, 3), dtype=np.int64),
            np.empty(int(tables.sizes.max(initial=0))),
            choices,
        )
        return self.solved.reduced.assignment_of(tables, self.solved.steps, choices, self.solved.seed)

    def _own_values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What the values of each variable of the decoding order are worth besides its clusters."""
        relaxation, clusters = self.relaxation, self.clusters
        if clusters.cluster_of_unary is not None:
            longest = int(self.solved.tables.sizes.max(initial=0))
            return np.zeros(longest), np.zeros(len(clusters.order), dtype=np.int64)
        separators = clusters.links[:, 1]
        sizes = np.diff(relaxation.value_starts)[separators]
        begins = relaxation.value_starts[separators] - relaxation.message_starts[:-1]
        owners = np.arange(len(relaxation.messages)) + np.repeat(begins, sizes)
        finite = np.where(np.isfinite(relaxation.messages), relaxation.messages, 0.0)
        moved = np.bincount(owners, finite, minlength=len(relaxation.values))
        return relaxation.values - moved, relaxation.value_starts
