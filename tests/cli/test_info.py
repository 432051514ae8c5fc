from __future__ import annotations

from pathlib import Path

import pytest

from beacon.evaluation import model_facts
from beacon.evaluation.model_facts import _size
from tests.cli.helpers import run


def test_json_has_the_documented_fields_and_nothing_else_on_stdout(sprinkler: Path) -> None:
    outcome = run("info", sprinkler, "--json")
    facts = outcome.json
    assert outcome.code == 0
    assert {name: facts[name] for name in ("variables", "factors", "max_domain", "max_scope")} == {
        "variables": 3,
        "factors": 3,
        "max_domain": 2,
        "max_scope": 3,
    }
    assert (facts["zero_fraction"], facts["width_bound"]) == (1 / 14, 2)
    assert (facts["entries"], facts["table_bytes"], facts["single_valued"]) == (14, 112, 0)
    assert facts["bayesian_network"] is True
    assert len(facts["fingerprint"]) == 32
    assert 0 < facts["seconds_per_1000_steps"] < 1


def test_the_fingerprint_is_the_same_in_every_format(sprinkler: Path, tmp_path: Path) -> None:
    prints = {run("info", sprinkler, "--json", "--no-timing").json["fingerprint"]}
    for name in ("a.uai", "a.lg.xz"):
        assert run("convert", sprinkler, tmp_path / name).code == 0
        prints.add(run("info", tmp_path / name, "--json", "--no-timing").json["fingerprint"])
    assert len(prints) == 1


def test_people_read_sizes_kind_and_cost(sprinkler: Path) -> None:
    outcome = run("info", sprinkler)
    assert outcome.code == 0
    for words in ("3, at most 2 values each", "Bayesian network", "7.1% of the entries", "steps a second"):
        assert words in outcome.out


def test_variables_are_listed_with_their_labels(sprinkler: Path) -> None:
    lines = run("info", sprinkler, "--variables", "--no-timing").out.splitlines()
    assert lines[-3].split() == ["0", "rain", "no,", "yes"]
    facts = run("info", sprinkler, "--variables", "--no-timing", "--json").json
    assert facts["names"] == ["rain", "sprinkler", "grass"]
    assert facts["labels"][1] == ["off", "on"]
    assert facts["seconds_per_1000_steps"] is None


@pytest.mark.parametrize("text", ["MARKOV\n0\n\n0\n", "MARKOV\n1\n1\n1\n1 0\n1 0.5\n"])
def test_a_model_with_nothing_to_search_has_no_cost(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.uai").write_text(text)
    outcome = run("info", tmp_path / "m.uai", "--json")
    assert outcome.code == 0
    assert outcome.json["seconds_per_1000_steps"] is None
    assert "search cost" not in run("info", tmp_path / "m.uai").out


def test_sizes_of_tables_are_readable() -> None:
    sizes = [0, 112, 1024, 72 * 1024, 5 * 1024**2, 3 * 1024**3, 2000 * 1024**3]
    texts = ["0 bytes", "112 bytes", "1 KiB", "72 KiB", "5 MiB", "3 GiB", "2,000 GiB"]
    assert [_size(size) for size in sizes] == texts


def test_it_says_whether_training_is_worth_it_to_people_and_programs(sprinkler: Path) -> None:
    lines = run("info", sprinkler).out.splitlines()
    assert [line.partition("  ")[0] for line in lines[-2:]] == ["to train", "training is"]
    facts = run("info", sprinkler, "--json").json["training"]
    assert {"verdict", "sentence", "queries", "reference_seconds", "training_seconds"} <= set(facts)
    assert run("info", sprinkler, "--json", "--no-timing").json["training"] is None


def test_it_says_what_evidence_leaves_and_what_exactness_costs(sprinkler: Path, tmp_path: Path) -> None:
    exactness = run("info", sprinkler, "--json").json["exactness"]
    assert (exactness["queries"], exactness["exact_queries"], exactness["sampled"]) == (10, 10, True)
    assert exactness["width"] <= exactness["max_width"] <= 2
    assert exactness["entries"] <= exactness["max_entries"] <= 8
    assert 0 < exactness["milliseconds"] < 1000
    assert "for 10 of 10 queries, in about" in run("info", sprinkler).out
    assert run("info", sprinkler, "--json", "--no-timing").json["exactness"] is None


def test_a_model_that_is_too_wide_is_not_exact(tmp_path: Path) -> None:
    wide = tmp_path / "wide.uai"
    assert run("generate", "grid", "--set", "rows=60", "--set", "columns=60", "-o", wide).code == 0
    exactness = run("info", wide, "--json").json["exactness"]
    assert (exactness["exact_queries"], exactness["bytes"], exactness["milliseconds"]) == (0, None, None)
    assert exactness["width"] > 25
    assert "exact            for 0 of" in run("info", wide).out


def test_where_time_is_short_one_query_is_looked_at(sprinkler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_facts, "EXACT_SECONDS", 1.5)
    monkeypatch.setattr(
        model_facts, "perf_counter", iter(range(100)).__next__
    )  # a second between any two looks
    words = run("info", sprinkler).out
    assert "(one sampled query)" in words
    assert "for 1 of 1 queries" in words
