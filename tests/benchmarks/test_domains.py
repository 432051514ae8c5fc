"""The study of many values agrees with its results file, and its models are what they are called."""

from __future__ import annotations

from collections import Counter

from domains import GENERATED, MARKS, PAGE, PAPER, PUBLISHED, RESULTS, ahead, found_on, generated, page
from pages import rows_of


def test_the_tables_are_those_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/domains.py --tables"


def test_both_versions_have_the_same_searches() -> None:
    rows = rows_of(RESULTS)
    now, old = (
        Counter((row["network"], row["query"], row["mark"]) for row in rows if row["method"] == method)
        for method in ("auto", "auto, old")
    )
    assert now == old
    assert set(now.values()) == {1}
    assert {network for network, _, _ in now} == {*GENERATED, *PUBLISHED, *PAPER}


def test_a_model_has_the_sizes_of_its_name() -> None:
    model, evidence = generated("dense-600-20", 1)
    assert (model.num_variables, model.num_factors, model.num_entries) == (60, 600, 600 * 400)
    assert len(evidence) == 6
    wide, _ = generated("wide-20-6-4", 0)
    assert (wide.num_factors, wide.max_scope, wide.num_entries) == (20, 6, 20 * 4**6)
    assert generated("dense-600-20", 1)[0].fingerprint == model.fingerprint
    assert generated("dense-600-20", 2)[0].fingerprint != model.fingerprint


def test_a_lead_is_counted_from_the_mix_before() -> None:
    rows = [
        {"network": "n", "query": query, "method": method, "mark": MARKS[0], "score": score}
        for query, method, score in (
            ("0", "auto", "110"),
            ("1", "auto", "-90"),
            ("0", "auto, old", "100"),
            ("1", "auto, old", "-100"),
            ("0", "toulbar2", "50"),
        )
    ]
    scores = found_on(rows, "n", "score")
    assert ahead(scores, "auto", MARKS[0]) == "+10.00 ± 0.00"
    assert ahead(scores, "toulbar2", MARKS[0]) == "-"
