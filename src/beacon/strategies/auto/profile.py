"""A profile: settings of the automatic mix that suit one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from beacon.errors import UsageError
from beacon.io.settings import check_known
from beacon.strategies.auto import Auto, OtherWeight
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy
from beacon.strategies.tree import Tree


@dataclass(frozen=True)
class Profile:
    """What may differ from model to model.

    >>> Profile(first="tree").strategy().arms[0].name
    'tree'
    """

    penalty_weight: float | None = None
    """Of the GLS+ arm, in nats; None: scaled to the model."""
    first: str = "gls+"
    """The arm that goes first: gls+, tree or gls+ by landscape."""
    min_share: float = 0.05
    """The least share of the work for each arm."""
    start: Literal["messages", "constructed", "random"] = "messages"
    """Where searches begin; by messages only where that pays, else constructed."""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        if self.first not in self._arms():
            raise UsageError(f"first must be one of {', '.join(self._arms())}; found {self.first!r}")
        self.strategy()

    def _arms(self) -> dict[str, Strategy]:
        weight = self.penalty_weight
        arms = (GlsPlus(weight), Tree(), OtherWeight(weight))
        return {arm.name: arm for arm in arms}

    def strategy(self) -> Auto:
        """The mix with these settings."""
        arms = self._arms()
        first = arms.pop(self.first)
        return Auto((first, *arms.values()), self.min_share, start=self.start)

    def to_dict(self) -> dict[str, Any]:
        """For a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Profile:
        """From a file; unknown names are refused."""
        for name in settings:
            check_known(name, [field.name for field in fields(cls)], f"a profile has no setting {name!r}")
        return cls(**settings)

    def __str__(self) -> str:
        """In a few words, for tables: what differs from the default."""
        default = Profile()
        said = [f"{self.first} first"] if self.first != default.first else []
        if self.penalty_weight is not None:
            said.append(f"weight {self.penalty_weight:.3g}")
        if self.min_share != default.min_share:
            said.append(f"shares from {self.min_share:g}")
        if self.start != default.start:
            said.append(f"{self.start} start")
        return ", ".join(["auto", *said])
