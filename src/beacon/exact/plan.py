"""What exactness would cost, part by part, before any table is made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.exact.order import KEPT, LARGEST, NUM_COSTS, PLACES, SUMMED, WIDTH, Room, order_parts
from beacon.model.bit_graph import new_graph
from beacon.reduce.query import ReducedQuery
from beacon.rng import stream_of_fixed

MAX_ENTRIES = 1 << 25  # 256 MiB of doubles
MAX_PART = 16_384  # variables of a part that is looked at; its graph takes 64 MiB
MAX_WORK = 5e7
MAX_TRIES = 32
BYTES_PER_ENTRY = 8


@dataclass(frozen=True, eq=False)
class Plan:
    """An elimination order of each part of a reduced query, and its cost; infinite where over the cap."""

    order: NDArray[np.int32]
    """The reduced query's variables, part by part as in its ``members``, in the order of elimination."""
    costs: NDArray[np.float64]
    """[parts, 5] entries kept, largest table summed, entries summed, scope places kept, width."""

    @property
    def entries(self) -> NDArray[np.float64]:
        """[parts] table entries in memory while a part is eliminated; those of several parts add up."""
        return self.costs[:, KEPT] + self.costs[:, LARGEST]

    @property
    def work(self) -> NDArray[np.float64]:
        """[parts] entries of all tables summed: what the time grows with."""
        return self.costs[:, SUMMED]

    @property
    def widths(self) -> NDArray[np.float64]:
        """[parts] most neighbours of a variable when it is eliminated."""
        return self.costs[:, WIDTH]

    def needs(self, parts: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Entries kept, entries of the largest sum and scope places of some parts together."""
        chosen = self.costs[parts]
        kept, places = chosen[:, KEPT].sum(), chosen[:, PLACES].sum()
        return int(kept), int(chosen[:, LARGEST].max(initial=0.0)), int(places)

    def cheapest(self, max_work: float) -> NDArray[np.bool_]:
        """[parts] those that can be eliminated together within a cap on work: the cheapest first."""
        ranking, fits = np.argsort(self.work, kind="stable"), np.zeros(len(self.costs), dtype=np.bool_)
        fits[ranking] = np.cumsum(self.work[ranking]) <= max_work
        return fits

    def affordable(self, max_entries: float = MAX_ENTRIES) -> NDArray[np.bool_]:
        """[parts] those that can be eliminated together within a cap on entries: the cheapest first."""
        ranking = np.argsort(self.entries, kind="stable")
        kept = np.cumsum(self.costs[ranking, KEPT])
        largest = np.maximum.accumulate(self.costs[ranking, LARGEST])
        fits = np.zeros(len(self.costs), dtype=np.bool_)
        fits[ranking] = kept + largest <= max_entries
        return fits


def plan(
    reduced: ReducedQuery,
    seed: int = 0,
    max_entries: float = MAX_ENTRIES,
    max_work: float = MAX_WORK,
    max_tries: int = MAX_TRIES,
) -> Plan:
    """Look for cheap elimination orders; a part that needs more than ``max_entries`` has infinite cost.

    ``max_work`` bounds the search for an order of one part, counted in steps of about a nanosecond, so that
    plans are the same on every machine.
    """
    costs = np.empty((reduced.num_parts, NUM_COSTS))
    order = reduced.members.copy()
    if reduced.num_parts:
        counts = np.diff(reduced.part_starts)
        largest = int(counts[counts <= MAX_PART].max(initial=0))
        rng = stream_of_fixed(seed, reduced.fixed)
        order_parts(
            reduced.tables,
            order_room(largest, len(reduced.variables)),
            reduced.members,
            reduced.part_starts,
            float(max_entries),
            max_work,
            max_tries,
            costs,
            order,
            rng,
        )
    return Plan(order, costs)


def order_room(largest: int, variables: int) -> Room:
    """Room to order parts of at most ``largest`` variables each, of this many in all."""
    return Room(
        fresh=new_graph(largest),
        graph=new_graph(largest),
        numbers=np.empty(variables, dtype=np.int32),
        own_logs=np.empty(largest),
        left=np.empty(largest, dtype=np.int64),
        clique=np.empty(largest, dtype=np.int64),
        order=np.empty(largest, dtype=np.int32),
        cost=np.empty(NUM_COSTS),
    )
