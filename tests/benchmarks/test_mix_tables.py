"""The study of the mix agrees with its results file."""

from __future__ import annotations

from collections import Counter

import numpy as np
from mix_tables import MARKS, PAGE, RESULTS, leads, page
from pages import rows_of


def test_the_table_is_that_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/mix_tables.py"


def test_every_network_has_twenty_queries_at_every_time() -> None:
    counts = Counter((row["network"], row["mark"]) for row in rows_of(RESULTS))
    networks = {network for network, _ in counts}
    assert len(networks) == 25
    assert all(counts[network, mark] >= 20 for network in networks for mark in MARKS)


def test_a_lead_is_in_percent_of_the_score_before() -> None:
    rows = [
        {"network": "a", "query": "0", "mark": "1.0", "now": "-9", "before": "-10"},
        {"network": "a", "query": "1", "mark": "1.0", "now": "99", "before": "100"},
        {"network": "b", "query": "0", "mark": "1.0", "now": "5", "before": "1"},
    ]
    np.testing.assert_allclose(leads(rows, "a", "1.0"), [10, -1])
