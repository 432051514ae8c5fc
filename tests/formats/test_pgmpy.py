"""Networks of pgmpy: taken over by what their objects say, without the library; and once with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beacon.errors import ModelError
from beacon.formats import from_pgmpy, to_pgmpy
from beacon.model.bayes import child_of_factors
from beacon.model.families import random_bayes_net
from beacon.model.graphical_model import GraphicalModel


class Table:
    """What Beacon uses of pgmpy's TabularCPD and DiscreteFactor."""

    def __init__(
        self, variables: list[Any], values: Any, state_names: dict[Any, list[Any]] | None = None
    ) -> None:
        self.variables = variables
        self.values = np.array(values)
        if state_names is not None:
            self.state_names = state_names


class BayesianNetwork:
    def __init__(self, nodes: list[Any], cpds: list[Any]) -> None:
        self._nodes, self._cpds = nodes, cpds

    def nodes(self) -> list[Any]:
        return self._nodes

    def get_cpds(self) -> list[Any]:
        return self._cpds


class MarkovNetwork:
    def __init__(self, nodes: list[Any], factors: list[Any]) -> None:
        self._nodes, self._factors = nodes, factors

    def nodes(self) -> list[Any]:
        return self._nodes

    def get_factors(self) -> list[Any]:
        return self._factors


SKY = Table(["sky"], [0.75, 0.25], {"sky": ["clear", "grey"]})
RAIN = Table(["rain", "sky"], [[1.0, 0.25], [0.0, 0.75]], {"rain": [False, True], "sky": ["clear", "grey"]})


def test_a_bayesian_network_keeps_its_names_and_puts_children_last() -> None:
    model = from_pgmpy(BayesianNetwork(["rain", "sky"], [RAIN, SKY]))
    assert model.names == ("rain", "sky")
    assert model.labels == (("False", "True"), ("clear", "grey"))
    assert [factor.scope for factor in model.factors] == [(1, 0), (1,)]
    assert np.exp(model.factors[0].log_table).tolist() == [[1, 0], [0.25, 0.75]]
    assert child_of_factors(model) == [0, 1]


def test_states_in_another_order_are_put_in_order() -> None:
    turned = Table(
        ["rain", "sky"], [[0.25, 1.0], [0.75, 0.0]], {"rain": [False, True], "sky": ["grey", "clear"]}
    )
    model = from_pgmpy(BayesianNetwork(["rain", "sky"], [turned, SKY]))
    same = from_pgmpy(BayesianNetwork(["rain", "sky"], [RAIN, SKY]))
    assert model.labels == same.labels
    np.testing.assert_array_equal(model.factors[0].log_table, same.factors[0].log_table)


def test_a_markov_network_keeps_its_factors_as_they_are() -> None:
    model = from_pgmpy(
        MarkovNetwork([3, "b"], [Table(["b", 3], [[1, 2, 0], [4, 5, 6]]), Table([3], [1, 1, 7])])
    )
    assert model.names == ("3", "b")
    assert model.labels == (("0", "1", "2"), ("0", "1"))
    assert [factor.scope for factor in model.factors] == [(1, 0), (0,)]
    np.testing.assert_array_equal(model.factors[0].log_table, [[0, np.log(2), -np.inf], np.log([4, 5, 6])])


@pytest.mark.parametrize(
    ("network", "problem"),
    [
        (BayesianNetwork(["rain", "sky"], [RAIN]), "expected a CPD for every variable, found none for 'sky'"),
        (
            MarkovNetwork(list("abcdefghij"), []),
            "expected a factor for every variable, found none for 'a', .*, …",
        ),
        (BayesianNetwork(["a"], [object()]), "expected discrete factors, .* found one of type object"),
        (
            MarkovNetwork(["a"], [Table(["a"], [1, -1])]),
            "the factor over 'a': expected finite numbers of at least 0",
        ),
        (MarkovNetwork(["a"], [Table(["a"], [1, np.inf])]), "expected finite numbers of at least 0"),
        (MarkovNetwork(["a"], [Table(["a"], [1, 1]), Table(["a"], [1, 1, 1])]), "'a': expected the states"),
        (object(), "expected a Bayesian or Markov network of pgmpy, found an object of type object"),
    ],
)
def test_what_is_no_discrete_network_is_refused(network: Any, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        from_pgmpy(network)


@pytest.mark.filterwarnings("ignore")
def test_the_real_library_agrees() -> None:
    models = pytest.importorskip("pgmpy.models", exc_type=ImportError)
    discrete = pytest.importorskip("pgmpy.factors.discrete", exc_type=ImportError)
    network = models.DiscreteBayesianNetwork([("a", "c"), ("b", "c")])
    states = {"a": ["a0", "a1"], "b": ["x", "y", "z"], "c": ["no", "yes"]}
    network.add_cpds(
        discrete.TabularCPD("a", 2, [[0.3], [0.7]], state_names={"a": states["a"]}),
        discrete.TabularCPD("b", 3, [[0.2], [0.3], [0.5]], state_names={"b": states["b"]}),
        discrete.TabularCPD(
            "c",
            2,
            [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]],
            ["a", "b"],
            [2, 3],
            states,
        ),
    )
    for model in (from_pgmpy(network), from_pgmpy(network.to_markov_model())):
        evidence = {name: states[name][k] for name, k in zip("abc", (1, 2, 0), strict=True)}
        assignment = [evidence_index(model, name, evidence[name]) for name in model.names]
        assert model.log_score(assignment) == pytest.approx(np.log(network.get_state_probability(evidence)))


def evidence_index(model: Any, name: str, label: str) -> int:
    values: tuple[str, ...] = model.labels[model.name_to_variable[name]]
    return values.index(label)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_models_handed_over_come_back() -> None:
    pytest.importorskip("pgmpy")
    network = random_bayes_net(num_variables=6, seed=2)
    again = from_pgmpy(to_pgmpy(network))
    assert (again.names, again.labels) == (network.names, network.labels)
    assert again.fingerprint == network.fingerprint
    tables = [((), 0.5), ((0, 1), np.log([[1, 2, 3], [4, 5, 6]])), ((1,), [0.0, -1.0, -2.0])]
    markov = GraphicalModel.from_tables([2, 3, 2], tables, ["a", "b", "alone"])
    back = from_pgmpy(to_pgmpy(markov))
    for values in ([0, 0, 0], [1, 2, 1], [0, 1, 1]):
        assert back.log_score(values) == pytest.approx(markov.log_score(values))
