"""From options of the command line to a guide and its use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beacon.cli.options import DEFAULT_METHOD
from beacon.errors import UsageError

if TYPE_CHECKING:
    from beacon.guided.guide import Guide
    from beacon.guided.use import GuideUse
    from beacon.model.graphical_model import GraphicalModel

OPTION_NAMES = {"weight": "--lambda", "restart_from": "--restart-from"}


class ChosenGuide(NamedTuple):
    """A guide, what it is asked for, and the strategy that suits it; the first two None without a guide."""

    guide: Guide | None
    use: GuideUse | None
    strategy: str

    @property
    def chooses_moves(self) -> bool:
        """Has the guide a say after the start, in moves or restarts?"""
        return self.use is not None and self.use.guidance.is_heeded


def check_guide_options(guide: str | None, start: str | None, asked: Mapping[str, Any]) -> None:
    """Refuse options that only mean something with a guide."""
    if guide is not None:
        return
    given = [OPTION_NAMES.get(name, f"--{name}") for name, value in asked.items() if value is not None]
    if start == "guide":
        given.append("--start guide")
    if given:
        need = "needs" if len(given) == 1 else "need"
        raise UsageError(
            f"{', '.join(given)} {need} a guide; give one with --guide DIR (made by `beacon train`)"
        )


def files_of_guide(folder: str | None) -> list[Path]:
    """What is read of a guide."""
    return [] if folder is None else list(Path(folder).glob("*"))


def chosen_guide(folder: str | None, model: GraphicalModel, asked: Mapping[str, Any]) -> ChosenGuide:
    """The guide of a folder, used as tuned but for what was asked."""
    if folder is None:
        return ChosenGuide(None, None, DEFAULT_METHOD)
    from beacon.guide.checkpoint import load_guide  # noqa: PLC0415
    from beacon.guided.use import GuideUse  # noqa: PLC0415
    from beacon.solver import default_strategy, tuned_use  # noqa: PLC0415

    guide = load_guide(folder, model)
    changes = {name: value for name, value in asked.items() if value is not None}
    use = GuideUse.from_dict({**tuned_use(guide).to_dict(), **changes})
    return ChosenGuide(guide, use, default_strategy(guide, use))
