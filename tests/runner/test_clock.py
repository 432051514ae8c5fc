"""The clock of searches."""

from __future__ import annotations

import time

import pytest

from beacon.runner.stop import perf_counter, processor_time


def test_processor_time_does_not_count_what_others_do() -> None:
    with processor_time():
        began = perf_counter()
        time.sleep(0.2)
        assert perf_counter() - began < 0.1
    began = perf_counter()
    time.sleep(0.01)
    assert perf_counter() - began >= 0.01


def test_after_an_error_the_clock_is_that_of_the_wall_again() -> None:
    with pytest.raises(KeyError), processor_time():
        raise KeyError
    assert perf_counter() == pytest.approx(time.perf_counter(), abs=0.1)
