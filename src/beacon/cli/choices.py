"""From options of the command line to a strategy, a stop, and a guide with its use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from beacon.errors import UsageError
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import DEFAULT_STOP, MaxGap, MaxRuntime, MaxSteps, NoImprovement, Stop, TargetScore
from beacon.solver import default_strategy, tuned_use
from beacon.strategies.auto import Auto
from beacon.strategies.gls import GlsPlus
from beacon.strategies.strategy import Strategy, make_strategy

if TYPE_CHECKING:
    from beacon.guided.guide import Guide
    from beacon.guided.use import GuideUse

DEFAULT_METHOD = "auto"
OPTION_NAMES = {"weight": "--lambda", "restart_from": "--restart-from"}


def chosen_strategy(method: str, penalty_weight: float | None) -> Strategy:
    """The strategy of that name, with the penalty weight if one is given."""
    strategy = make_strategy(method)
    if penalty_weight is None:
        return strategy
    weighted = GlsPlus(penalty_weight=penalty_weight)
    if isinstance(strategy, Auto):
        return replace(strategy, arms=(weighted, *strategy.arms[1:]))
    if isinstance(strategy, GlsPlus):
        return weighted
    raise UsageError(f"--penalty-weight belongs to --method auto or gls+, not to {method}")


def chosen_stop(
    steps: int | None,
    seconds: float | None,
    no_improvement: int | None,
    target: float | None,
    gap: float | None = None,
) -> Stop:
    """The first limit to be reached ends the search; the default where nothing else is sure to end it."""
    makers = (
        (MaxSteps, steps),
        (MaxRuntime, seconds),
        (NoImprovement, no_improvement),
        (TargetScore, target),
        (MaxGap, gap),
    )
    stop = reduce(or_, (make(cast("Any", limit)) for make, limit in makers if limit is not None), Stop())
    if steps is None and seconds is None and no_improvement is None:
        return stop | DEFAULT_STOP
    if not stop.is_bounded:
        raise UsageError("--time inf would never end; give a number of seconds, --steps or --no-improvement")
    return stop


class ChosenGuide(NamedTuple):
    """A guide, what it is asked for, and the strategy that suits it; the first two None without a guide."""

    guide: Guide | None
    use: GuideUse | None
    strategy: str


def check_guide_options(guide: str | None, start: str | None, asked: Mapping[str, Any]) -> None:
    """Refuse options that only mean something with a guide."""
    given = [OPTION_NAMES.get(name, f"--{name}") for name in asked]
    if start == "guide":
        given.append("--start guide")
    if given and guide is None:
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
    from beacon.guide.checkpoint import load_guide  # noqa: PLC0415  (most solves have no guide)
    from beacon.guided.use import GuideUse  # noqa: PLC0415

    guide = load_guide(folder, model)
    use = GuideUse.from_dict({**tuned_use(guide).to_dict(), **asked})
    return ChosenGuide(guide, use, default_strategy(guide, use))
