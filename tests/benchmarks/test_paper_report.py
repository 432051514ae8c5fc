"""The paper's own sections: published figures beside ours, and the drift of searches."""

from __future__ import annotations

from pathlib import Path

import pytest
from drift import best_references, drift_store, follow, follow_folder
from paper_report import published_section, write

from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.records import record_store
from tests.cli.helpers import run
from tests.evaluation.helpers import network_of, some_queries
from tests.report.helpers import toy_evaluation, toy_methods, toy_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy evaluation whose searches were followed on one network."""
    folder = tmp_path_factory.mktemp("paper")
    toy_evaluation(folder)
    network = network_of(toy_models()["grid"], "grid")
    references = best_references("grid", record_store(folder).rows())
    with drift_store(folder) as store:
        follow(network, some_queries(network, 3), toy_methods(network), [0, 1], 60, references, store)
    return folder


def test_every_search_of_single_flips_is_followed(folder: Path) -> None:
    rows = drift_store(folder).rows()
    assert {row["method"] for row in rows if " λ=" not in row["method"]} == {
        "greedy",
        "gls+",
        "beacon-greedy",
        "beacon-gls+",
    }
    assert all(0 <= row["closer"] <= row["moves"] <= 60 for row in rows)


def test_the_page_has_the_papers_sections(folder: Path) -> None:
    page = write(folder).read_text(encoding="utf-8")
    for section in ("overview", "published", "drift"):
        assert f'<section id="{section}">' in page


def test_published_figures_stand_beside_ours(folder: Path) -> None:
    tables = {table.key: table for table in published_section(Evaluation.load(folder)).tables}
    improvement = tables["published-improvement"]
    assert improvement.columns[2:] == ("20: published", "20: ours", "100: published", "100: ours")
    assert [(row[0].text, row[1].text, row[2].value, row[4].value) for row in improvement.rows] == [
        ("Grid4", "beacon-greedy", 52.5, 55.4),
        ("Grid4", "beacon-gls+", 49.4, 8.2),
    ]
    speed = tables["published-time-per-step"]
    assert {row[1].text for row in speed.rows} == {"greedy", "gls+"}
    wall = {row[1].text: row[2].full_text for row in tables["published-wall-clock"].rows}
    assert wall == {"gls+": "80.70 ± 5.00", "toulbar2": "no solution"}


def test_an_evaluation_of_a_suite_is_followed_from_its_folder(tmp_path: Path) -> None:
    from beacon.formats import write_model  # noqa: PLC0415

    write_model(toy_models()["grid"], tmp_path / "grid.uai")
    suite = tmp_path / "suite.toml"
    suite.write_text('[[network]]\nname = "grid"\nfile = "grid.uai"\n', encoding="utf-8")
    command = ("evaluate", "--suite", suite, "-o", tmp_path / "run", "--methods", "gls+,tree")
    assert run(*command, "--count", 3, "--steps", "20").code == 0
    follow_folder(tmp_path / "run", suite, None, 20)
    assert [(row["method"], row["query"]) for row in drift_store(tmp_path / "run").rows()] == [
        ("gls+", query) for query in range(3)
    ]
