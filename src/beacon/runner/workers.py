"""Items of work over workers in other processes, here or elsewhere: the one place that hands them out.

``joblib.parallel_config`` says where: ``loky`` (processes of this machine), ``dask`` or ``ray``. What all
items need (the model, a guide, settings) is sent to each worker once; after that only items and results
travel. A worker that dies is replaced, and what it was at is done again.
"""

from __future__ import annotations

import io
import logging
import math
import pickle
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from beacon.errors import BeaconError
from beacon.runner.crews import chosen_crew
from beacon.runner.pool import LOOK_SECONDS, Cancelled, Pool, has_workers

I_contra = TypeVar("I_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)
I = TypeVar("I")  # noqa: E741 - an item
T = TypeVar("T")

CHUNK_SECONDS = 0.5  # of work in a message: hundreds of times what it takes to hand it over
MAX_CHUNK = 1000  # items in a message
MAX_TRIES = 3  # of an item whose worker dies
MAX_REFUSED = 10  # messages that could not even be sent
log = logging.getLogger("beacon.workers")


class Work(Protocol[I_contra, T_co]):
    """What workers do, with all that it needs. It is pickled."""

    @property
    def kept(self) -> tuple[object, ...]:
        """What results refer to and both sides have: it does not travel back."""

    def __call__(self, items: Sequence[I_contra], /) -> Sequence[T_co]:
        """The results of some items, in their order; each depends on its item alone."""


def each(
    work: Work[I, T], items: Sequence[I], jobs: int | None = None, cancelled: Cancelled | None = None
) -> Generator[tuple[int, T], None, None]:
    """The results of all items, each with its number, in any order: by threads, or by chosen workers."""
    if has_workers():
        yield from spread(work, items, jobs, cancelled)
    else:
        yield from Pool(jobs).as_done(lambda k: work([items[k]])[0], len(items), cancelled or Cancelled())


def spread(
    work: Work[I, T], items: Sequence[I], jobs: int | None = None, cancelled: Cancelled | None = None
) -> Generator[tuple[int, T], None, None]:
    """The results of all items from the workers that joblib was told to use; fewer once ``cancelled``."""
    if items:
        with Workers(work, jobs) as workers:
            yield from workers.results(items, cancelled)


class Workers(Generic[I, T]):
    """The workers that joblib was told to use, with the work, for one list of items after another."""

    def __init__(self, work: Work[I, T], jobs: int | None = None) -> None:
        self._work, self._crew = work, chosen_crew(_packed(work), jobs)
        self._begin([])

    def _begin(self, items: Sequence[I]) -> None:
        self._items, self._waiting = items, deque(range(len(items)))
        self._running: dict[Future[bytes], list[int]] = {}
        self._tries, self._num_refused = Counter[int](), 0
        self._item_seconds = math.inf  # until something is known, an item a message

    def __enter__(self) -> Workers[I, T]:
        return self

    def __exit__(self, *_: object) -> None:
        self._crew.close(in_order=not self._running)

    def results(self, items: Sequence[I], cancelled: Cancelled | None = None) -> Iterator[tuple[int, T]]:
        """The results of all items, each with its number, in any order; fewer once ``cancelled``."""
        self._begin(items)
        while self._waiting or self._running:
            self._send()
            done, _ = wait(self._running, LOOK_SECONDS, FIRST_COMPLETED)
            for future in done:
                yield from self._opened(self._running.pop(future), future)
            if cancelled is not None and cancelled.is_set():
                return

    def _send(self) -> None:
        """Give every worker something to do, and something to go on with."""
        while self._waiting and self._may_send:
            numbers = self._next_numbers()
            try:
                future = self._crew.submit([self._items[k] for k in numbers])
            except self._crew.deaths as death:
                self._waiting.extendleft(reversed(numbers))
                self._num_refused += 1
                if self._num_refused == MAX_REFUSED:
                    raise BeaconError(
                        f"workers die before they can be given work ({type(death).__name__}); "
                        "if they run out of memory, use fewer of them"
                    ) from None
                return
            self._running[future] = numbers

    @property
    def _may_send(self) -> bool:
        """Is there room for one more message? What may be deadly goes alone: a death then has one cause."""
        if self._is_suspect(self._waiting[0]) or any(self._is_suspect(k[0]) for k in self._running.values()):
            return not self._running
        return len(self._running) < 2 * self._crew.num_workers

    def _is_suspect(self, number: int) -> bool:
        return self._tries[number] == MAX_TRIES - 1

    def _next_numbers(self) -> list[int]:
        """Items of the next message: worth sending, and few enough for all workers to end together."""
        share = math.ceil(len(self._waiting) / (2 * self._crew.num_workers))
        worth = int(min(MAX_CHUNK, CHUNK_SECONDS / max(1e-9, self._item_seconds)))
        numbers = [self._waiting.popleft()]
        if not self._is_suspect(numbers[0]):
            while len(numbers) < min(share, worth) and not self._is_suspect(self._waiting[0]):
                numbers.append(self._waiting.popleft())
        return numbers

    def _opened(self, numbers: list[int], future: Future[bytes]) -> Iterator[tuple[int, T]]:
        try:
            reply = future.result()
        except self._crew.deaths as death:
            self._again(numbers, death)
            return
        seconds, results, error = _Opener(io.BytesIO(reply), self._work.kept).load()
        if error is not None:
            raise error
        self._item_seconds = seconds / len(numbers)
        yield from zip(numbers, results, strict=True)

    def _again(self, numbers: list[int], death: BaseException) -> None:
        """Put items back in the queue whose worker has died, unless they seem to be what it dies of."""
        self._tries.update(numbers)
        tries = max(self._tries[k] for k in numbers)
        if tries >= MAX_TRIES or isinstance(death, self._crew.last_deaths):
            raise BeaconError(
                f"workers died {MAX_TRIES} times or more at the same work, items {numbers[0]} to "
                f"{numbers[-1]} of {len(self._items):,} ({type(death).__name__}); if they run out of "
                "memory, use fewer of them"
            ) from None
        log.warning("a worker died (%s); %d items are done again", type(death).__name__, len(numbers))
        self._waiting.extendleft(reversed(numbers))
        self._item_seconds = math.inf  # one by one: should one of them be to blame, the others get through


def _packed(work: Work[Any, Any]) -> bytes:
    """Work as bytes; what is defined in a script or a notebook travels as code."""
    import cloudpickle  # noqa: PLC0415 - comes with joblib

    packed: bytes = cloudpickle.dumps(work)
    return packed


def done_by_worker(work: Callable[[], Work[Any, Any]], items: Sequence[Any]) -> bytes:
    """What a worker answers: the seconds it took, the results, and the error instead of them."""
    import joblib  # noqa: PLC0415

    began, results, error, made = perf_counter(), None, None, None
    try:
        made = work()
        began = perf_counter()
        with joblib.parallel_config(backend="threading", n_jobs=1):  # it hands nothing on
            results = list(made(items))
    except Exception as raised:  # it is raised again where the results are asked for
        error = _portable(raised)
    reply = io.BytesIO()
    _Closer(reply, () if made is None else made.kept).dump((perf_counter() - began, results, error))
    return reply.getvalue()


def _portable(error: Exception) -> Exception:
    """An error that can be pickled: itself, or one with its message."""
    try:
        copy: Exception = pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its parts say
        kind = BeaconError if isinstance(error, BeaconError) else RuntimeError
        return kind(str(error) if kind is BeaconError else f"{type(error).__name__}: {error}")
    return copy


class _Closer(pickle.Pickler):
    """Pickles results; in place of what both sides have it puts a number."""

    def __init__(self, file: io.BytesIO, kept: tuple[object, ...]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._numbers = {id(one): k for k, one in enumerate(kept)}

    def persistent_id(self, one: object) -> int | None:
        """The number of what does not travel."""
        return self._numbers.get(id(one))


class _Opener(pickle.Unpickler):
    """Puts what this side has in place of numbers."""

    def __init__(self, file: io.BytesIO, kept: tuple[object, ...]) -> None:
        super().__init__(file)
        self._kept = kept

    def persistent_load(self, number: int) -> object:
        """What has that number."""
        return self._kept[number]
