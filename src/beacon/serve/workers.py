"""A bounded queue and its threads: deadlines include the wait, and no work is lost."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from time import perf_counter
from typing import Any

from beacon.errors import BeaconError
from beacon.runner.pool import Cancelled, num_threads

MOST_TRIES = 4  # work that has ended so many workers is not given to another
RESERVE_SHARE, MOST_RESERVE = 0.15, 0.2  # of the time, and seconds: for the answer to be written and sent
MEMORY = 0.9  # share of the old mean in the mean time that work takes
TOO_LATE = "the time was up before a worker was free"
logger = logging.getLogger(__name__)


class BusyError(BeaconError):
    """There is no room, or no time left, for a request."""

    def __init__(self, reason: str, retry_seconds: int) -> None:
        super().__init__(f"{reason}; try again in {retry_seconds} s")
        self.retry_seconds = retry_seconds


class Deadline(Cancelled):
    """Cancels a query once it is set, or once only the time to write the answer is left."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._ends = perf_counter() + seconds - min(MOST_RESERVE, RESERVE_SHARE * seconds)

    @property
    def seconds_left(self) -> float:
        """For work."""
        return max(0.0, self._ends - perf_counter())

    def is_set(self) -> bool:
        """Is it over?"""
        return super().is_set() or perf_counter() >= self._ends


class Job:
    """Work that waits for a worker."""

    def __init__(self, work: Callable[[], Any], deadline: Deadline) -> None:
        self.work, self.deadline = work, deadline
        self.future: Future[Any] = Future()
        self.finished: asyncio.Future[Any]
        """The same for the server's loop, which sets it."""
        self.tries = 0
        self.queued, self.begun = perf_counter(), math.nan

    @property
    def waited_seconds(self) -> float:
        """From the queue to the worker; so far, if it still waits."""
        return (perf_counter() if math.isnan(self.begun) else self.begun) - self.queued

    def begin(self) -> bool:
        """Count one more try; False if nobody waits for the job any more."""
        self.tries += 1
        if self.tries > 1:
            return not self.future.done()
        self.begun = perf_counter()
        return self.future.set_running_or_notify_cancel()


class Workers:
    """Threads that take jobs from one queue. Kernels release Python's lock, so they run in parallel."""

    def __init__(self, count: int | None, capacity: int) -> None:
        self.count, self.capacity = num_threads(count), capacity
        self.threads: dict[threading.Thread, list[Job]] = {}
        """Each with the job that it has in hand, if it has one."""
        self.num_lost = 0
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._mean_seconds = 0.0

    def start(self) -> None:
        """Begin to work."""
        for _ in range(self.count):
            self._start_one()

    def close(self) -> None:
        """Finish what is in the queue and end."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for thread in list(self.threads):
            thread.join()

    @property
    def num_waiting(self) -> int:
        """Jobs that no worker has taken."""
        return len(self._jobs)

    @property
    def num_busy(self) -> int:
        """Workers that are at work."""
        return sum(map(len, list(self.threads.values())))

    def submit(self, work: Callable[[], Any], deadline: Deadline) -> Job:
        """Put work at the end of the queue, or refuse it."""
        job = Job(work, deadline)
        with self._changed:
            if len(self._jobs) >= self.capacity:
                raise self.busy(f"all {self.count} workers are busy and {len(self._jobs)} queries wait")
            self._jobs.append(job)
            self._changed.notify()
        return job

    def withdraw(self, job: Job) -> None:
        """End work that nobody waits for any more, or never begin it."""
        job.deadline.set()
        if self._taken_out(job):
            job.future.cancel()

    def expire(self, job: Job) -> None:
        """Refuse work that still waits though its time is up."""
        if self._taken_out(job) and job.begin():
            job.future.set_exception(self.busy(TOO_LATE))

    def busy(self, reason: str) -> BusyError:
        """A refusal that tells when there will probably be room."""
        seconds = self._mean_seconds * (self.num_waiting + self.num_busy) / self.count
        return BusyError(reason, max(1, math.ceil(seconds)))

    def _taken_out(self, job: Job) -> bool:
        """Take a job out of the queue; False if a worker was faster."""
        with self._changed:
            if job not in self._jobs:
                return False
            self._jobs.remove(job)
            return True

    def _start_one(self) -> None:
        thread = threading.Thread(target=self._run, name="beacon-worker", daemon=True)
        self.threads[thread] = []
        thread.start()

    def _run(self) -> None:
        """Work until the queue is closed; whatever else ends this thread, another takes its place."""
        me = threading.current_thread()
        hands = self.threads[me]
        try:
            while self._take(hands):
                self._do(hands[0])
                hands.clear()
        except BaseException:
            self._replace(hands)
        finally:
            del self.threads[me]

    def _take(self, hands: list[Job]) -> bool:
        """Take the first job; False once the queue is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._is_closed)
            if self._jobs:
                hands.append(
                    self._jobs[0]
                )  # in hand before it leaves the queue, so that it is always in one of the two
                self._jobs.popleft()
            return bool(hands)

    def _do(self, job: Job) -> None:
        if not job.begin():
            return
        if job.deadline.is_set():
            job.future.set_exception(self.busy(TOO_LATE))
            return
        began = perf_counter()
        try:
            result = job.work()
        except Exception as error:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
        self._mean_seconds = MEMORY * self._mean_seconds + (1 - MEMORY) * (perf_counter() - began)

    def _replace(self, hands: list[Job]) -> None:
        """Start another worker; what the lost one had in hand comes first, unless it has ended several."""
        logger.exception("a worker was lost; another takes its place")
        with self._changed:
            self.num_lost += 1
            for job in hands:
                if job.tries >= MOST_TRIES and not job.future.done():
                    job.future.set_exception(RuntimeError(f"{job.tries} workers were lost with this query"))
                elif not job.future.done() and job not in self._jobs:
                    self._jobs.appendleft(job)
                    self._changed.notify()
        self._start_one()
