"""How a search heeds a guide: settings that check themselves, and a guide's scores, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import UsageError, check_at_least, check_count, check_number
from beacon.io.settings import check_known

Candidates = Literal["all", "improving"]
RestartFrom = Literal["random", "guide"]
RETIRED = ("refresh_growth",)  # settings that guides of earlier versions may hold
StartFrom = Literal["random", "guide", "constructed", "messages", "own"]
OWN_STARTS = ("constructed", "messages", "own")  # that need no guide


@dataclass(frozen=True)
class Guidance:
    """The rule of guided selection; see docs/guidance.md.

    >>> import beacon
    >>> beacon.Guidance(weight=0.5, candidates="all").stall  # steps per free variable before a restart
    1.0
    """

    weight: float = 0.5
    """λ: the guide's share in the choice of a move; 0: the strategy alone, 1: the guide alone."""
    candidates: Candidates = "improving"
    """Choose among all moves, or only among those that gain."""
    stall: float = 1.0
    """With all moves as candidates: restart after this many steps per free variable without a new best;
    0: never."""
    restart_from: RestartFrom = "random"
    """Restart at a uniformly random assignment, or at one drawn from the guide's scores."""
    fallback: bool = True
    """Search without the guide for a while where it leads nowhere: see docs/guidance.md."""

    def __post_init__(self) -> None:
        check_number("the weight of a guide", self.weight, 0, 1)
        check_at_least("stall", self.stall, 0)
        for name, kind in (("candidates", Candidates), ("restart_from", RestartFrom)):
            if getattr(self, name) not in get_args(kind):
                found = getattr(self, name)
                raise UsageError(f"{name} must be {' or '.join(map(repr, get_args(kind)))}; found {found!r}")

    @property
    def is_heeded(self) -> bool:
        """Would a search with these settings do anything that it does not do by itself?"""
        return self.weight > 0 or self.restart_from == "guide"

    def constants(self) -> GuidanceConstants:
        """The settings as the kernel takes them."""
        return GuidanceConstants(
            weight=float(self.weight),
            improving_only=self.candidates == "improving",
            stall=float(self.stall) if self.candidates == "all" and self.weight > 0 else 0.0,
            restart_from_guide=self.restart_from == "guide",
            fallback=bool(self.fallback),
        )


class GuidanceConstants(NamedTuple):
    """The numbers of guided selection as its kernel takes them."""

    weight: float
    """The guide's share; 0: moves are chosen as without a guide."""
    improving_only: bool
    """Choose only among moves that gain?"""
    stall: float
    """Restart after this many steps per free variable without a new best; 0: never."""
    restart_from_guide: bool
    """Draw restarts from the scores, or uniformly?"""
    fallback: bool
    """Do without the guide now and then where it leads nowhere?"""


def as_guidance(weight: float | Guidance) -> Guidance:
    """Guidance of a weight, all else by default; guidance passes through."""
    return weight if isinstance(weight, Guidance) else Guidance(weight=weight)


def checked_scores(scores: ArrayLike, num_queries: int, num_moves: int) -> NDArray[np.float32]:
    """Scores in the shape and range that kernels rely on."""
    rows = np.ascontiguousarray(scores, dtype=np.float32)
    if rows.shape != (num_queries, num_moves):
        raise UsageError(
            f"expected scores for {num_queries} queries of {num_moves} moves (variable, value) each; "
            f"found an array of shape {rows.shape}"
        )
    if rows.size and not (rows.min() >= 0 and rows.max() <= 1):  # not true for nan either
        raise UsageError(f"scores must lie in 0..1; found {rows.min():g} to {rows.max():g}")
    return rows


