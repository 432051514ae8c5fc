"""The study of joined factors agrees with its results file."""

from __future__ import annotations

from collections import Counter

from joined import MARKS, MODELS, PAGE, RESULTS, page
from pages import rows_of


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/joined.py --tables"


def test_every_network_has_twenty_queries_at_every_time() -> None:
    counts = Counter((row["network"], row["mark"]) for row in rows_of(RESULTS))
    assert counts == {(network, mark): 20 for network in MODELS for mark in MARKS}
