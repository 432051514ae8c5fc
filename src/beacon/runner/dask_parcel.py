"""How Dask brings work to its workers: each gets it when it joins, so also one that replaces a dead one."""

from __future__ import annotations

from distributed import Worker, WorkerPlugin

from beacon.runner.crews import forget, keep


class Parcel(WorkerPlugin):
    """Work on its way."""

    def __init__(self, key: str, parcel: bytes) -> None:
        self._key, self._parcel = key, parcel

    def setup(self, worker: Worker) -> None:
        """Take the work in."""
        keep(self._key, self._parcel)

    def teardown(self, worker: Worker) -> None:
        """Forget it."""
        forget(self._key)
