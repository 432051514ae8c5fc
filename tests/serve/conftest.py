"""Servers that the tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("httpx")

import httpx

from beacon.serve.models import ServedModel
from tests.serve.helpers import GRID, Running, garden, running


@pytest.fixture(scope="session")
def models() -> dict[str, ServedModel]:
    """One that elimination solves, and one that is searched."""
    return {"garden": ServedModel("garden", garden()), "grid": ServedModel("grid", GRID)}


@pytest.fixture(scope="session")
def server(models: dict[str, ServedModel]) -> Iterator[Running]:
    with running(models) as made:
        yield made


@pytest.fixture(scope="session")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made
