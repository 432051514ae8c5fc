"""Small networks need no second thread, and threads that wait for each other are slow on a busy machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.learn.collecting import collected, model, queries

__all__ = ["collected", "model", "queries"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
