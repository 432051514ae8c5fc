"""Counts and times for Prometheus, in its text format."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
COUNTERS = {
    "beacon_requests_total": "Requests by route and status.",
    "beacon_answers_total": "Answers by model and proof (none: not proved).",
    "beacon_cancelled_total": "Searches ended because the client went away.",
}
HISTOGRAMS = {
    "beacon_request_seconds": "Time from a request to the end of its response, by route.",
    "beacon_wait_seconds": "Time that queries waited for a worker.",
}
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What has happened since the server began. May be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, Labels], int] = {}
        self._times: dict[tuple[str, Labels], list[float]] = {}  # a count for each bucket, then the sum
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def gauge(self, name: str, doc: str, value: Callable[[], float]) -> None:
        """Show a value as it is when it is looked at."""
        self._gauges[name] = doc, value

    def count(self, name: str, **labels: str) -> None:
        """One more."""
        key = name, tuple(labels.items())
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1

    def time(self, name: str, seconds: float, **labels: str) -> None:
        """Something took this long."""
        key = name, tuple(labels.items())
        with self._lock:
            row = self._times.setdefault(key, [0.0] * (len(BUCKETS) + 2))
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        with self._lock:
            counts, times = dict(self._counts), {key: list(row) for key, row in self._times.items()}
        lines: list[str] = []
        for name, doc in COUNTERS.items():
            lines += _head(name, doc, "counter")
            lines += [f"{name}{_shown(labels)} {n}" for (of, labels), n in counts.items() if of == name]
        for name, doc in HISTOGRAMS.items():
            lines += _head(name, doc, "histogram")
            for (of, labels), row in times.items():
                lines += _histogram(name, labels, row) if of == name else ()
        for name, (doc, value) in self._gauges.items():
            lines += [*_head(name, doc, "gauge"), f"{name} {value():g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, doc: str, kind: str) -> list[str]:
    return [f"# HELP {name} {doc}", f"# TYPE {name} {kind}"]


def _histogram(name: str, labels: Labels, row: list[float]) -> Iterator[str]:
    totals = list(accumulate(row[:-1]))
    for most, total in zip((*map(str, BUCKETS), "+Inf"), totals, strict=True):
        yield f"{name}_bucket{_shown((*labels, ('le', most)))} {total:g}"
    yield f"{name}_sum{_shown(labels)} {row[-1]:.6f}"
    yield f"{name}_count{_shown(labels)} {totals[-1]:g}"


def _shown(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
