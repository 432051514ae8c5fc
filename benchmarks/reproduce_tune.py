"""The choice of λ and of candidates on the validation queries of one network of ``reproduce.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reproduce_stages import STRATEGIES, Shop, guided, unguided

from beacon.evaluation.metrics import improvements
from beacon.guided.guidance import GuideUse

WEIGHTS = (0.2, 0.5, 0.7, 1.0)
BUDGETS = (500, 1000, 2000)
SCREENED = 20  # queries for every rule; the others are for the λs with the better kind of candidates
WORST_RATIO = -5.0  # a rule that loses more percent at some budget is left to where no other is better


@dataclass
class Tried:
    """Some rules of one strategy on some validation queries."""

    uses: list[GuideUse]
    scores: NDArray[np.float64]
    """[rules, queries, budgets] best scores."""
    zeros: NDArray[np.int64]
    """[rules, queries, budgets] zero factors that are left."""
    base_scores: NDArray[np.float64]
    base_zeros: NDArray[np.int64]

    @property
    def gains(self) -> NDArray[np.float64]:
        """[rules, budgets] mean improvement."""
        return np.array([np.mean(improvements(own, self.base_scores), axis=0) for own in self.scores])

    def best(self) -> GuideUse:
        """The largest improvement over all budgets, of the rules that harm at none."""
        base = self.base_scores.mean(axis=0)
        ratios = 100 * (self.scores.mean(axis=1) - base) / np.abs(base)
        harmless = np.flatnonzero((ratios >= WORST_RATIO).all(axis=1))
        rules = harmless if len(harmless) else np.arange(len(self.uses))
        return self.uses[int(rules[np.argmax(self.gains[rules].mean(axis=1))])]

    def with_candidates(self, kind: str) -> Tried:
        """The rules that choose among these candidates."""
        kept = [k for k, use in enumerate(self.uses) if use.candidates == kind]
        uses = [self.uses[k] for k in kept]
        return Tried(uses, self.scores[kept], self.zeros[kept], self.base_scores, self.base_zeros)

    def joined(self, other: Tried) -> Tried:
        """The same rules on the queries of both."""
        return Tried(
            self.uses,
            np.concatenate([self.scores, other.scores], axis=1),
            np.concatenate([self.zeros, other.zeros], axis=1),
            np.concatenate([self.base_scores, other.base_scores]),
            np.concatenate([self.base_zeros, other.base_zeros]),
        )

    def rows(self, strategy: str) -> list[dict[str, Any]]:
        """A row for the strategy by itself, and one for each rule."""
        found = [_row(strategy, None, self.base_scores, self.base_zeros, None)]
        of_rule = zip(self.uses, self.scores, self.zeros, self.gains, strict=True)
        return found + [_row(strategy, *rule) for rule in of_rule]


def tune(shop: Shop) -> None:
    """λ and the candidates of each strategy: the largest mean improvement on validation queries."""
    count, marks = shop.args.tune_queries, [mark for mark in BUDGETS if mark <= shop.args.steps]
    rules = [
        GuideUse(start="random", weight=weight, candidates=candidates, refresh=1)
        for candidates in ("improving", "all")
        for weight in WEIGHTS
    ]
    screened, screening = try_rules(
        shop, dict.fromkeys(STRATEGIES, rules), slice(min(SCREENED, count)), marks
    )
    final, seconds = screened, screening["seconds"]
    if count > SCREENED:
        first = {s: tried.with_candidates(tried.best().candidates) for s, tried in screened.items()}
        uses = {s: tried.uses for s, tried in first.items()}
        others, facts = try_rules(shop, uses, slice(SCREENED, count), marks)
        final = {s: first[s].joined(others[s]) for s in STRATEGIES}
        seconds += facts["seconds"]
    found = {
        "chosen": {strategy: tried.best().to_dict() for strategy, tried in final.items()},
        "budgets": marks,
        "queries": len(final[STRATEGIES[0]].base_scores),
        "table": [row for strategy, tried in final.items() for row in tried.rows(strategy)],
        "screened": [row for strategy, tried in screened.items() for row in tried.rows(strategy)],
    }
    shop.note("tune", {**found, **screening, "seconds": seconds})


def try_rules(
    shop: Shop, uses: dict[str, list[GuideUse]], chosen: slice, marks: Sequence[int]
) -> tuple[dict[str, Tried], dict[str, Any]]:
    """The rules of every strategy on some of the validation queries, and what that took."""
    scores, zeros, facts = guided(shop, uses, "validation", chosen, marks)
    evidences, starts, _ = shop.split("validation")
    tried = {}
    for strategy in STRATEGIES:
        base, base_zeros, _ = unguided(shop, strategy, evidences[chosen], starts[chosen], marks)
        tried[strategy] = Tried(uses[strategy], scores[strategy], zeros[strategy], base, base_zeros)
    return tried, facts


def _row(strategy: str, use: GuideUse | None, scores: Any, zeros: Any, gain: Any) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "weight": use.weight if use else 0.0,
        "candidates": use.candidates if use else None,
        "mean": scores.mean(axis=0).tolist(),
        "std": scores.std(axis=0).tolist(),
        "with_zeros": (zeros > 0).sum(axis=0).tolist(),
        "improvement": None if gain is None else gain.tolist(),
    }
