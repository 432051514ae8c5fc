"""Models built by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import beacon
from beacon.errors import BeaconError, ModelError
from beacon.model.builder import ModelBuilder


def asia() -> beacon.GraphicalModel:
    b = beacon.ModelBuilder()
    b.variables(["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"], ["yes", "no"])
    b.probabilities("asia", [0.01, 0.99])
    b.probabilities("smoke", [0.5, 0.5])
    b.probabilities("tub", [[0.05, 0.95], [0.01, 0.99]], given="asia")
    b.probabilities("lung", [[0.1, 0.9], [0.01, 0.99]], given="smoke")
    b.probabilities("bronc", [[0.6, 0.4], [0.3, 0.7]], given="smoke")
    b.probabilities("either", [[[1, 0], [1, 0]], [[1, 0], [0, 1]]], given=["lung", "tub"])
    b.probabilities("xray", [[0.98, 0.02], [0.05, 0.95]], given="either")
    b.probabilities("dysp", [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]], given=["bronc", "either"])
    return b.build()


def test_asia_is_the_published_network(benchmark_files: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = asia()
    published = beacon.read_model(benchmark_files / "bif" / "asia.bif.xz")
    assert made.fingerprint == published.fingerprint
    assert (made.names, made.labels) == (published.names, published.labels)


def pair() -> ModelBuilder:
    builder = ModelBuilder()
    builder.variable("rain", ["no", "yes"])
    builder.variable("level", [1, 2, 3])
    return builder


@pytest.mark.parametrize(
    "table",
    [
        [[0.2, 0.3, 0.5], [0.1, 0.0, 0.9]],
        [0.2, 0.3, 0.5, 0.1, 0.0, 0.9],
        {"yes": [0.1, 0.0, 0.9], "no": [0.2, 0.3, 0.5]},
        {("no",): [0.2, 0.3, 0.5], ("yes",): [0.1, 0.0, 0.9]},
    ],
)
def test_rows_come_nested_flat_or_by_label(table: object) -> None:
    builder = pair()
    builder.probabilities("level", table, given="rain")  # type: ignore[arg-type]
    model = builder.build()
    assert model.labels[1] == ("1", "2", "3")
    assert model.factors[0].scope == (0, 1)
    assert np.exp(model.factors[0].log_table) == pytest.approx(np.array([[0.2, 0.3, 0.5], [0.1, 0, 0.9]]))


def test_the_name_of_a_method_says_whether_numbers_are_logs() -> None:
    plain, logs = pair(), pair()
    plain.probabilities("rain", [0.25, 0.75])
    plain.potentials(["level", "rain"], [[1, 2], [3, 0], [5, 6]])
    logs.log_probabilities("rain", np.log([0.25, 0.75]))
    logs.log_potentials(["level", "rain"], [[0, np.log(2)], [np.log(3), -np.inf], [np.log(5), np.log(6)]])
    assert plain.build().fingerprint == logs.build().fingerprint


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            lambda b: b.probabilities("level", [[0.2, 0.3, 0.5], [0.1, 0.1, 0.9]], given="rain"),
            "the distribution of 'level': expected rows that sum to 1, found 1.1 in the row rain=yes",
        ),
        (
            lambda b: b.probabilities("rain", [1, 1]),
            "the distribution of 'rain': expected rows that sum to 1, found 2 in the row without parents",
        ),
        (
            lambda b: b.log_probabilities("rain", [0.0, 0.0]),
            "the distribution of 'rain': expected rows that sum to 1, found 2 in the row without parents",
        ),
        (
            lambda b: b.probabilities("rain", [0.5, 0.25, 0.25]),
            r"the table over rain: expected the shape \(2,\), found \(3,\)",
        ),
        (
            lambda b: b.potentials(["rain", "level"], [[1, 2], [3, 4], [5, 6]]),
            r"the table over rain, level: expected the shape \(2, 3\), found \(3, 2\)",
        ),
        (
            lambda b: b.potentials("rain", [-1, 1]),
            "the table over rain: expected numbers of at least 0, found -1",
        ),
        (lambda b: b.potentials("rain", ["a", 1]), "the table over rain: expected numbers in rows"),
        (lambda b: b.potentials("rian", [1, 1]), "no variable is called 'rian'; did you mean 'rain'"),
        (lambda b: b.variable("rain", ["a"]), "variable 'rain' is defined twice"),
        (lambda b: b.variable("wet", "ab"), "variable 'wet': expected a list of labels, found the text 'ab'"),
        (
            lambda b: b.probabilities("level", {"no": [0.2, 0.3, 0.5]}, given="rain"),
            r"expected a row for each of 2 configurations of rain; it lacks \('yes',\)",
        ),
        (
            lambda b: b.probabilities(
                "level", {"no": [1, 0, 0], "yes": [1, 0, 0], "o": [1, 0, 0]}, given="rain"
            ),
            r"expected a row for each of 2 configurations of rain; it has \('o',\)",
        ),
    ],
)
def test_mistakes_are_named(add: Callable[[ModelBuilder], None], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        add(pair())


def test_a_second_distribution_is_refused() -> None:
    builder = pair()
    builder.probabilities("rain", [0.5, 0.5])
    with pytest.raises(ModelError, match="the distribution of 'rain' is defined twice"):
        builder.probabilities("rain", [0.5, 0.5])


def test_a_graph_has_the_direction_of_a_bayesian_network() -> None:
    pytest.importorskip("networkx")
    graph = beacon.to_networkx(asia())
    assert graph.is_directed()
    assert set(graph.predecessors("dysp")) == {"bronc", "either"}
    assert graph.nodes["asia"]["labels"] == ("yes", "no")


def test_a_graph_of_other_models_joins_who_shares_a_factor() -> None:
    pytest.importorskip("networkx")
    builder = pair()
    builder.potentials(["rain", "level"], np.ones((2, 3)))
    graph = beacon.to_networkx(builder.build())
    assert not graph.is_directed()
    assert list(graph.edges) == [("rain", "level")]


def test_models_are_drawn_if_they_are_small() -> None:
    pytest.importorskip("networkx")
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    drawn = {text.get_text() for text in beacon.plot_model(asia()).texts}
    assert drawn >= set(asia().names)
    large = beacon.GraphicalModel.from_tables([2] * 201, [])
    with pytest.raises(BeaconError, match="expected at most 200 variables to draw, found 201"):
        beacon.plot_model(large)
