"""What an evaluation says, in a few sentences: who is best, what is proved, and when a guide is ahead."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

from beacon.evaluation.evaluation import Evaluation, Kind
from beacon.evaluation.metrics import win_percentage
from beacon.model.ties import is_tie
from beacon.report.naming import main_methods, plural
from beacon.report.tables import duration
from beacon.strategies.strategy import STRATEGIES

LEVEL = 45.0, 55.0  # win percentages that count as neither ahead nor behind
CLOSE = 1.0  # percent below the optimum, at most
TUNED = "beacon"


class Budget(NamedTuple):
    """A budget with its unit."""

    kind: Kind
    amount: float

    def __str__(self) -> str:
        return duration(self.amount) if self.kind == "second" else f"{int(self.amount):,} steps"


def verdict(results: Evaluation) -> list[str]:
    """Sentences, the most important first; none for results without a budget."""
    kind: Kind = "second" if results.second_budgets else "step"
    budgets = [Budget(kind, amount) for amount in results.budgets(kind)]
    if not budgets:
        return []
    told = [_best_scores(results, budgets[-1]), _proofs(results), _zeros(results)]
    told += [_guided(results, method, budgets) for method in main_methods(results)]
    return [sentence for sentence in told if sentence]


def _best_scores(results: Evaluation, last: Budget) -> str:
    """On how many queries each method ends with the best score that is known."""
    counts = {method: _reached(results, method) for method in main_methods(results)}
    (leader, (hits, total)), *others = sorted(counts.items(), key=lambda item: -_share(item[1]))
    rest = ", ".join(f"{method} on {count:,}" for method, (count, _) in others)
    best = f"After {last}, {leader} has the best known score on {hits:,} of {plural(total, 'query')}"
    return f"{best}; {rest}." if rest else f"{best}."


def _reached(results: Evaluation, method: str) -> tuple[int, int]:
    """How many runs ended with the best known score, of how many."""
    found = [
        is_tie(results.final_scores(network, method), results.best(network)[None]).ravel()
        for network in results.networks
        if results.runs(network, method)
    ]
    return int(sum(map(np.sum, found))), sum(map(len, found))


def _share(counted: tuple[int, int]) -> float:
    return counted[0] / max(1, counted[1])


def _proofs(results: Evaluation) -> str:
    runs = {method: [run for run in results.records if run.method == method] for method in results.methods}
    counts = {method: sum(run.proved for run in found) for method, found in runs.items()}
    proved = [
        f"{method} proved {count:,} of {len(runs[method]):,}" for method, count in counts.items() if count
    ]
    if not proved:
        return "No answer is proved optimal."
    gaps = np.concatenate([results.bound_gaps(network) for network in results.networks])
    close, others = int(((gaps > 0) & (gaps <= CLOSE)).sum()), int((gaps > 0).sum())
    bound = (
        f" Of {plural(others, 'query')} without any proof {close:,} are within {CLOSE:g} % of the optimum."
    )
    return f"Proofs of optimality: {', '.join(proved)} answers.{bound if close else ''}"


def _zeros(results: Evaluation) -> str:
    counts = {
        method: sum(run.zeros > 0 for run in results.records if run.method == method)
        for method in main_methods(results)
    }
    named = [f"{method} on {count:,}" for method, count in counts.items() if count]
    return f"Answers with probability zero remain: {', '.join(named)}." if named else ""


def _guided(results: Evaluation, method: str, budgets: list[Budget]) -> str:
    """Up to which budget a guided method is ahead of the search that it guides."""
    rival = _rival(results, method)
    if rival is None:
        return ""
    states = [(budget, _state(results, method, rival, budget)) for budget in budgets]
    parts: list[str] = []
    for state, group in groupby(states, key=lambda one: one[1]):
        places = [budget for budget, _ in group]
        when = f"at {places[0]}" if len(places) == 1 else f"from {places[0]} to {places[-1]}"
        parts.append(f"{state} {rival} {when}" if not parts else f"{state.split()[0]} {when}")
    return f"{method} is {', '.join(parts)}."


def _rival(results: Evaluation, method: str) -> str | None:
    """The search that a method guides; of the tuned guide, the best unguided one."""
    if method == TUNED:
        unguided = [m for m in main_methods(results) if m in STRATEGIES]
        return max(unguided, key=lambda one: _share(_reached(results, one)), default=None)
    baseline = results.baselines.get(method)
    return baseline if baseline in results.methods else None


def _state(results: Evaluation, method: str, rival: str, budget: Budget) -> str:
    wins = [
        win_percentage(*(results.scores(n, one, budget.kind, budget.amount) for one in (method, rival)))
        for n in results.networks
    ]
    share = float(np.nanmean(wins))
    return "ahead of" if share > LEVEL[1] else "behind" if share < LEVEL[0] else "level with"
