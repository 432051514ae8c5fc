"""Variables, factors, the score and the fingerprint."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import EvidenceError, ModelError
from beacon.model.factors import Factor
from beacon.model.graphical_model import GraphicalModel
from tests.reference import assignments, log_potential
from tests.small_strategies import small_models


@pytest.fixture
def weather() -> GraphicalModel:
    """Rain makes the grass wet."""
    return GraphicalModel.from_tables(
        [2, 3],
        [((0,), np.log([0.7, 0.3])), ((0, 1), np.log([0.8, 0.15, 0.05, 0.1, 0.3, 0.6]))],
        names=["rain", "grass"],
        labels=[["no", "yes"], ["dry", "damp", "wet"]],
    )


class TestConstruction:
    def test_a_flat_table_has_its_last_variable_fastest(self, weather):
        assert weather.factors[1].log_table.shape == (2, 3)
        assert math.exp(weather.factors[1].log_table[1, 0]) == pytest.approx(0.1)

    def test_names_and_labels_default_to_numbers(self):
        model = GraphicalModel.from_tables([2, 3], [])
        assert model.names == ("x0", "x1")
        assert model.labels == (("0", "1"), ("0", "1", "2"))

    def test_sizes_are_told_at_a_glance(self, weather):
        assert repr(weather) == "GraphicalModel(2 variables, 2 factors, domains ≤ 3, scopes ≤ 2)"
        assert (weather.num_variables, weather.num_factors, weather.num_entries) == (2, 2, 8)
        assert (weather.max_domain, weather.max_scope) == (3, 2)

    def test_an_empty_model_has_score_zero(self):
        model = GraphicalModel.from_tables([], [])
        assert model.log_score(np.zeros(0, dtype=np.int64)) == 0.0
        assert (model.max_domain, model.max_scope, model.zero_fraction) == (0, 0, 0.0)

    def test_the_zero_fraction_counts_table_entries(self):
        model = GraphicalModel.from_tables(
            [2, 2], [((0,), [0.0, -np.inf]), ((0, 1), [0.0, 1.0, -np.inf, 2.0])]
        )
        assert model.zero_fraction == pytest.approx(2 / 6)


class TestImmutability:
    def test_tables_cannot_be_changed(self, weather):
        with pytest.raises(ValueError, match="read-only"):
            weather.factors[0].log_table[0] = 1.0

    def test_attributes_cannot_be_changed(self, weather):
        with pytest.raises(AttributeError):
            weather.names = ("a", "b")

    def test_the_callers_own_table_is_copied_not_frozen(self):
        table = np.zeros(2)
        model = GraphicalModel.from_tables([2], [((0,), table)])
        table[0] = 5.0
        assert model.log_score([0]) == 0.0


class TestChecks:
    @pytest.mark.parametrize(
        ("sizes", "tables", "message"),
        [
            ([2], [((0,), [0.0])], r"factor 0 over variables \[0\]: expected 2 entries, found 1"),
            ([2], [((1,), [0.0, 0.0])], r"factor 0 over variables \[1\]: variables are 0..0, found 1"),
            ([2], [((-1,), [0.0, 0.0])], r"variables are 0..0, found -1"),
            ([2], [((0, 0), np.zeros(4))], r"a variable occurs twice in the scope"),
            ([2], [((0,), [0.0, np.nan])], r"log-potentials must be numbers below \+inf, found nan"),
            ([2], [((0,), [0.0, np.inf])], r"log-potentials must be numbers below \+inf, found inf"),
            ([0], [], r"variable 'x0' needs at least one value, found none"),
        ],
    )
    def test_a_wrong_table_is_refused(self, sizes, tables, message):
        with pytest.raises(ModelError, match=message):
            GraphicalModel.from_tables(sizes, tables)

    @pytest.mark.parametrize(
        ("names", "labels", "message"),
        [
            (("a", "a"), (("0",), ("0",)), "variable names must differ; 'a' occurs more than once"),
            (("a",), (("0",), ("0",)), "expected labels for 1 variable, found 2"),
            (("a",), (("0", "0"),), r"variable 'a': value labels must differ; '0' occurs more"),
        ],
    )
    def test_wrong_names_and_labels_are_refused(self, names, labels, message):
        with pytest.raises(ModelError, match=message):
            GraphicalModel(names, labels, ())

    @pytest.mark.parametrize(
        ("sizes", "labels", "message"),
        [
            ([2], [["a"]], r"variable 0: expected as many labels as it has values \(2\), found 1"),
            ([3, 2], [["a", "b", "c"], ["d"]], r"variable 1: expected as many .* \(2\), found 1"),
            ([2, 2], [["a", "b"]], "expected labels for 2 variables, found 1"),
        ],
    )
    def test_labels_must_fit_the_domain_sizes(self, sizes, labels, message):
        with pytest.raises(ModelError, match=message):
            GraphicalModel.from_tables(sizes, [], labels=labels)

    @pytest.mark.parametrize("tables", [None, [None], [((0,),)], [((0,), [0.0, 0.0], 1)]])
    def test_tables_come_with_their_scopes(self, tables):
        with pytest.raises(ModelError, match=r"expected pairs of a scope and its table, such as .*; found "):
            GraphicalModel.from_tables([2], tables)

    def test_a_factor_must_have_the_shape_of_its_scope(self):
        with pytest.raises(ModelError, match=r"expected a table of shape \[2\], found \(3,\)"):
            GraphicalModel(("a",), (("0", "1"),), (Factor((0,), np.zeros(3)),))

    def test_a_factor_must_hold_doubles(self):
        with pytest.raises(ModelError, match="expected a float64 table, found int64"):
            GraphicalModel(("a",), (("0", "1"),), (Factor((0,), np.zeros(2, dtype=np.int64)),))


class TestAssignments:
    def test_the_values_are_named(self, weather):
        assert weather.named_assignment([1, 2]) == {"rain": "yes", "grass": "wet"}

    @pytest.mark.parametrize("assignment", [[0], [0, 0, 0], [0.0, 1.0], [[0, 0]]])
    def test_one_index_per_variable_is_expected(self, weather, assignment):
        with pytest.raises(
            EvidenceError, match="an assignment needs 2 value indices, one per variable; found"
        ):
            weather.check_assignment(assignment)

    @pytest.mark.parametrize("value", [-1, 3])
    def test_a_value_outside_the_domain_is_refused(self, weather, value):
        with pytest.raises(EvidenceError, match=rf"variable 'grass' has values 0..2; found {value}"):
            weather.log_score([0, value])


class TestScore:
    @settings(max_examples=40, deadline=None)
    @given(small_models(), st.data())
    def test_it_is_the_sum_of_all_entries(self, model, data):
        assignment = [data.draw(st.integers(0, len(labels) - 1)) for labels in model.labels]
        entries = [log_potential(model, k, assignment) for k in range(model.num_factors)]
        assert model.log_score(assignment) == pytest.approx(sum(entries))
        assert model.num_zero_factors(assignment) == entries.count(-math.inf)
        floored = [-20.0 if entry == -math.inf else entry for entry in entries]
        assert model.floored_log_score(assignment, -20.0) == pytest.approx(sum(floored))

    @settings(max_examples=20, deadline=None)
    @given(small_models(max_variables=3))
    def test_many_rows_score_like_each_alone(self, model):
        rows = list(assignments(model, {}))
        assert model.log_scores(rows) == pytest.approx([model.log_score(row) for row in rows])

    def test_scaling_multiplies_it(self, weather):
        assert weather.scaled(2.0).log_score([1, 2]) == pytest.approx(2 * weather.log_score([1, 2]))

    @pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
    def test_a_scale_must_be_positive(self, weather, scale):
        with pytest.raises(ModelError, match="scale must be a positive number; found"):
            weather.scaled(scale)

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("entry", [-2.0, 2.0])
    def test_a_scale_that_makes_finite_entries_infinite_is_refused(self, entry):
        model = GraphicalModel.from_tables([2], [((0,), [0.0, -math.inf]), ((0,), [0.0, entry])])
        with pytest.raises(ModelError, match=r"scale 1e\+308 is too large: a finite entry of factor 1 "):
            model.scaled(1e308)
        assert model.scaled(1e307).log_score([0]) == 0


class TestCondition:
    @settings(max_examples=40, deadline=None)
    @given(small_models(), st.data())
    def test_it_keeps_every_score(self, model, data):
        assignment = [data.draw(st.integers(0, len(labels) - 1)) for labels in model.labels]
        observed = data.draw(st.sets(st.sampled_from(range(model.num_variables))))
        rest, free = model.condition({i: assignment[i] for i in observed})
        assert sorted({*free, *observed}) == list(range(model.num_variables))
        inner = np.array([assignment[i] for i in free], dtype=np.int64)
        assert rest.log_score(inner) == pytest.approx(model.log_score(assignment))

    def test_names_and_labels_follow(self, weather):
        rest, free = weather.condition({0: 1})
        assert (rest.names, rest.labels, free) == (("grass",), (("dry", "damp", "wet"),), [1])

    def test_evidence_may_be_by_name(self, weather):
        by_name, by_index = weather.condition({"rain": "yes"})[0], weather.condition({0: 1})[0]
        assert by_name.fingerprint == by_index.fingerprint

    @pytest.mark.parametrize(
        ("evidence", "message"),
        [
            ({-1: 0}, "variable indices are 0..1; found -1"),
            ({999: 0}, "variable indices are 0..1; found 999"),
            ({"snow": "yes"}, "no variable is called 'snow'"),
            ({0: 2}, "variable 'rain' has values 0..1"),
            ({1: -1}, "variable 'grass' has values 0..2"),
        ],
    )
    def test_wrong_evidence_is_refused(self, weather, evidence, message):
        with pytest.raises(EvidenceError, match=message):
            weather.condition(evidence)


class TestFingerprint:
    def test_the_order_of_factors_does_not_count(self, weather):
        turned = GraphicalModel(weather.names, weather.labels, weather.factors[::-1])
        assert turned.fingerprint == weather.fingerprint

    def test_the_order_of_a_scope_does_not_count(self, weather):
        prior, table = weather.factors
        turned = Factor((1, 0), table.log_table.T.copy())
        assert (
            GraphicalModel(weather.names, weather.labels, (prior, turned)).fingerprint == weather.fingerprint
        )

    def test_names_do_not_count(self, weather):
        plain = GraphicalModel.from_tables([2, 3], [(f.scope, f.log_table) for f in weather.factors])
        assert plain.fingerprint == weather.fingerprint

    def test_rounding_in_a_file_does_not_count(self, weather):
        through_a_file = [(f.scope, np.log(np.exp(f.log_table))) for f in weather.factors]
        assert GraphicalModel.from_tables([2, 3], through_a_file).fingerprint == weather.fingerprint

    def test_an_entry_counts(self, weather):
        assert weather.scaled(1.01).fingerprint != weather.fingerprint

    def test_a_repeated_factor_counts(self, weather):
        twice = GraphicalModel(weather.names, weather.labels, (*weather.factors, weather.factors[0]))
        assert twice.fingerprint != weather.fingerprint

    def test_a_domain_without_factors_counts(self):
        two, three = (GraphicalModel.from_tables([size], []) for size in (2, 3))
        assert two.fingerprint != three.fingerprint


def test_neighbours_share_a_factor():
    model = GraphicalModel.from_tables([2] * 4, [((0, 1, 2), np.zeros(8)), ((2, 3), np.zeros(4))])
    assert model.primal_graph() == [{1, 2}, {0, 2}, {0, 1, 3}, {2}]
    assert model.width_bound == 2


@pytest.mark.parametrize(
    ("sizes", "scope", "problem"),
    [
        ([2.5], [0], "domain_sizes must be whole numbers; found 2.5"),
        (["2"], [0], "domain_sizes must be whole numbers; found '2'"),
        ([None], [0], r"domain_sizes must be whole numbers; found \[None\]"),
        ([2], None, "factor 0: its scope must be whole numbers; found None"),
        ([2], [0.7], "factor 0: its scope must be whole numbers; found 0.7"),
    ],
)
def test_what_is_no_whole_number_is_refused_not_rounded(
    sizes: list[Any], scope: list[Any], problem: str
) -> None:
    with pytest.raises(ModelError, match=problem):
        GraphicalModel.from_tables(sizes, [(scope, [0.0, 1.0])])


def test_numpy_and_whole_floats_are_whole_numbers() -> None:
    model = GraphicalModel.from_tables(np.array([2.0, 3.0]), [(np.array([1]), np.zeros(3))])  # type: ignore[arg-type]
    assert model.domain_sizes.tolist() == [2, 3]
    assert model.factors[0].scope == (1,)


def test_many_names_that_are_the_same_are_found_at_once() -> None:
    began = time.process_time()
    with pytest.raises(ModelError, match="variable names must differ; 'same' occurs more than once"):
        GraphicalModel.from_tables([2] * 100_002, [], names=[*map(str, range(100_000)), "same", "same"])
    assert time.process_time() - began < 5
