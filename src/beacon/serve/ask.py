"""What a client asks: the fields of a request, checked, and resolved against the model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from beacon.errors import UsageError, check_count, check_number, shown
from beacon.io.settings import check_known
from beacon.model.evidence import resolve_evidence, resolve_variable
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.asked import Asked
from beacon.runner.show import Show
from beacon.runner.stop import DEFAULT_STOP, Stop
from beacon.serve.settings import ServeSettings

SEARCH_SHARE = 0.5  # of the time, where alternatives, margins or a supposition are to come after the search
ANSWER_SHARE = 0.98  # else: a search that ends by itself is not taken for one that was cancelled
FLAGS, OBJECTS = ("margins", "probability"), ("evidence", "suppose")


@dataclass(frozen=True)
class Ask:
    """The fields of a request. It checks itself."""

    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What is observed: values by variable, both by name or index. null: not observed."""
    seconds: float | None = None
    """Time for the answer, waiting included; default: 1."""
    steps: int | None = None
    """Steps of the search, for an answer that does not depend on the machine."""
    gap: float = 0.0
    """An answer proved to be at most this many nats below the optimum is good enough."""
    alternatives: int | None = None
    """The number of best assignments, the answer included."""
    distance: int = 1
    """Any two alternatives differ in at least this many variables."""
    margins: bool = False
    """What each value of each variable would lose."""
    suppose: Mapping[str, Any] = field(default_factory=dict)
    """Values to be supposed for once: the answer has the best assignment with them, too."""
    show: str | list[str] = "all"
    """Variables in named_assignment and margins: names, or query, changed or all."""
    probability: bool = True
    """Whether to compute the probability, which may take longer than the answer itself."""

    def __post_init__(self) -> None:
        """Refuse what has the wrong type; bounds depend on the server."""
        for name in OBJECTS:
            if not isinstance(found := getattr(self, name), Mapping):
                raise UsageError(f"{name} must be an object like {{'fever': 'yes'}}; found {shown(found)}")
        for name in FLAGS:
            if not isinstance(found := getattr(self, name), bool):
                raise UsageError(f"{name} must be true or false; found {shown(found)}")
        names = self.show if isinstance(self.show, list) else [self.show]
        if not all(isinstance(name, str) for name in names):
            raise UsageError(f"show must be a text or a list of names; found {shown(self.show)}")
        check_number("gap", self.gap, 0)
        if self.steps is not None:
            check_count("steps", self.steps, 0)

    @classmethod
    def of(cls, body: object, settings: ServeSettings) -> Ask:
        """From the JSON of a request, within what the server allows."""
        if not isinstance(body, dict):
            raise UsageError(f"expected a JSON object, such as {{'evidence': {{}}}}; found {shown(body)}")
        for key in body:
            check_known(key, [one.name for one in fields(cls)], f"no field is called {shown(key)}")
        ask = cls(**body)
        if ask.seconds is not None:
            check_number("seconds", ask.seconds, 0.001, settings.max_seconds)
        if ask.alternatives is not None:
            check_count("alternatives", ask.alternatives, 1, settings.max_alternatives)
        return ask

    def deadline_seconds(self, settings: ServeSettings) -> float:
        """How long an answer may take; one that is limited by steps may take as long as any."""
        if self.seconds is not None:
            return self.seconds
        usual = DEFAULT_STOP.seconds if self.steps is None else settings.max_seconds
        return min(usual, settings.max_seconds)

    def question(self, model: GraphicalModel) -> Question:
        """The same for one model; raises what ``beacon solve`` would say of wrong evidence."""
        evidence = resolve_evidence(model, self.evidence)
        asked = Asked.of(model, self.alternatives, self.distance, self.margins, self.suppose)
        asked.check(model, evidence)
        return Question(self, evidence, asked, _shown(self.show, model))


class Question(NamedTuple):
    """A request that fits its model."""

    ask: Ask
    evidence: dict[int, int]
    asked: Asked
    show: Show

    def stop(self, seconds_left: float) -> Stop:
        """When to stop searching; without a time limit where steps were asked for, so that they decide."""
        ask, share = self.ask, ANSWER_SHARE if self.asked.is_nothing else SEARCH_SHARE
        is_timed = ask.steps is None or ask.seconds is not None
        return Stop(
            steps=math.inf if ask.steps is None else ask.steps,
            seconds=share * seconds_left if is_timed else math.inf,
            gap=ask.gap,
        )


def check_are_evidence(queries: list[Any], model: GraphicalModel) -> None:
    """Each of many queries is the evidence itself: refuse those with a field of that name."""
    for query in queries:
        if isinstance(query, Mapping) and "evidence" in query and "evidence" not in model.name_to_variable:
            raise UsageError(
                "each of queries is the evidence itself, such as {'fever': 'yes'}, and other fields stand "
                f"beside queries; found {shown(query)}"
            )


def _shown(show: str | list[str], model: GraphicalModel) -> Show:
    if isinstance(show, str):
        return Show.of(show, model, 1)
    return Show(variables=tuple(resolve_variable(model, name) for name in show))
