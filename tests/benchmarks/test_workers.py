"""The study of workers agrees with its results file, and the file covers what it says."""

from __future__ import annotations

from pages import rows_of
from workers import BACKENDS, PAGE, RESULTS, WORKERS, page


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/workers.py --page"


def test_every_backend_was_measured_with_every_number_of_workers() -> None:
    measured = [(row["backend"], int(row["workers"])) for row in rows_of(RESULTS)]
    assert measured == [(backend, number) for backend in BACKENDS for number in WORKERS]
