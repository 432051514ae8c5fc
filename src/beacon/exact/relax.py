"""The relaxation of some clusters, made from a query's tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import Clusters
from beacon.exact.relaxation import Relaxation
from beacon.exact.subtables import NUM_COLUMNS, Scopes, Subtables, relate
from beacon.model.factors import places_of, starts_of, strides_of, table_starts
from beacon.reduce.tables import MAX_AXES, STRIDE, VARIABLE, Tables


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
    sizes = np.diff(table_starts(tables.sizes, *flat))
    return Scopes(*flat, strides_of(tables.sizes, *flat), sizes)
