"""From options of the command line to a strategy and a stop."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from beacon.cli.options import DEFAULT_SECONDS
from beacon.errors import UsageError

if TYPE_CHECKING:
    from beacon.runner.stop import Stop
    from beacon.strategies.strategy import Strategy


def chosen_strategy(method: str, penalty_weight: float | None) -> Strategy:
    """The strategy of that name, with the penalty weight if one is given."""
    from beacon.strategies.strategy import Auto, GlsPlus, make_strategy  # noqa: PLC0415

    strategy = make_strategy(method)
    if penalty_weight is None:
        return strategy
    weighted = GlsPlus(penalty_weight=penalty_weight)
    if isinstance(strategy, Auto):
        return Auto(gls=weighted)
    if isinstance(strategy, GlsPlus):
        return weighted
    raise UsageError(f"--penalty-weight belongs to --method auto or gls+, not to {method}")


def chosen_stop(
    steps: int | None, seconds: float | None, no_improvement: int | None, target: float | None
) -> Stop:
    """The first limit to be reached ends the search; 1 s where nothing else is sure to end it."""
    from beacon.runner.stop import MaxRuntime, MaxSteps, NoImprovement, Stop, TargetScore  # noqa: PLC0415

    makers = (
        (MaxSteps, steps),
        (MaxRuntime, seconds),
        (NoImprovement, no_improvement),
        (TargetScore, target),
    )
    stop = reduce(or_, (make(cast("Any", limit)) for make, limit in makers if limit is not None), Stop())
    if steps is None and seconds is None and no_improvement is None:
        return stop | MaxRuntime(DEFAULT_SECONDS)
    if not stop.is_bounded:
        raise UsageError("--time inf would never end; give a number of seconds, --steps or --no-improvement")
    return stop
