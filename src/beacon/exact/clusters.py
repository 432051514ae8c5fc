"""Which factors make up a cluster, what ties clusters together, and the arrays of their relaxation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.relaxation import BACKWARD, FORWARD, Relaxation
from beacon.exact.subtables import NUM_COLUMNS, Scopes, Subtables, fill_strides, relate
from beacon.model.factors import places_of, starts_of
from beacon.reduce.tables import ALIVE, FACTORS, MAX_AXES, STRIDE, VARIABLE, Tables

Scope = frozenset[int]


@dataclass
class Clusters:
    """Clusters and separators of a query's open parts; separators are in the order of a forward pass."""

    factors: NDArray[np.int64]
    """The living factors."""
    scopes: tuple[NDArray[np.int64], NDArray[np.int32]]
    """Starts and variables of the clusters' scopes."""
    cluster_of_factor: NDArray[np.int64]
    separators: tuple[NDArray[np.int64], NDArray[np.int32]]
    """Starts and variables of the separators' scopes."""
    links: NDArray[np.int64]
    """[links, 2] cluster and separator, by separator."""
    ahead: NDArray[np.int8]
    """[links] does the cluster get a share in a forward pass (FORWARD), in a backward one (BACKWARD)?"""
    order: NDArray[np.int32]
    """The variables in the order in which an assignment is decoded."""
    readers: tuple[NDArray[np.int64], NDArray[np.int64]]
    """For each variable of ``order``, starts and numbers of the clusters that its value is chosen by."""
    cluster_of_unary: NDArray[np.int64] | None = None
    """The cluster of each variable's own values; None where the separators have them."""
    num_entries: int = 0
    """Entries of all clusters and separators, the latter once for each link."""


def living_factors(tables: Tables) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """The factors that no elimination has consumed; starts and variables of their scopes."""
    used = int(tables.counts[FACTORS])
    factors = np.flatnonzero(tables.consumers[:used] == ALIVE)
    places = places_of(tables.scope_starts, factors)
    starts = starts_of(np.diff(tables.scope_starts)[factors])
    return factors, starts, tables.places[places, VARIABLE]


def single_factors(tables: Tables, variables: NDArray[np.int32]) -> Clusters:
    """A cluster for each factor, a separator for each variable."""
    factors, starts, scopes = living_factors(tables)
    variables = np.sort(variables)
    numbers = np.zeros(len(tables.sizes), dtype=np.int64)
    numbers[variables] = np.arange(len(variables))
    cluster_of_place = np.repeat(np.arange(len(factors)), np.diff(starts))
    by_separator = np.argsort(numbers[scopes], kind="stable")
    links = np.column_stack([cluster_of_place, numbers[scopes]])[by_separator]
    link_starts = starts_of(np.bincount(links[:, 1], minlength=len(variables)))
    return Clusters(
        factors=factors,
        scopes=(starts, scopes),
        cluster_of_factor=np.arange(len(factors)),
        separators=(np.arange(len(variables) + 1), variables),
        links=links,
        ahead=_ahead(links[:, 0], links[:, 1], len(factors)),
        order=variables,
        readers=(link_starts, links[:, 0].copy()),
    )


def _ahead(clusters: NDArray[np.int64], separators: NDArray[np.int64], num_clusters: int) -> NDArray[np.int8]:
    """Clusters with a later separator get a share in a forward pass, those with an earlier one backwards.

    Where no cluster has a later separator, the last one gets all, so that the end of a tree knows the rest.
    """
    first = np.full(num_clusters, np.iinfo(np.int64).max)
    last = np.full(num_clusters, -1)
    np.minimum.at(first, clusters, separators)
    np.maximum.at(last, clusters, separators)
    is_later, is_earlier = separators < last[clusters], separators > first[clusters]
    is_last = np.diff(separators, append=-1) != 0
    has_later = np.bincount(separators, is_later)[separators] > 0 if len(separators) else is_later
    gets_forward = is_later | (is_last & ~has_later)
    ahead: NDArray[np.int8] = (FORWARD * gets_forward + BACKWARD * is_earlier).astype(np.int8)
    return ahead


class _Item(NamedTuple):
    """What waits in a bucket: a factor, or the separator to an earlier cluster."""

    scope: Scope
    number: int
    is_factor: bool


@dataclass
class _MiniBucket:
    """Items joined in one cluster, as long as its table is within the cap."""

    scope: Scope
    items: list[_Item] = field(default_factory=list)


