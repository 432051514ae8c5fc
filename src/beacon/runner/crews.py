"""The workers that joblib can be told to use: how work reaches them, and which errors mean that one died.

joblib's own loop is not used: it waits forever where Dask gives up on a task whose workers die.
"""

from __future__ import annotations

import os
import pickle
import signal
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from time import perf_counter
from typing import Any, Protocol
from uuid import uuid4

from beacon.errors import BeaconError, MissingDependencyError, UsageError
from beacon.runner.pool import num_threads

BACKENDS = ("threads", "loky", "dask", "ray")
WAIT_SECONDS = 60  # for the first worker of a cluster
COUNT_SECONDS = 1.0  # between two counts of a cluster's workers, which come and go
MOST_PARCELS = 2  # that a worker keeps


class Crew(Protocol):
    """Workers that have been sent the work."""

    deaths: tuple[type[BaseException], ...]
    """Errors that mean: a worker died, and what it was at is not done."""
    last_deaths: tuple[type[BaseException], ...]
    """Those of them after which it is no use to try again."""

    @property
    def num_workers(self) -> int:
        """How many there are now, at least 1."""

    def submit(self, items: Sequence[Any]) -> Future[bytes]:
        """Have some items done by any worker."""

    def close(self, in_order: bool) -> None:
        """Leave the workers to others; if not ``in_order``, end what they are at."""


def chosen_crew(parcel: bytes, jobs: int | None) -> Crew:
    """The workers of joblib's present configuration, with the work."""
    import joblib  # noqa: PLC0415 - there, or nobody could have configured it

    backend, _ = joblib.parallel.get_active_backend(prefer="threads")
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        return DaskCrew(backend.client, parcel)
    if kind == "RayBackend":
        return RayCrew(num_threads(jobs), parcel)
    if kind in {"LokyBackend", "MultiprocessingBackend"}:
        return LokyCrew(num_threads(jobs), parcel)
    raise UsageError(f"expected one of joblib's backends threading, loky, dask and ray; found {kind}")


class LokyCrew:
    """Processes of this machine. They read the work from a file, and are kept for the next call."""

    deaths: tuple[type[BaseException], ...] = (BrokenExecutor,)
    last_deaths: tuple[type[BaseException], ...] = ()

    def __init__(self, number: int, parcel: bytes) -> None:
        self.num_workers, self._key = number, uuid4().hex
        handle, self._file = tempfile.mkstemp(prefix="beacon-")
        with os.fdopen(handle, "wb") as file:
            file.write(parcel)

    def submit(self, items: Sequence[Any]) -> Future[bytes]:
        """Have some items done; after a death, by new processes."""
        future: Future[bytes] = self._executor.submit(do, self._key, self._file, list(items))
        return future

    def close(self, in_order: bool) -> None:
        """Remove the file; end the processes if they are at work."""
        if not in_order:
            self._executor.shutdown(wait=True, kill_workers=True)
        with suppress(OSError):
            os.unlink(self._file)

    @property
    def _executor(self) -> Any:
        from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415

        return get_reusable_executor(self.num_workers, timeout=300, initializer=_leave_ctrl_c)


class DaskCrew:
    """The workers of a Dask cluster, however many come and go; each is sent the work when it joins."""

    def __init__(self, client: Any, parcel: bytes) -> None:
        from distributed import KilledWorker  # noqa: PLC0415

        from beacon.runner.dask_parcel import Parcel  # noqa: PLC0415

        self.deaths: tuple[type[BaseException], ...] = (KilledWorker, CancelledError)
        self.last_deaths: tuple[type[BaseException], ...] = (KilledWorker,)  # Dask has tried it on others
        self._client, self._key = client, uuid4().hex
        try:
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except TimeoutError:
            place = client.scheduler.address
            raise BeaconError(
                f"no worker joined the Dask cluster at {place} in {WAIT_SECONDS} s; "
                f"start one with: dask worker {place}"
            ) from None
        client.register_plugin(Parcel(self._key, parcel), name=self._key)
        self._tasks: set[Any] = set()
        self._count, self._count_until = 1, 0.0

    @property
    def num_workers(self) -> int:
        """All threads of all workers; the scheduler is asked now and then, which takes a message."""
        if perf_counter() > self._count_until:
            self._count = max(1, sum(map(int, self._client.nthreads().values())))
            self._count_until = perf_counter() + COUNT_SECONDS
        return self._count

    def submit(self, items: Sequence[Any]) -> Future[bytes]:
        """Have some items done.

        Dask's own executor takes a result whose worker dies before it is fetched for an error.
        """
        answer, task = Future[bytes](), self._client.submit(do, self._key, None, list(items), pure=False)
        self._tasks.add(task)
        task.add_done_callback(partial(self._pass_on, answer))
        return answer

    def _pass_on(self, answer: Future[bytes], task: Any) -> None:
        """Hand over what has become of a task; a result that was lost is waited for once more."""
        try:
            result = task.result()
        except BaseException as error:
            answer.set_exception(error)
        else:
            answer.set_result(result)
        finally:
            self._tasks.discard(task)

    def close(self, in_order: bool) -> None:
        """Let the workers forget the work; what runs, runs to its end there."""
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel(list(self._tasks))
            self._client.unregister_worker_plugin(self._key)


