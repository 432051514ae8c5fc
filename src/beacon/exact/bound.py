"""Upper bounds on the score of a query's open parts, better with every pass of messages."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.exact.bound_value import ROUNDING, add_messages, sum_outward, top_clusters, top_separators
from beacon.exact.clusters import Clusters, mini_buckets, single_factors
from beacon.exact.decode import decode
from beacon.exact.index_maps import Scopes, add_tables, fill_maps, fill_strides
from beacon.exact.plan import MAX_WORK, plan
from beacon.exact.relaxation import BACKWARD, FORWARD, Relaxation, pass_messages
from beacon.exact.slack import reduction_slack
from beacon.exact.solve import SolvedParts
from beacon.reduce.tables import MAX_AXES, Tables

PASSES_PER_LOOK = 4  # passes between two values of the bound
STALL = 1e-7  # an improvement by less than this share of the gap so far, in one look, is none


class Bound:
    """An upper bound on the best score of a query, never below it, rounding included.

    Parts that are solved count with their optimum, open parts with a bound that :meth:`run` lowers.
    ``max_entries`` is the size up to which tables are joined into clusters: 0 takes each factor by itself,
    which is quick; more takes more time for each pass and gives tighter bounds.
    """

    def __init__(self, solved: SolvedParts, max_entries: int = 0, seed: int = 0) -> None:
        self.solved = solved
        self.num_passes = 0
        self.upper_bound = math.inf
        self.is_converged = False
        reduced = solved.reduced
        is_open = np.repeat(~solved.is_solved, np.diff(reduced.part_starts))
        self._variables = reduced.members[is_open]
        self._slack = reduction_slack(reduced)
        self._clusters = self._choose_clusters(max_entries, seed)
        self._scopes, self._relaxation = relax(solved.tables, self._clusters)
        self._scales, self._errors = table_scales(self._relaxation, self._clusters)
        self._look()

    def run(self, passes: int | None = None, seconds: float | None = None) -> float:
        """Pass messages this many times or for this long, at least once; return the bound.

        It ends early where the bound has stopped falling.
        """
        if passes is None and seconds is None:
            raise UsageError("a bound runs for a number of passes or of seconds; found neither")
        end = perf_counter() + (math.inf if seconds is None else seconds)
        left = math.inf if passes is None else passes
        while left > 0 and not self.is_converged:
            count = int(min(left, PASSES_PER_LOOK))
            self._pass(count)
            left -= count
            self._look()
            if perf_counter() >= end:
                break
        return self.upper_bound

    def decoded(self) -> NDArray[np.int32]:
        """An assignment read off the messages; the optimum where the bound is tight and nothing is tied."""
        tables, clusters, relaxation = self.solved.tables, self._clusters, self._relaxation
        if clusters.cluster_of_unary is not None and self.num_passes % 2 == 0:
            self._pass(1)  # a value is chosen by its bucket, which knows all before it after a forward pass
        choices = np.zeros(len(tables.sizes), dtype=np.int32)
        choices[self._variables] = -1
        if len(clusters.order):
            own_values, own_starts = self._own_values()
            axes, sums = np.empty((MAX_AXES, 3), dtype=np.int64), np.empty(int(tables.sizes.max()))
            starts, moved = relaxation.table_starts, relaxation.moved
            decode(
                tables.sizes,
                self._scopes,
                starts,
                moved,
                own_values,
                own_starts,
                clusters.order,
                *clusters.readers,
                axes,
                sums,
                choices,
            )
        return self.solved.reduced.assignment_of(tables, self.solved.steps, choices, self.solved.seed)

    def _choose_clusters(self, max_entries: int, seed: int) -> Clusters:
        if max_entries > 0 and len(self._variables):
            prospect = plan(self.solved.reduced, seed, math.inf, MAX_WORK, max_tries=2)
            is_open = ~self.solved.is_solved
            if np.isfinite(prospect.work[is_open]).all():
                chosen = np.repeat(is_open, np.diff(self.solved.reduced.part_starts))
                return mini_buckets(self.solved.tables, prospect.order[chosen], max_entries)
        return single_factors(self.solved.tables, self._variables)

    def _pass(self, count: int) -> None:
        for _ in range(count):
            pass_messages(self._relaxation, FORWARD if self.num_passes % 2 == 0 else BACKWARD)
            self.num_passes += 1

    def _look(self) -> None:
        """Take the value of the relaxation if it is lower than before."""
        before, value = self.upper_bound, self._value()
        self.upper_bound = min(before, value)
        fell = before - self.upper_bound
        self.is_converged = self.num_passes > 0 and not fell > STALL * max(1.0, abs(self.upper_bound))

    def _value(self) -> float:
        relaxation = self._relaxation
        num_clusters, num_separators = len(self._scales), len(relaxation.link_starts) - 1
        scales, errors = self._scales.copy(), np.empty(num_clusters + num_separators)
        errors[:num_clusters] = self._errors
        tops = np.empty_like(errors)
        add_messages(relaxation, scales, errors[:num_clusters])
        top_clusters(relaxation, tops[:num_clusters])
        top_separators(relaxation, tops[num_clusters:], errors[num_clusters:])
        if self.solved.is_impossible or (tops == -math.inf).any():
            return -math.inf
        total = np.concatenate([[self.solved.score], tops])
        return sum_outward(total, np.concatenate([[self._slack], errors]))

    def _own_values(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """What the values of each variable of the decoding order are worth besides its clusters."""
        relaxation, clusters = self._relaxation, self._clusters
        if clusters.cluster_of_unary is not None:
            longest = int(self.solved.tables.sizes.max())
            return np.zeros(longest), np.zeros(len(clusters.order), dtype=np.int64)
        values = relaxation.values.copy()
        for link, (_, separator) in enumerate(clusters.links.tolist()):
            begin, end = relaxation.value_starts[separator : separator + 2].tolist()
            message = relaxation.links[link, 2]
            with np.errstate(invalid="ignore"):
                values[begin:end] -= relaxation.messages[message : message + end - begin]
        return np.where(np.isfinite(values), values, -np.inf), relaxation.value_starts


def bound(solved: SolvedParts, max_entries: int = 0, seed: int = 0) -> Bound:
    """An upper bound on a query's best score: see :class:`Bound`."""
    return Bound(solved, max_entries, seed)


