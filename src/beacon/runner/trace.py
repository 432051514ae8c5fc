"""How a search got better: every improvement with its step and time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.engine.core import CoreState


@dataclass(frozen=True)
class Trace:
    """The improvements of one search, the start first; one row each."""

    steps: NDArray[np.int64]
    seconds: NDArray[np.float64]
    scores: NDArray[np.float64]
    """Floored log scores."""
    zero_factors: NDArray[np.int64]

    def best_at(self, steps: ArrayLike) -> NDArray[np.float64]:
        """The best floored score known after so many steps, exactly; before the first, the start's."""
        return self._best(np.searchsorted(self.steps, np.asarray(steps), side="right"))

    def best_after(self, seconds: ArrayLike) -> NDArray[np.float64]:
        """The best floored score known after so many seconds (times are exact to a few milliseconds)."""
        return self._best(np.searchsorted(self.seconds, np.asarray(seconds), side="right"))

    def _best(self, num_known: ArrayLike) -> NDArray[np.float64]:
        """The score of the last improvement of those known; there is always the start."""
        scores: NDArray[np.float64] = self.scores[np.maximum(np.asarray(num_known) - 1, 0)]
        return scores

    def __len__(self) -> int:
        """Number of improvements, the start included."""
        return len(self.steps)


@dataclass
class TraceRecorder:
    """Fetches the improvements that kernels leave in a core state."""

    chunks: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]] = (
        field(default_factory=list)
    )

    def fetch(self, core: CoreState, first_step: int, began: float, ended: float) -> None:
        """Empty the core's record; an improvement's time is interpolated within the kernel's call."""
        counters = core.counters[0]
        count = int(counters["num_events"])
        if count == 0:
            return
        events = core.events[:count]
        share = (events["step"] - first_step) / max(1, int(counters["steps"]) - first_step)
        seconds = began + share * (ended - began)
        self.chunks.append((events["step"].copy(), seconds, events["score"].copy(), events["zeros"].copy()))
        counters["num_events"] = 0

    def trace(self) -> Trace:
        """All that was fetched."""
        columns = [np.concatenate(column) for column in zip(*self.chunks, strict=True)]
        return Trace(*columns)