class RayCrew:
    """The workers of Ray, which keeps the work where they find it, once per machine.

    Where no cluster was joined and RAY_ADDRESS names none, some are started here.
    """

    def __init__(self, number: int, parcel: bytes) -> None:
        import ray  # noqa: PLC0415

        if not ray.is_initialized():
            ray.init(num_cpus=None if os.environ.get("RAY_ADDRESS") else number, log_to_driver=False)
        self.deaths: tuple[type[BaseException], ...] = (ray.exceptions.RayError,)
        self.last_deaths: tuple[type[BaseException], ...] = self.deaths  # Ray has tried it on others
        self._ray, self._key, self._parcel = ray, uuid4().hex, ray.put(parcel)
        self._do = ray.remote(max_retries=3)(do)

    @property
    def num_workers(self) -> int:
        """All cores that Ray has."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, items: Sequence[Any]) -> Future[bytes]:
        """Have some items done."""
        future: Future[bytes] = self._do.remote(self._key, self._parcel, list(items)).future()
        return future

    def close(self, in_order: bool) -> None:
        """Let Ray forget the work; what runs, runs to its end."""
        del self._parcel


_PARCELS: OrderedDict[str, Any] = OrderedDict()  # what this worker has been sent, opened
_LOCK = threading.Lock()


def do(key: str, parcel: str | bytes | None, items: list[Any]) -> bytes:
    """A worker's part: the results of some items. The parcel is a file, bytes, or None: it is here."""
    from beacon.runner.workers import done_by_worker  # noqa: PLC0415 - it imports this file

    return done_by_worker(lambda: opened(key, parcel), items)


def opened(key: str, parcel: str | bytes | None) -> Any:
    """The work of a parcel, opened when it is first needed."""
    with _LOCK:
        if isinstance(_PARCELS.get(key, parcel), str | bytes):
            packed = _PARCELS.pop(key, parcel)
            if isinstance(packed, str):
                with open(packed, "rb") as file:
                    packed = file.read()
            _keep(key, pickle.loads(packed))
        if key not in _PARCELS:
            raise BeaconError("a worker was not sent its work; do all workers have this version of Beacon?")
        _PARCELS.move_to_end(key)
        return _PARCELS[key]


def keep(key: str, parcel: bytes) -> None:
    """Take in a parcel before it is needed."""
    with _LOCK:
        _keep(key, parcel)


def forget(key: str) -> None:
    """The parcel is not needed any more."""
    with _LOCK:
        _PARCELS.pop(key, None)


def _keep(key: str, one: Any) -> None:
    _PARCELS[key] = one
    while len(_PARCELS) > MOST_PARCELS:
        _PARCELS.popitem(last=False)


def _leave_ctrl_c() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that started the workers ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def on_backend(name: str | None, jobs: int | None = None) -> Iterator[None]:
    """Have work done on a backend: one of ``BACKENDS``, or the address of a Dask scheduler.

    Without an address, ``dask`` uses the one of Dask's configuration (``DASK_SCHEDULER_ADDRESS``), or starts
    ``jobs`` workers here.
    """
    if name is None or name == BACKENDS[0]:
        yield
        return
    is_address = "://" in name
    if name not in BACKENDS and not is_address:
        raise UsageError(
            f"backends are {', '.join(BACKENDS)} and addresses such as tcp://host:8786; found {name!r}"
        )
    try:
        import joblib  # noqa: PLC0415

        with ExitStack() as stack:
            if is_address or name == "dask":
                stack.enter_context(_dask(name if is_address else None, jobs))
            elif name == "ray":
                from ray.util.joblib import register_ray  # noqa: PLC0415

                register_ray()
            number = num_threads(jobs)
            stack.enter_context(joblib.parallel_config(backend="dask" if is_address else name, n_jobs=number))
            yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in {"joblib", "dask", "distributed", "ray"}:
            raise
        extra = None if package == "ray" else "cluster"
        raise MissingDependencyError(package, f"the backend {name}", extra) from None


@contextmanager
def _dask(address: str | None, jobs: int | None) -> Iterator[None]:
    import dask  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    made: Any = distributed  # has no types
    address = address or dask.config.get("scheduler-address", None)
    if address is None:
        with (
            made.LocalCluster(
                n_workers=num_threads(jobs), threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as cluster,
            made.Client(cluster),
        ):
            yield
        return
    try:
        client = made.Client(address)
    except (OSError, ValueError) as error:
        raise BeaconError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        yield