def relax(tables: Tables, clusters: Clusters) -> tuple[Scopes, Relaxation]:
    """The relaxation of some clusters with no messages passed yet, and the clusters' scopes."""
    large, small = _scopes(tables, clusters.scopes), _scopes(tables, clusters.separators)
    table_starts, value_starts = _starts(large.sizes), _starts(small.sizes)
    cluster_of_link, separator_of_link = clusters.links.T
    map_starts, message_starts = (
        _starts(large.sizes[cluster_of_link]),
        _starts(small.sizes[separator_of_link]),
    )
    counts = np.bincount(separator_of_link, minlength=len(small.sizes))
    ahead = _ahead(cluster_of_link, separator_of_link, len(large.sizes))
    most = int((counts * small.sizes).max(initial=0))
    relaxation = Relaxation(
        table_starts=table_starts,
        tables=np.zeros(table_starts[-1]),
        moved=np.empty(table_starts[-1]),
        value_starts=value_starts,
        values=np.zeros(value_starts[-1]),
        link_starts=_starts(counts),
        links=np.column_stack([cluster_of_link, map_starts[:-1], message_starts[:-1], ahead]),
        maps=np.empty(map_starts[-1], dtype=np.int32),
        messages=np.zeros(message_starts[-1]),
        margins=np.empty(most),
        sums=np.empty(int(small.sizes.max(initial=0))),
    )
    axes = np.empty((MAX_AXES, 3), dtype=np.int64)
    fill_maps(tables.sizes, large, small, clusters.links, map_starts, axes, relaxation.maps)
    _add_factors(tables, clusters, large, relaxation, axes)
    return large, relaxation


def _add_factors(
    tables: Tables, clusters: Clusters, large: Scopes, relaxation: Relaxation, axes: NDArray[np.int64]
) -> None:
    """Put each factor into its cluster, and each variable's own values into a cluster or its separator."""
    begins, ends = tables.scope_starts[clusters.factors], tables.scope_starts[clusters.factors + 1]
    starts = _starts(ends - begins)
    places = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], ends - begins)
    factors = Scopes(
        starts,
        np.ascontiguousarray(tables.places[places, 0]),
        tables.places[places, 1].astype(np.int64),
        np.empty(0, dtype=np.int64),
    )
    pairs = np.column_stack([clusters.cluster_of_factor, np.arange(len(clusters.factors))])
    table_starts = tables.table_starts[clusters.factors]
    into = relaxation.tables
    add_tables(
        tables.sizes, large, relaxation.table_starts, factors, table_starts, pairs, axes, into, tables.table
    )
    if clusters.cluster_of_unary is None:
        sizes = tables.sizes[clusters.order]
        begins = tables.unary_starts[clusters.order]
        places = np.arange(sizes.sum()) + np.repeat(begins - _starts(sizes)[:-1], sizes)
        relaxation.values[:] = tables.unary[places]
        return
    variables = np.sort(clusters.order)
    ones = np.ones(len(variables), dtype=np.int64)
    alone = Scopes(np.arange(len(variables) + 1), variables, ones, np.empty(0, dtype=np.int64))
    pairs = np.column_stack([clusters.cluster_of_unary[variables], np.arange(len(variables))])
    begins = tables.unary_starts[variables].astype(np.int64)
    add_tables(tables.sizes, large, relaxation.table_starts, alone, begins, pairs, axes, into, tables.unary)


def table_scales(
    relaxation: Relaxation, clusters: Clusters
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest finite absolute value of each cluster's table, and how far its sums of factors may be off."""
    num_clusters = len(relaxation.table_starts) - 1
    sizes = np.abs(relaxation.tables)
    sizes[~np.isfinite(sizes)] = 0.0
    scales = np.maximum.reduceat(sizes, relaxation.table_starts[:-1]) if num_clusters else np.empty(0)
    joined = np.bincount(clusters.cluster_of_factor, minlength=num_clusters)
    if clusters.cluster_of_unary is not None:
        joined = joined + np.bincount(clusters.cluster_of_unary[clusters.order], minlength=num_clusters)
    return scales, np.zeros(num_clusters) if clusters.cluster_of_unary is None else ROUNDING * joined * scales


def _ahead(
    clusters: NDArray[np.int64], separators: NDArray[np.int64], num_clusters: int
) -> NDArray[np.int64]:
    """For each link, has its cluster a later separator (FORWARD), an earlier one (BACKWARD)?"""
    first = np.full(num_clusters, np.iinfo(np.int64).max)
    last = np.full(num_clusters, -1)
    np.minimum.at(first, clusters, separators)
    np.maximum.at(last, clusters, separators)
    forward, backward = separators < last[clusters], separators > first[clusters]
    return FORWARD * forward.astype(np.int64) + BACKWARD * backward.astype(np.int64)


def _scopes(tables: Tables, flat: tuple[NDArray[np.int64], NDArray[np.int32]]) -> Scopes:
    starts, variables = flat
    empty = np.empty(len(variables), dtype=np.int64)
    scopes = Scopes(starts, variables, empty, np.empty(len(starts) - 1, dtype=np.int64))
    fill_strides(tables.sizes, scopes)
    return scopes


def _starts(counts: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
