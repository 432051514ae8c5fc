"""Training states: kept as starts and flips on the device, and rebuilt there, batch by batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from beacon.guide.attention import TokenSpace
from beacon.learn.trajectories import Trajectories, check_data
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, QuerySet


class Picks(NamedTuple):
    """States to look at, on the device: an epoch of them, a batch, or a part of one."""

    queries: Tensor
    """[states] row in the data set."""
    states: Tensor
    """[states] run · (steps + 1) + number of flips made."""
    offsets: Tensor
    """[states] in 0..1: which moves are looked at where not all are."""

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.queries)

    def take(self, rows: slice) -> Picks:
        """Some of them."""
        return Picks(self.queries[rows], self.states[rows], self.offsets[rows])


class Batch(NamedTuple):
    """What the network sees of some states, and what it should say."""

    state_tokens: Tensor
    """[states, variables]"""
    move_tokens: Tensor
    """[states, moves]"""
    labels: Tensor
    """[states, moves] is the new value the reference's?"""
    is_move: Tensor
    """[states, moves] false where a state has fewer moves than the batch is wide."""
    distances: Tensor
    """[states] share of the query variables that do not have the reference's value."""


class TrajectoryStates:
    """The states of one split's trajectories; queries without a move are left out.

    Everything lies on the device in the type it was collected in, some megabytes in all.
    """

    def __init__(
        self,
        model: GraphicalModel,
        queries: QuerySet,
        trajectories: Trajectories,
        split: str,
        device: torch.device,
    ) -> None:
        check_data(model, queries, trajectories)
        self.tokens = TokenSpace(model.domain_sizes, device)
        rows = np.flatnonzero(queries.split_of_queries == SPLITS.index(split))
        slots, counts = self.tokens.open_slots(queries.observed[rows])
        rows, slots, self.num_moves = rows[counts > 0], slots[counts > 0], counts[counts > 0]
        self.device = device
        self.num_runs, self.num_steps = trajectories.flip_variables.shape[1:]
        arrays = (
            slots,
            queries.observed[rows],
            trajectories.references[rows],
            trajectories.starts[rows],
            trajectories.flip_variables[rows],
            trajectories.flip_values[rows],
        )
        self.slots, self.observed, self.references, self.starts, self.flip_variables, self.flip_values = (
            torch.tensor(_signed(array), device=device) for array in arrays
        )
        self.counts = torch.tensor(self.num_moves, device=device)

    @property
    def num_queries(self) -> int:
        """Queries that can be learned from."""
        return len(self.num_moves)

    @property
    def num_variables(self) -> int:
        """Variables of the model: tokens of a state."""
        return int(self.starts.shape[2])

    @property
    def states_per_query(self) -> int:
        """States that were collected for each query."""
        return int(self.num_runs * (self.num_steps + 1))

    def draw(self, states_per_query: int, rng: np.random.Generator) -> Picks:
        """Draw states of every query, one from each of equal stretches of its runs; shuffled."""
        per_query = min(states_per_query, self.states_per_query)
        shares = (np.arange(per_query) + rng.random((self.num_queries, per_query))) / per_query
        states = np.minimum((shares * self.states_per_query).astype(np.int64), self.states_per_query - 1)
        queries = np.repeat(np.arange(self.num_queries), per_query)
        order = rng.permutation(len(queries))
        columns = (queries[order], states.ravel()[order], rng.random(len(order), np.float32))
        return Picks(*(torch.tensor(column, device=self.device) for column in columns))

    def width(self, max_moves: int | None) -> int:
        """Columns of a batch, the same for all batches: most moves of a query, at most ``max_moves``."""
        most = int(self.num_moves.max(initial=0))
        return most if max_moves is None else min(most, max_moves)

    def replay(self, picks: Picks) -> Tensor:
        """[states, variables] the assignments: each variable at its start, or as its last flip left it."""
        query = picks.queries
        run, made = picks.states // (self.num_steps + 1), picks.states % (self.num_steps + 1)
        starts = self.starts[query, run].long()
        variables = self.flip_variables[query, run].long()
        steps = torch.arange(self.num_steps, device=self.device).expand_as(variables)
        counts = (steps < made[:, None]) & (variables >= 0)
        beside = starts.shape[1]  # a column for the flips that do not count
        last = torch.full((len(starts), beside + 1), -1, device=self.device)
        last.scatter_reduce_(1, torch.where(counts, variables, beside), steps, "amax")
        last = last[:, :beside]
        if not self.num_steps:
            return starts
        return torch.where(last < 0, starts, self.flip_values[query, run].long().gather(1, last.clamp(min=0)))

    def batch(self, picks: Picks, max_moves: int | None = None) -> Batch:
        """Rebuild states and label their moves, or an evenly spread ``max_moves`` of them."""
        x = self.replay(picks)
        query = picks.queries
        place, is_move = self._places(picks, max_moves)
        slots = self.slots[query].long().gather(1, place)
        variables, values = self.tokens.values(x, slots)
        references = self.references[query].long()
        labels = values == references.gather(1, variables)
        observed = self.observed[query]
        state_tokens = self.tokens.of_states(x, observed)
        distances = (x != references).sum(1) / (~observed & (self.tokens.sizes > 1)).sum(1)
        return Batch(state_tokens, self.tokens.starts[variables] + values, labels, is_move, distances)

    def _places(self, picks: Picks, max_moves: int | None) -> tuple[Tensor, Tensor]:
        """Which of its query's slots each state looks at, and whether they exist.

        Where there are too many, every (count / max_moves)-th is taken, from a random offset on: each move
        has the same chance.
        """
        counts = self.counts[picks.queries][:, None]
        place = torch.arange(self.width(max_moves), device=self.device).expand(picks.size, -1)
        is_move = place < counts
        if max_moves is not None:
            spread = ((place + picks.offsets[:, None]) * (counts / max_moves)).long().minimum(counts - 1)
            place = torch.where(counts > max_moves, spread, place)
        return torch.where(is_move, place, 0), is_move


def _signed(array: NDArray[Any]) -> NDArray[Any]:
    """Torch can index with bytes and signed numbers alone."""
    return array.astype(np.int32) if array.dtype.kind == "u" and array.dtype.itemsize > 1 else array
