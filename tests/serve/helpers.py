"""A real server on a free local port, and small models for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any, NamedTuple

import httpx
import numpy as np

from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.serve.app import address_of, listen, new_server
from beacon.serve.models import ServedModel
from beacon.serve.service import Service
from beacon.serve.settings import ServeSettings

WAIT_SECONDS = 20.0
GRID = ising_grid(40, 40, seed=3)  # too wide for a proof: it is searched until the time is up


def garden() -> GraphicalModel:
    """Wet grass is best explained by the sprinkler (0.8 · 0.4 · 0.9)."""
    tables = [
        ((0,), [0.8, 0.2]),
        ((0, 1), [[0.6, 0.4], [0.99, 0.01]]),
        ((0, 1, 2), [[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]]),
    ]
    with np.errstate(divide="ignore"):
        logs = [(scope, np.log(table)) for scope, table in tables]
    labels = [["no", "yes"], ["off", "on"], ["dry", "wet"]]
    return GraphicalModel.from_tables([2, 2, 2], logs, ["rain", "sprinkler", "grass"], labels)


class Running(NamedTuple):
    """A server at work."""

    url: str
    service: Service

    def client(self, **settings: Any) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, timeout=WAIT_SECONDS, trust_env=False, verify=False, **settings
        )

    def ask(self, model: str = "garden", **body: Any) -> httpx.Response:
        with self.client() as client:
            return client.post(f"api/models/{model}/solve", json=body)


@contextmanager
def running(
    models: Mapping[str, ServedModel], settings: ServeSettings | None = None, token: str | None = None
) -> Iterator[Running]:
    """Serve until the end of the block."""
    listening = listen("127.0.0.1", 0)
    service = Service(models, settings or ServeSettings())
    server = new_server(service, token)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: server.started)
    try:
        yield Running(address_of(listening), service)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def until(condition: Callable[[], object]) -> None:
    """Wait, for a while, until something is so."""
    ends = monotonic() + WAIT_SECONDS
    while not condition():
        assert monotonic() < ends, "it did not come to be"
        sleep(0.002)
