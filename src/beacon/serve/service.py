"""What all requests share: models, workers, sessions, metrics; and how a request waits for its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from beacon.errors import BeaconError
from beacon.serve.metrics import Metrics
from beacon.serve.models import ServedModel
from beacon.serve.sessions import Sessions
from beacon.serve.settings import ServeSettings
from beacon.serve.workers import Deadline, Job, Workers

if TYPE_CHECKING:
    from starlette.requests import Request


class GoneError(BeaconError):
    """The client has gone away."""


class Pending(NamedTuple):
    """Work in the queue or in the hands of a worker."""

    job: Job
    finished: asyncio.Future[Any]
    """The same as ``job.future``, for the server's loop."""


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

    def submit(self, work: Callable[[], Any], deadline: Deadline) -> Pending:
        """Queue work; if no worker takes it before its deadline, it is refused then."""
        job = self.workers.submit(work, deadline)
        finished = asyncio.wrap_future(job.future)
        timer = asyncio.get_running_loop().call_later(deadline.seconds_left, self.workers.expire, job)

        def end(future: asyncio.Future[Any]) -> None:
            timer.cancel()
            self.metrics.time("beacon_wait_seconds", job.waited_seconds)
            if not future.cancelled():
                future.exception()  # nobody may be left to look at it

        finished.add_done_callback(end)
        return Pending(job, finished)

    async def answer(self, request: Request, work: Callable[[], Any], deadline: Deadline) -> Any:
        """The outcome of some work; a client that goes away ends it."""
        pending = self.submit(work, deadline)
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({pending.finished, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not pending.finished.done():
                raise GoneError("the client has gone away")
            return pending.finished.result()
        finally:
            gone.cancel()
            self.end(pending)

    def end(self, pending: Pending) -> None:
        """Nobody waits for this any more; if it is not finished, it need not be."""
        if not pending.finished.done():
            self.metrics.count("beacon_cancelled_total")
            self.workers.withdraw(pending.job)


async def _gone(request: Request) -> None:
    """Returns when the client has closed the connection; the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
