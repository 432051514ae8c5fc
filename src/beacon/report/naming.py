"""How reports call networks, methods and budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beacon.evaluation.evaluation import Evaluation, Kind

COLOURS = {
    "gls+": "#3b7dd8",
    "tree": "#e07b39",
    "auto": "#2a9d6f",
    "beacon": "#a35bc9",
    "toulbar2": "#d64550",
    "beacon-gls+": "#17a2b8",
    "greedy": "#8a8f98",
    "beacon-greedy": "#c9a227",
}
"""Distinct for colour-blind readers, and legible on white and on dark grey."""


def short_name(results: Evaluation, network: str) -> str:
    """A network's short name; an asterisk where it stands in for another one."""
    facts = results.run["networks"].get(network, {})
    return (facts.get("short_name") or network) + ("*" if facts.get("stands_in_for") else "")


def is_variant(results: Evaluation, method: str) -> bool:
    """Is it one of several weights of the same guided method, measured for the λ curves?"""
    return results.weights.get(method) is not None and " λ=" in method


def main_methods(results: Evaluation) -> list[str]:
    """The methods of the comparison, without the variants of a λ sweep."""
    return [method for method in results.methods if not is_variant(results, method)]


def colour_of(results: Evaluation, method: str) -> str:
    """The same colour for a method in every plot, and in every report if it is one of Beacon's own."""
    if method in COLOURS:
        return COLOURS[method]
    others = [one for one in results.methods if one not in COLOURS]
    free = [colour for name, colour in COLOURS.items() if name not in results.methods] or [*COLOURS.values()]
    return free[others.index(method) % len(free)]


def amount(kind: Kind, budget: float) -> str:
    """A budget as a column's heading."""
    if kind == "step":
        return f"{int(budget):,}"
    return f"{budget:g} s"


def busy(session: Mapping[str, Any]) -> str:
    """How busy the machine was, from its load averages at the beginning and at the end."""
    loads = [load for load in session.get("load", []) if load is not None]
    if not loads:
        return "how busy the machine was is not known"
    return (
        f"load {' … '.join(f'{load:.1f}' for load in loads)} on {plural(session.get('cores') or 0, 'core')}"
    )


def plural(count: int, word: str) -> str:
    """1 query, 2 queries."""
    ending = word if count == 1 else f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {ending}"
