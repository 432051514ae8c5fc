"""An assignment read off a relaxation: variable by variable, the value that its clusters like best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.exact.clusters import Clusters
from beacon.exact.relaxation import Relaxation
from beacon.exact.subtables import Scopes
from beacon.jit import inlined, kernel
from beacon.reduce.tables import MAX_AXES


@inlined
def _list_axes(
    sizes_of: NDArray[np.int32],
    scopes: Scopes,
    cluster: int,
    variable: int,
    choices: NDArray[np.int32],
    axes: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Sizes and strides of the other open variables; their number, the entry given the rest, own stride."""
    count, entry, own = 0, 0, 0
    for place in range(scopes.starts[cluster], scopes.starts[cluster + 1]):
        other, stride = scopes.variables[place], scopes.strides[place]
        if other == variable:
            own = stride
        elif choices[other] >= 0:
            entry += choices[other] * stride
        else:
            axes[count, 0], axes[count, 1], axes[count, 2] = sizes_of[other], stride, 0
            count += 1
    return count, entry, own


@inlined
def _add_best(
    moved: NDArray[np.float64],
    start: int,
    own: int,
    size: int,
    axes: NDArray[np.int64],
    count: int,
    sums: NDArray[np.float64],
) -> None:
    """Add a cluster's largest entry for each value, over all that its open variables may be."""
    for value in range(size):
        entry, best = start + value * own, -np.inf
        while True:
            best = max(best, moved[entry])
            axis = count - 1
            while axis >= 0:
                axes[axis, 2] += 1
                entry += axes[axis, 1]
                if axes[axis, 2] < axes[axis, 0]:
                    break
                axes[axis, 2] = 0
                entry -= axes[axis, 0] * axes[axis, 1]
                axis -= 1
            if axis < 0:
                break
        sums[value] += best


@kernel
def decode(
    sizes_of: NDArray[np.int32],
    scopes: Scopes,
    relaxation: Relaxation,
    own_values: NDArray[np.float64],
    own_starts: NDArray[np.int64],
    order: NDArray[np.int32],
    reader_starts: NDArray[np.int64],
    readers: NDArray[np.int64],
    axes: NDArray[np.int64],
    sums: NDArray[np.float64],
    choices: NDArray[np.int32],
) -> None:
    """Choose a value for each variable of ``order``; ``choices`` is -1 for those that have none yet.

    ``own_values[own_starts[k]:]`` is what the values of the k-th variable are worth by themselves. Cost: the
    entries of a variable's clusters that agree with what is chosen.
    """
    for k in range(len(order)):
        variable, size = order[k], sizes_of[order[k]]
        for value in range(size):
            sums[value] = own_values[own_starts[k] + value]
        for reader in range(reader_starts[k], reader_starts[k + 1]):
            cluster = readers[reader]
            count, entry, own = _list_axes(sizes_of, scopes, cluster, variable, choices, axes)
            start = relaxation.table_starts[cluster] + entry
            _add_best(relaxation.moved, start, own, size, axes, count, sums)
        best = 0
        for value in range(1, size):
            if sums[value] > sums[best]:
                best = value
        choices[variable] = best


def decoded_choices(
    sizes: NDArray[np.int32],
    scopes: Scopes,
    relaxation: Relaxation,
    clusters: Clusters,
    own: tuple[NDArray[np.float64], NDArray[np.int64]] | None = None,
) -> NDArray[np.int32]:
    """A value for each variable of the clusters, 0 for all others; see :func:`decode` for ``own``."""
    choices, longest = np.zeros(len(sizes), dtype=np.int32), int(sizes.max(initial=0))
    choices[clusters.order] = -1
    decode(
        sizes,
        scopes,
        relaxation,
        *(own or (np.zeros(longest), np.zeros(len(clusters.order), dtype=np.int64))),
        clusters.order,
        *clusters.readers,
        np.empty((MAX_AXES, 3), dtype=np.int64),
        np.empty(longest),
        choices,
    )
    return choices