def mini_buckets(tables: Tables, order: NDArray[np.int32], max_entries: int) -> Clusters:
    """Clusters along an elimination order: each bucket cut into tables of at most ``max_entries``.

    A cluster without its bucket's variable is the separator to the cluster that takes it in; the clusters of
    one bucket share what they have in common. With a large enough cap this is a junction tree, and the bound
    is the optimum.
    """
    return _Joiner(tables, order, max_entries).clusters()


class _Joiner:
    def __init__(self, tables: Tables, order: NDArray[np.int32], max_entries: int) -> None:
        self.sizes = tables.sizes.tolist()
        self.order = order.tolist()
        self.rank = {variable: k for k, variable in enumerate(self.order)}
        self.cap = max_entries
        self.factors, starts, scopes = living_factors(tables)
        bounds = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
        self.factor_scopes = [frozenset(scopes[a:b].tolist()) for a, b in bounds]
        self.waiting: dict[int, list[_Item]] = {variable: [] for variable in self.order}
        self.cluster_scopes: list[Scope] = []
        self.separator_scopes: list[Scope] = []
        self.links: list[tuple[int, int]] = []
        self.cluster_of_factor = np.zeros(len(self.factors), dtype=np.int64)
        self.cluster_of_unary = np.zeros(len(self.sizes), dtype=np.int64)
        self.readers: list[list[int]] = []

    def clusters(self) -> Clusters:
        for factor, scope in enumerate(self.factor_scopes):
            self._put(_Item(scope, factor, True))
        for variable in self.order:
            self._join_bucket(variable)
        links = np.array(sorted(self.links, key=lambda link: link[1]), dtype=np.int64).reshape(-1, 2)
        return Clusters(
            factors=self.factors,
            scopes=self._flat(self.cluster_scopes),
            cluster_of_factor=self.cluster_of_factor,
            separators=self._flat(self.separator_scopes),
            links=links,
            ahead=_ahead(links[:, 0], links[:, 1], len(self.cluster_scopes)),
            order=np.array(self.order[::-1], dtype=np.int32),
            readers=_flat_lists(self.readers[::-1]),
            cluster_of_unary=self.cluster_of_unary,
            num_entries=sum(map(self._entries, self.cluster_scopes))
            + sum(self._entries(self.separator_scopes[separator]) for _, separator in self.links),
        )

    def _put(self, item: _Item) -> None:
        self.waiting[min(item.scope, key=self.rank.__getitem__)].append(item)

    def _entries(self, scope: Scope) -> int:
        return math.prod(self.sizes[i] for i in scope)

    def _join_bucket(self, variable: int) -> None:
        """Cut a bucket into clusters, and pass each on without the variable."""
        buckets = self._cut(variable)
        first = len(self.cluster_scopes)
        numbers = list(range(first, first + len(buckets)))
        self.readers.append(numbers)
        self.cluster_of_unary[variable] = first
        for number, bucket in zip(numbers, buckets, strict=True):
            self.cluster_scopes.append(bucket.scope)
            self.cluster_of_factor[[item.number for item in bucket.items if item.is_factor]] = number
            self.links += [(number, item.number) for item in bucket.items if not item.is_factor]
        if len(buckets) > 1:
            shared = frozenset.intersection(*(bucket.scope for bucket in buckets))
            self._tie(shared, numbers)
        for number, bucket in zip(numbers, buckets, strict=True):
            rest = bucket.scope - {variable}
            if rest:
                self._tie(rest, [number])
                self._put(_Item(rest, len(self.separator_scopes) - 1, False))

    def _tie(self, scope: Scope, clusters: list[int]) -> None:
        self.links += [(cluster, len(self.separator_scopes)) for cluster in clusters]
        self.separator_scopes.append(scope)

    def _cut(self, variable: int) -> list[_MiniBucket]:
        """First fit, largest items first, where the table grows least."""
        buckets: list[_MiniBucket] = []
        items = sorted(self.waiting.pop(variable), key=lambda item: -self._entries(item.scope))
        for item in items:
            fitting = [
                (self._entries(bucket.scope | item.scope) / self._entries(bucket.scope), k)
                for k, bucket in enumerate(buckets)
                if item.scope <= bucket.scope or self._entries(bucket.scope | item.scope) <= self.cap
            ]
            if fitting:
                bucket = buckets[min(fitting)[1]]
            else:
                bucket = _MiniBucket(frozenset({variable}))
                buckets.append(bucket)
            bucket.scope |= item.scope
            bucket.items.append(item)
        return buckets or [_MiniBucket(frozenset({variable}))]

    def _flat(self, scopes: list[Scope]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        starts, flat = _flat_lists([sorted(scope, key=self.rank.__getitem__) for scope in scopes])
        return starts, flat.astype(np.int32)


def _flat_lists(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return starts, np.fromiter((i for numbers in lists for i in numbers), np.int64, int(starts[-1]))


class Owned(NamedTuple):
    """The factors of a relaxation's clusters."""

    pairs: Subtables
    """A pair of cluster and factor for each factor."""
    starts: NDArray[np.int64]
    """[factors + 1] where each factor begins in ``table``."""
    table: NDArray[np.float64]


def relax(tables: Tables, clusters: Clusters) -> tuple[Scopes, Relaxation, Owned]:
    """The clusters' scopes, their relaxation with no messages passed, and the factors to begin it with."""
    large, small = scopes_of(tables, clusters.scopes), scopes_of(tables, clusters.separators)
    links = _related(tables, large, small, clusters.links)
    separator_of_link = clusters.links[:, 1]
    table_starts, value_starts = starts_of(large.sizes), starts_of(small.sizes)
    message_starts = starts_of(small.sizes[separator_of_link])
    num_links = np.bincount(separator_of_link, minlength=len(small.sizes))
    relaxation = Relaxation(
        table_starts=table_starts,
        moved=np.empty(table_starts[-1]),
        value_starts=value_starts,
        values=np.zeros(value_starts[-1]),
        link_starts=starts_of(num_links),
        links=links,
        ahead=clusters.ahead,
        message_starts=message_starts,
        messages=np.zeros(message_starts[-1]),
        margins=np.empty(int((num_links * small.sizes).max(initial=0))),
        sums=np.empty(int(small.sizes.max(initial=0))),
        digits=np.empty(MAX_AXES, dtype=np.int64),
    )
    if clusters.cluster_of_unary is None:
        relaxation.values[:] = tables.unary[places_of(tables.unary_starts, clusters.separators[1])]
    return large, relaxation, _owned(tables, clusters, large)


def _owned(tables: Tables, clusters: Clusters, large: Scopes) -> Owned:
    """The living factors, and the variables' own values where no separator has them."""
    factors = clusters.factors
    scope_places = places_of(tables.scope_starts, factors)
    arities = tables.scope_starts[factors + 1] - tables.scope_starts[factors]
    sizes = tables.table_starts[factors + 1] - tables.table_starts[factors]
    variables, strides = tables.places[scope_places, VARIABLE], tables.places[scope_places, STRIDE]
    table = tables.table[places_of(tables.table_starts, factors)]
    owners = clusters.cluster_of_factor
    if clusters.cluster_of_unary is not None:
        alone = np.sort(clusters.order)
        arities = np.concatenate([arities, np.ones_like(alone)])
        sizes = np.concatenate([sizes, tables.sizes[alone]])
        variables, strides = (
            np.concatenate([variables, alone]),
            np.concatenate([strides, np.ones_like(alone)]),
        )
        table = np.concatenate([table, tables.unary[places_of(tables.unary_starts, alone)]])
        owners = np.concatenate([owners, clusters.cluster_of_unary[alone]])
    own = Scopes(starts_of(arities), variables, strides.astype(np.int64), sizes.astype(np.int64))
    pairs = np.column_stack([owners, np.arange(len(owners))])
    return Owned(_related(tables, large, own, pairs), starts_of(sizes), table)


def _related(tables: Tables, large: Scopes, small: Scopes, pairs: NDArray[np.int64]) -> Subtables:
    rows = np.zeros((len(pairs), NUM_COLUMNS), dtype=np.int64)
    rows[:, :2] = pairs
    room = np.empty((MAX_AXES, 2), dtype=np.int64)
    empty = Subtables(rows, np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int32))
    num_axes, num_entries = relate(tables.sizes, large, small, empty, room, False)
    full = Subtables(rows, np.empty((num_axes, 2), dtype=np.int64), np.empty(num_entries, dtype=np.int32))
    relate(tables.sizes, large, small, full, room, True)
    return full


def scopes_of(tables: Tables, flat: tuple[NDArray[np.int64], NDArray[np.int32]]) -> Scopes:
    """Starts and variables of some scopes, with strides and sizes."""
    starts, variables = flat
    strides, sizes = np.empty(len(variables), dtype=np.int64), np.empty(len(starts) - 1, dtype=np.int64)
    scopes = Scopes(starts, variables, strides, sizes)
    fill_strides(tables.sizes, scopes)
    return scopes
