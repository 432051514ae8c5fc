"""How a guide is put to work on a query: where to begin, and what it has to say after that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from typing import Any, Literal, get_args

from beacon.errors import UsageError
from beacon.guided.guidance import Candidates, Guidance, RestartFrom
from beacon.model.checks import check_count

RETIRED = ("refresh_growth",)  # settings that guides of earlier versions may hold
StartFrom = Literal["random", "guide"]


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
    """Begin at a random assignment, or where the guide would."""
    weight: float = 0.0
    """λ: the guide's share in the choice of moves."""
    candidates: Candidates = "improving"
    """With a weight: choose among all moves, or only among those that gain."""
    refresh: int = 0
    """Steps between two scorings; 0: score once. Guides of the evidence alone always score once."""
    restart_from: RestartFrom = "random"
    """Restart at a random assignment, or at one drawn from the guide's scores."""
    stall: float = 1.0
    """With all moves as candidates: restart after so many steps per free variable without a new best."""
    fallback: bool = True
    """Search without the guide for a while where it leads nowhere; every other restart is without it."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.start not in get_args(StartFrom):
            raise UsageError(f"start must be 'random' or 'guide'; found {self.start!r}")
        check_count("refresh", self.refresh, 0)
        _ = self.guidance  # checks the rest

    @property
    def guidance(self) -> Guidance:
        """The rule by which moves and restarts are chosen."""
        return Guidance(self.weight, self.candidates, self.stall, self.restart_from, self.fallback)

    @property
    def asks_guide(self) -> bool:
        """Is the guide asked for anything at all?"""
        return self.start == "guide" or self.guidance.is_heeded

    def to_dict(self) -> dict[str, Any]:
        """For a guide's file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> GuideUse:
        """From a guide's file or a configuration; unknown names are refused."""
        known = [field.name for field in fields(cls)]
        settings = {name: value for name, value in settings.items() if name not in RETIRED}
        for name in settings:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
                raise UsageError(f"guided search has no setting {name!r}; {hint}")
        return cls(**settings)
