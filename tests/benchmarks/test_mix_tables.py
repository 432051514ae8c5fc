"""The study of the mix agrees with its results file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from mix_tables import FRESH, NAMES, PAGE, RESULTS, gaps, keep, leads, methods_table, page
from pages import rows_of


def test_the_table_is_that_of_the_file() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run benchmarks/mix_tables.py"


def test_every_network_has_twenty_queries_at_every_time() -> None:
    counts = Counter((row["network"], row["mark"]) for row in rows_of(RESULTS))
    networks = {network for network, _ in counts}
    assert len(networks) == 25
    assert all(counts[network, mark] >= 20 for network in networks for mark in ("0.03", "0.1", "1.0"))


def test_the_mix_was_asked_twenty_queries_that_were_used_for_no_choice() -> None:
    counts = Counter(row["network"] for row in rows_of(FRESH) if row["mark"] == "1.0")
    assert len(counts) == 25
    assert all(count == 20 for count in counts.values())
    assert not any(row["query"] == "published" for row in rows_of(FRESH))


def test_queries_that_not_all_arms_were_asked_are_about_the_mix_alone(tmp_path: Path) -> None:
    source, target = tmp_path / "rows.csv", tmp_path / FRESH.name
    about = "small,{query},{method},1.0,1.0,{score}"
    asked = [("0", "auto", 5), ("0", "gls+", 4), ("0", "gls+ landscape", 3), ("0", "tree", 2)]
    asked += [("1", "auto", 7), ("1", "gls+", 6)]
    lines = [about.format(query=query, method=method, score=score) for query, method, score in asked]
    source.write_text("\n".join(["network,query,method,limit,mark,score", *lines]) + "\n", encoding="utf-8")
    keep([source], target)
    assert [(row["now"], row["gls+"], row["tree"]) for row in rows_of(target)] == [
        ("5", "4", "2"),
        ("7", "", ""),
    ]
    assert (
        methods_table(rows_of(target), "1.0")
        .splitlines()[-1]
        .startswith("| small | 1 | 0.0000 (1) | 20.0000 (0)")
    )


def test_what_a_program_finds_above_the_optimum_has_a_zero_factor(tmp_path: Path) -> None:
    source, target = tmp_path / "rows.csv", tmp_path / FRESH.name
    about = "small,0,{method},1.0,1.0,{score},{proof}"
    asked = [("auto", 5, ""), ("toulbar2", 6, "toulbar2"), ("c++ tree", 7, ""), ("c++ gls+", 6.000001, "")]
    asked += [("gls+", 4, ""), ("gls+ landscape", 4, ""), ("tree", 4, "")]
    lines = [about.format(method=method, score=score, proof=proof) for method, score, proof in asked]
    head = "network,query,method,limit,mark,score,proof"
    source.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    keep([source], target)
    assert [(row["c++ tree"], row["c++ gls+"]) for row in rows_of(target)] == [("-inf", "6.000001")]


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
    gaps_found = {name: gap.tolist() for name, gap in found.items()}
    assert gaps_found == {"now": [1.0], "before": [0.0], "gls+": [2.0], "tree": [5.0]}
    assert gaps(rows, "a", "0.1")["tree"].tolist() == [np.inf]
