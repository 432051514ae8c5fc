"""What all requests share: models, workers, sessions, metrics; and how a request waits for its answer."""

from __future__ import annotations

import asyncio
import secrets
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING, Any

from beacon.errors import BeaconError
from beacon.serve.models import ServedModel
from beacon.serve.settings import ServeSettings
from beacon.serve.workers import BusyError, Deadline, Job, Workers

if TYPE_CHECKING:
    from starlette.requests import Request


class GoneError(BeaconError):
    """The client has gone away."""


class Service:
    """Everything behind the routes."""

    def __init__(self, models: Mapping[str, ServedModel], settings: ServeSettings) -> None:
        self.models, self.settings = models, settings
        self.workers = Workers(settings.workers, settings.queue)
        self.sessions = Sessions(settings)
        self.metrics = Metrics()
        gauge, workers = self.metrics.gauge, self.workers
        gauge("beacon_queue_length", "Queries that wait for a worker.", lambda: workers.num_waiting)
        gauge("beacon_workers_busy", "Workers that are at work.", lambda: workers.num_busy)
        gauge("beacon_workers", "Workers.", lambda: len(workers.threads))
        gauge("beacon_workers_lost", "Workers that ended and were replaced.", lambda: workers.num_lost)
        gauge("beacon_sessions", "Sessions that are open.", lambda: len(self.sessions))

    def submit(self, work: Callable[[], Any], deadline: Deadline) -> Job:
        """Queue work; if no worker takes it before its deadline, it is refused then."""
        job = self.workers.submit(work, deadline)
        job.finished = asyncio.wrap_future(job.future)
        timer = asyncio.get_running_loop().call_later(deadline.seconds_left, self.workers.expire, job)

        def end(future: asyncio.Future[Any]) -> None:
            timer.cancel()
            self.metrics.time("beacon_wait_seconds", job.waited_seconds)
            if not future.cancelled():
                future.exception()  # nobody may be left to look at it

        job.finished.add_done_callback(end)
        return job

    async def answer(self, request: Request, work: Callable[[], Any], deadline: Deadline) -> Any:
        """The outcome of some work; a client that goes away ends it."""
        job = self.submit(work, deadline)
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({job.finished, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not job.finished.done():
                raise GoneError("the client has gone away")
            return job.finished.result()
        finally:
            gone.cancel()
            self.end(job)

    def end(self, job: Job) -> None:
        """Stop work that nobody waits for any more, unless it is finished."""
        if not job.finished.done():
            self.metrics.count("beacon_cancelled_total")
            self.workers.withdraw(job)


async def _gone(request: Request) -> None:
    """Returns when the client has closed the connection; the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


class Session:
    """What one client observes on one model."""

    def __init__(self, served: ServedModel) -> None:
        self.id = secrets.token_urlsafe(16)
        self.served, self.solver = served, served.new_solver()
        self.touched = monotonic()

    def observe(self, evidence: Mapping[str, Any]) -> None:
        """Add, replace and (null) take back observations; doing so again changes nothing."""
        for variable, value in evidence.items():
            self.solver.observe(variable, value)


class Sessions:
    """All that are open. Used by one thread, that of the server's loop."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._open: dict[str, Session] = {}

    def __len__(self) -> int:
        """How many are open."""
        self._expire()
        return len(self._open)

    def new(self, served: ServedModel) -> Session:
        """Open one, unless there are too many."""
        if len(self) >= self._settings.max_sessions:
            oldest = next(iter(self._open.values())).touched
            wait = int(self._settings.session_seconds - (monotonic() - oldest)) + 1
            raise BusyError(f"{len(self._open)} sessions are open, as many as may be", wait)
        session = Session(served)
        self._open[session.id] = session
        return session

    def get(self, id: str, served: ServedModel) -> Session | None:
        """An open session of this model, which from now on lasts as long as a new one."""
        self._expire()
        session = self._open.get(id)
        if session is None or session.served is not served:
            return None
        session.touched = monotonic()
        self._open[id] = self._open.pop(id)  # the one that was used last comes last
        return session

    def close(self, session: Session) -> None:
        """Forget one."""
        self._open.pop(session.id, None)

    def _expire(self) -> None:
        ended = monotonic() - self._settings.session_seconds
        while self._open and (oldest := next(iter(self._open.values()))).touched < ended:
            del self._open[oldest.id]


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
