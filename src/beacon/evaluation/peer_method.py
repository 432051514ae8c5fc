"""Other solvers as methods to be measured: no steps, only a time limit and an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beacon.errors import UsageError
from beacon.evaluation.method import Budget, Network, Query, Run
from beacon.peers.peer import Peer, PeerAnswer
from beacon.runner.search import Trace


@dataclass(frozen=True)
class PeerMethod:
    """A solver under the largest time budget. What it found before it ended is not known: its answer counts
    from the moment it returned, at the earliest at a smaller budget that it kept."""

    name: str
    peer: Peer
    counts_steps: bool = field(default=False, init=False)

    def settings(self) -> dict[str, Any]:
        """The kind of solver."""
        return {"solver": type(self.peer).__name__}

    def prepare(self, network: Network) -> None:
        """Nothing: a solver reads the model anew for every query."""

    def run(
        self, network: Network, queries: Sequence[Query], budget: Budget, seed: int, threads: int
    ) -> Iterator[tuple[Query, Run]]:
        """One query after another, so that none shares the machine with another."""
        if not budget.seconds:
            raise UsageError(f"{self.name} needs a time limit; add a budget in seconds (--time S, --seconds)")
        for query in queries:
            answer = self.peer.solve(network.model, query.evidence, budget.max_seconds)
            yield query, _run_of(network, answer, budget.max_seconds)


def _run_of(network: Network, answer: PeerAnswer, limit: float) -> Run:
    found = answer.assignment is not None
    assignment = None if answer.assignment is None else np.asarray(answer.assignment, dtype=np.int64)
    score, zeros = network.floored_score(assignment)
    seconds = min(answer.seconds, limit)  # what it had at the limit is read and checked a moment later
    return Run(
        trace=Trace(
            np.zeros(int(found), np.int64),
            np.full(int(found), seconds),
            np.full(int(found), score),
            np.full(int(found), zeros, np.int64),
        ),
        assignment=assignment,
        steps=0,
        setup_seconds=0.0,
        seconds=answer.seconds,
        stop="optimal" if answer.proved_optimal else "seconds",
        proved=answer.proved_optimal,
    )
