"""What a notebook shows: small tables in which nothing of the data is taken for HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import beacon
from beacon.evaluation.evaluation import Evaluation
from beacon.model.families import ising_grid
from beacon.model.html_view import MOST_ROWS, html_table
from tests.cli.helpers import run

EVIL = "<script>alert('&')</script>"


class Tags(HTMLParser):
    """The tags of a text and the words between them; fails if they are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def model() -> beacon.GraphicalModel:
    names = [EVIL, *(f"v{i}" for i in range(40))]
    labels = [["<b>", "&amp;"]] * 41
    return beacon.GraphicalModel.from_tables([2] * 41, [((0, 1), [0, 1, 1, 0])], names, labels)


def shown(thing: object) -> Tags:
    tags = Tags(thing._repr_html_())  # type: ignore[attr-defined]
    assert tags.seen <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "em"}
    return tags


def test_a_model_shows_its_size_and_its_first_variables(model: beacon.GraphicalModel) -> None:
    words = shown(model).words
    assert words[0] == "GraphicalModel: 41 variables, 1 factor, 4 entries, 0.0% of them zero"
    assert EVIL in words
    assert words[-1] == "… 41 in all"
    assert "v18" in words
    assert "v19" not in words


def test_a_result_shows_its_score_and_values(model: beacon.GraphicalModel) -> None:
    result = beacon.solve(model, {EVIL: "<b>"}, stop=beacon.MaxSteps(100))
    words = shown(result).words
    assert words[words.index("log score") + 1] == "1.000000"
    assert words[words.index("v0") + 1] == "&amp;"
    assert EVIL not in words, "it is observed"


def test_a_result_shows_its_gap_and_its_margins(model: beacon.GraphicalModel) -> None:
    result = beacon.solve(model, {EVIL: "<b>"}, stop=beacon.MaxSteps(100), margins=True)
    words = shown(result).words
    assert words[words.index("gap") + 1] == "0 nats"
    assert words[words.index("next best") + 1] == "loses, nats"
    assert words[words.index("v0") + 1 :][:3] == ["&amp;", "<b>", "1"]
    searched = beacon.solve(ising_grid(40, 40), stop=beacon.MaxSteps(100), margins=True)
    words = shown(searched).words
    assert words[words.index("gap") + 1] == f"{searched.gap:.4g} nats"
    assert "loses at most, nats" in words


def test_results_show_a_row_per_query(model: beacon.GraphicalModel) -> None:
    results = beacon.solve_many(model, [{}] * (MOST_ROWS + 1), stop=beacon.MaxSteps(10))
    words = shown(results).words
    assert words[0] == "21 results"
    assert words[-1] == "… 21 in all"


def test_a_query_set_shows_its_splits(model: beacon.GraphicalModel) -> None:
    words = shown(beacon.sample_queries(model, 10, seed=0)).words
    assert words[0].startswith("QuerySet: 10 queries on a model of 41 variables (")
    assert words[words.index("train") + 1] == "8"


def test_an_evaluation_shows_mean_scores(model: beacon.GraphicalModel, tmp_path: Path) -> None:
    beacon.write_model(model, tmp_path / "m.lg")
    command = ["evaluate", tmp_path / "m.lg", "-o", tmp_path / "run", "--methods", "greedy,gls+", "-q"]
    assert run(*command, "--steps", "5,50", "--count", 3).code == 0
    words = shown(Evaluation.load(tmp_path / "run")).words
    assert words[1:5] == ["network", "method", "5 steps", "50 steps"]
    assert words[words.index("gls+") + 2] == "1.0000"


def test_an_empty_table_is_still_a_table() -> None:
    assert Tags(html_table("nothing", [])).words == ["nothing"]