@dataclass(frozen=True)
class GuideUse:
    """Settings of a guided search. The default is a start from the guide and nothing more.

    >>> import beacon
    >>> beacon.GuideUse(weight=0.5, refresh=50).guidance.weight
    0.5
    >>> beacon.GuideUse(start="random").asks_guide
    False
    """

    start: StartFrom = "guide"
    """Begin at a random assignment, where the guide would, or, with a weight of 0, at an assignment that is
    constructed, made by messages, or the strategy's own. All but random ones are crossed with the guide's
    opinions."""
    weight: float = 0.0
    """λ: the guide's share in the choice of moves."""
    candidates: Candidates = "improving"
    """With a weight: choose among all moves, or only among those that gain."""
    refresh: int = 0
    """Steps between two scorings; 0: score once. Guides of the evidence alone always score once."""
    restart_from: RestartFrom = "random"
    """Restart at a random assignment, or at one drawn from the guide's scores."""
    stall: float = 1.0
    """With all moves as candidates: restart after this many steps per free variable without a new best."""
    fallback: bool = True
    """Search without the guide for a while where it leads nowhere; every other restart is without it."""

    opinions: int = 10
    """Cross the start with this many solved queries' answers, if the guide has any and time allows."""
    later_share: float = 0.0
    """The share of its work that `auto` spends on crossing its best with such answers as time goes by: with
    its own start, and, whatever the start, with limits longer than ``most_seconds`` and ``later_seconds``."""
    later_seconds: float = 0.0
    """Up to this time limit the best is not crossed beyond ``most_seconds``; infinity: never."""
    least_seconds: float = 0.0
    """With a shorter time limit the guide is not asked: the strategy searches as it would without."""
    most_seconds: float = math.inf
    """With a longer one neither, but for ``later_share``. A search without a time limit asks the guide."""

    def __post_init__(self) -> None:
        check_count("opinions", self.opinions, 0)
        check_number("later_share", self.later_share, 0, 1)
        check_at_least("later_seconds", self.later_seconds, 0)
        check_at_least("least_seconds", self.least_seconds, 0)
        check_at_least("most_seconds", self.most_seconds, self.least_seconds)
        if self.start not in get_args(StartFrom):
            raise UsageError(
                f"start must be {' or '.join(map(repr, get_args(StartFrom)))}; found {self.start!r}"
            )
        check_count("refresh", self.refresh, 0)
        if self.guidance.is_heeded and self.is_own_start:  # checks the rest
            raise UsageError(f"a guide that is heeded starts 'random' or 'guide'; found {self.start!r}")

    @property
    def guidance(self) -> Guidance:
        """The rule by which moves and restarts are chosen."""
        return Guidance(self.weight, self.candidates, self.stall, self.restart_from, self.fallback)

    @property
    def is_own_start(self) -> bool:
        """Does a search begin where no guide is needed, to be crossed with what the guide knows?"""
        return self.start in OWN_STARTS

    @property
    def asks_guide(self) -> bool:
        """Is the guide asked for anything at all?"""
        return self.start != "random" or self.guidance.is_heeded

    def is_for(self, seconds: float) -> bool:
        """Is the guide asked with this time limit? With none, infinity, it is."""
        return seconds == math.inf or self.least_seconds <= seconds <= self.most_seconds

    def within(self, seconds: float) -> GuideUse | None:
        """What the guide is asked for with this time limit; None: nothing."""
        if self.is_for(seconds):
            return self
        is_later = seconds > max(self.most_seconds, self.later_seconds) and self.later_share > 0
        return replace(self, start="own", opinions=0) if is_later and not self.guidance.is_heeded else None

    def whatever_the_time(self) -> GuideUse:
        """The same with every time limit."""
        return replace(self, least_seconds=0.0, most_seconds=math.inf)

    def to_dict(self) -> dict[str, Any]:
        """For a guide's file."""
        return {name: None if value == math.inf else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> GuideUse:
        """From a guide's file or a configuration; unknown names are refused."""
        known = [field.name for field in fields(cls)]
        settings = {name: value for name, value in settings.items() if name not in RETIRED}
        for name in ("most_seconds", "later_seconds"):
            if settings.get(name, 0.0) is None:
                settings[name] = math.inf
        for name in settings:
            check_known(name, known, f"guided search has no setting {name!r}")
        return cls(**settings)
