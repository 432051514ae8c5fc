"""The study of the fast guide agrees with its results file."""

from __future__ import annotations

import json

from fast_guide import BUDGETS, KINDS, NETWORKS, PAGE, RESULTS, page


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/fast_guide.py --page"


def test_every_network_was_measured_with_both_kinds_of_queries() -> None:
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))
    found = {(row["network"], row["queries"]) for row in rows}
    wanted = {(network, kind) for network in NETWORKS for kind in KINDS} - {("BN_30", "one chain")}
    assert found == wanted
    for row in rows:
        for scores in row["scores"].values():
            assert len(scores) == len(BUDGETS)
            assert scores == sorted(scores), "the best score never falls"
