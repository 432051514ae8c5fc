"""Naive versions of what the engine does, from scratch at every step; they share no code with it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from beacon.model.graphical_model import GraphicalModel

Move = tuple[int, int]


def log_potential(model: GraphicalModel, factor: int, assignment: list[int]) -> float:
    """One factor's entry, by walking the flat table with plain arithmetic."""
    scope, table = model.factors[factor].scope, model.factors[factor].log_table
    index = 0
    for variable in scope:
        index = index * len(model.labels[variable]) + assignment[variable]
    return float(table.reshape(-1)[index])


def assignments(model: GraphicalModel, evidence: Mapping[int, int]) -> Iterator[list[int]]:
    """Every complete assignment that keeps the evidence."""
    domains = [
        [evidence[i]] if i in evidence else range(len(model.labels[i])) for i in range(model.num_variables)
    ]
    for values in itertools.product(*domains):
        yield list(values)


@dataclass
class Naive:
    """Floored scores, gains, penalties and utilities of a model, each computed the long way."""

    model: GraphicalModel
    evidence: Mapping[int, int]
    log_zero: float
    weight: float = 0.0
    penalties: dict[tuple[int, tuple[int, ...]], np.float32] = field(default_factory=dict)

    def floored(self, factor: int, assignment: list[int]) -> float:
        entry = log_potential(self.model, factor, assignment)
        return self.log_zero if entry == -math.inf else entry

    def score(self, assignment: list[int]) -> float:
        return sum(self.floored(f, assignment) for f in range(self.model.num_factors))

    def zeros(self, assignment: list[int]) -> int:
        entries = [log_potential(self.model, f, assignment) for f in range(self.model.num_factors)]
        return entries.count(-math.inf)

    def penalty(self, factor: int, assignment: list[int]) -> np.float32:
        return self.penalties.get(self._key(factor, assignment), np.float32(0))

    def penalised_score(self, assignment: list[int]) -> float:
        penalties = sum(float(self.penalty(f, assignment)) for f in range(self.model.num_factors))
        return self.score(assignment) - self.weight * penalties

    def gain(self, assignment: list[int], move: Move) -> float:
        variable, value = move
        changed = [*assignment[:variable], value, *assignment[variable + 1 :]]
        return self.penalised_score(changed) - self.penalised_score(assignment)

    def moves(self, assignment: list[int]) -> list[Move]:
        free = [i for i in range(self.model.num_variables) if i not in self.evidence]
        return [(i, v) for i in free for v in range(len(self.model.labels[i])) if v != assignment[i]]

    def best_moves(self, assignment: list[int], slack: float = 1e-7) -> list[Move]:
        """The moves of largest gain, up to rounding; none at a local optimum."""
        gains = {move: self.gain(assignment, move) for move in self.moves(assignment)}
        top = max(gains.values(), default=0.0)
        return [move for move, gain in gains.items() if gain >= top - slack] if top > 1e-9 else []

    def guided_moves(
        self,
        assignment: list[int],
        scores: Mapping[Move, float],
        weight: float,
        candidates: str,
        slack: float = 1e-7,
    ) -> list[Move]:
        """The moves that guided selection may take, up to rounding; none at a local optimum."""
        gains = {move: self.gain(assignment, move) for move in self.moves(assignment)}
        if max(gains.values(), default=0.0) <= 1e-9:
            return []
        low, high = min(gains.values()), max(gains.values())
        worths = {}
        for move, gain in gains.items():
            share = (gain - low) / (high - low) if high - low > 1e-9 else 0.0
            if candidates == "all" or gain > 1e-9:
                worths[move] = (1 - weight) * share + weight * scores[move]
        return [move for move, worth in worths.items() if worth >= max(worths.values()) - slack]

    def top(self, factor: int) -> float:
        """A factor's largest entry among the assignments of its own scope that keep the evidence."""
        scope = self.model.factors[factor].scope
        best = -math.inf
        for values in assignments(self.model.condition({})[0], self._observed(scope)):
            best = max(best, self.floored(factor, values))
        return best

    def utility(self, factor: int, assignment: list[int], relative: bool = True) -> np.float32:
        top = self.top(factor) if relative else 0.0
        cost = max(0.0, top - self.floored(factor, assignment))
        return np.float32(cost / (1.0 + float(self.penalty(factor, assignment))))

    def penalise(self, assignment: list[int]) -> None:
        """One more for every factor entry of largest utility."""
        utilities = [self.utility(f, assignment) for f in range(self.model.num_factors)]
        for factor, utility in enumerate(utilities):
            if utility == max(utilities):
                key = self._key(factor, assignment)
                self.penalties[key] = np.float32(self.penalty(factor, assignment) + np.float32(1))

    def smooth(self, rate: float) -> None:
        for key in self.penalties:
            self.penalties[key] = np.float32(self.penalties[key] * np.float32(rate))

    def best(self) -> tuple[int, float]:
        """Fewest zero factors, then the largest floored score, over all assignments."""
        keys = [(self.zeros(x), -self.score(x)) for x in assignments(self.model, self.evidence)]
        zeros, negated = min(keys)
        return zeros, -negated

    def _key(self, factor: int, assignment: list[int]) -> tuple[int, tuple[int, ...]]:
        return factor, tuple(assignment[i] for i in self.model.factors[factor].scope)

    def _observed(self, scope: tuple[int, ...]) -> dict[int, int]:
        """Evidence, with every variable outside a scope pinned to its first value."""
        return {i: self.evidence.get(i, 0) for i in range(self.model.num_variables) if i not in scope} | {
            i: v for i, v in self.evidence.items() if i in scope
        }
