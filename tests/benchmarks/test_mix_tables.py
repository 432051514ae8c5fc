"""The study of the mix agrees with its results file."""

from __future__ import annotations

from collections import Counter

import numpy as np
from mix_tables import NAMES, PAGE, RESULTS, gaps, leads, page
from pages import rows_of


def test_the_table_is_that_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/mix_tables.py"


def test_every_network_has_twenty_queries_at_every_time() -> None:
    counts = Counter((row["network"], row["mark"]) for row in rows_of(RESULTS))
    networks = {network for network, _ in counts}
    assert len(networks) == 25
    assert all(counts[network, mark] >= 20 for network in networks for mark in ("0.03", "0.1", "1.0"))


def test_a_lead_is_in_percent_of_the_score_before() -> None:
    rows = [
        {"network": "a", "query": "0", "mark": "1.0", "now": "-9", "before": "-10"},
        {"network": "a", "query": "1", "mark": "1.0", "now": "99", "before": "100"},
        {"network": "b", "query": "0", "mark": "1.0", "now": "5", "before": "1"},
    ]
    np.testing.assert_allclose(leads(rows, "a", "1.0"), [10, -1])


def test_gaps_are_to_the_best_score_of_any_method_at_any_time() -> None:
    empty = dict.fromkeys(NAMES.values(), "") | {"network": "a"}
    rows = [
        {**empty, "query": "0", "mark": "0.1", "now": "98", "gls+": "97"},
        {**empty, "query": "0", "mark": "1.0", "now": "99", "before": "100", "gls+": "98", "tree": "95"},
        {**empty, "query": "1", "mark": "1.0", "now": "7"},  # the others were not asked
    ]
    found = gaps(rows, "a", "1.0")
    assert {name: gap.tolist() for name, gap in found.items()} == {"now": [1.0], "gls+": [2.0], "tree": [5.0]}
    assert gaps(rows, "a", "0.1")["tree"].tolist() == [np.inf]
