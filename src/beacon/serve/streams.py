"""Answers that come bit by bit: improvements and bounds as they are found, and many queries as JSON lines."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from itertools import islice
from typing import Any

from beacon.errors import BeaconError
from beacon.runner.search import Search
from beacon.serve.service import Service
from beacon.serve.workers import BusyError, Deadline, Job

PAUSE_SECONDS = 0.02  # before work that found the queue full is offered again
Tell = Callable[[str, dict[str, Any]], None]


class Improvements:
    """Hears a search, and tells of each better assignment and each better bound."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._best, self._bound = (math.inf, -math.inf), math.inf

    def __call__(self, search: Search) -> None:
        """Called by the search, in its thread."""
        best = (search.best_zeros, -search.best_score)
        if best < self._best:
            self._best = best
            zeros, score = search.best_zeros, search.best_score
            found = {"log_score": None if zeros else score, "floored_log_score": score, "zero_factors": zeros}
            self._tell("improvement", {"seconds": search.seconds, "steps": search.steps, **found})
        if search.upper_bound < self._bound:
            self._bound = search.upper_bound
            bound = self._bound if math.isfinite(self._bound) else None
            self._tell("bound", {"seconds": search.seconds, "upper_bound": bound})


class EventStream:
    """Server-sent events of one search: improvements, bounds, and at last the answer or an error."""

    def __init__(self, service: Service) -> None:
        self._service, self._loop = service, asyncio.get_running_loop()
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    def tell(self, kind: str, data: dict[str, Any]) -> None:
        """From the thread of the search."""
        self._loop.call_soon_threadsafe(self._events.put_nowait, event(kind, data))

    async def of(self, job: Job) -> AsyncIterator[bytes]:
        """All events; whoever stops listening ends the search."""
        job.finished.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while (told := await self._events.get()) is not None:
                yield told
            try:
                yield event("answer", job.finished.result())
            except BeaconError as error:
                yield event("error", {"error": str(error)})
        finally:
            self._service.end(job)


def event(kind: str, data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps(data, allow_nan=False)}\n\n".encode()


async def json_lines(
    service: Service, works: Sequence[Callable[[Deadline], dict[str, Any]]], seconds: float, total: Deadline
) -> AsyncIterator[bytes]:
    """One line for each query as it is ready, as many at once as there are workers.

    Each may take ``seconds``, all together until ``total``; a query that fails has a line that says why.
    """
    waiting, running = enumerate(works), set[asyncio.Task[bytes]]()
    try:
        while True:
            for k, work in islice(waiting, service.workers.count - len(running)):
                running.add(asyncio.create_task(_line(service, k, work, seconds, total)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()


async def _line(
    service: Service, k: int, work: Callable[[Deadline], dict[str, Any]], seconds: float, total: Deadline
) -> bytes:
    try:
        made = await _when_there_is_room(service, work, seconds, total)
    except BeaconError as error:
        made = {"error": str(error)}
    return json.dumps({"query": k, **made}, allow_nan=False).encode() + b"\n"


async def _when_there_is_room(
    service: Service, work: Callable[[Deadline], dict[str, Any]], seconds: float, total: Deadline
) -> dict[str, Any]:
    """Other clients may have filled the queue: many queries wait until there is room for the next."""
    while True:
        deadline = Deadline(min(seconds, total.seconds_left))
        try:
            job = service.submit(partial(work, deadline), deadline)
        except BusyError:
            if total.is_set():
                raise
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        try:
            await asyncio.wait({job.finished})  # unlike a plain await, it leaves the future to `end`
            made: dict[str, Any] = job.finished.result()
            return made
        finally:
            service.end(job)
