"""Upper bounds: never below the optimum, at no pass, not even by rounding; and they fall."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from beacon.exact import bound as bound_module
from beacon.exact import level as level_module
from beacon.exact.bound import Bound
from beacon.exact.clusters import mini_buckets
from beacon.exact.level import Level, sum_outward
from beacon.exact.plan import plan
from beacon.exact.solve import SolvedParts, solve_parts
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.reduce.query import reduce_query
from tests.exact.small_models import KINDS, flat_query, is_close, joint_table, optimum, small_queries
from tests.reference import assignments, log_potential


def unsolved(model: GraphicalModel, evidence: dict[int, int]) -> SolvedParts:
    """A reduced query with all parts open."""
    reduced = reduce_query(*flat_query(model, evidence))
    return solve_parts(reduced, plan(reduced), parts=np.zeros(reduced.num_parts, dtype=np.bool_))


def solved(model: GraphicalModel) -> SolvedParts:
    reduced = reduce_query(*flat_query(model, {}))
    return solve_parts(reduced, plan(reduced))


def clique(rng: np.random.Generator, count: int = 5, size: int = 2, zeros: float = 0.0) -> GraphicalModel:
    """Every pair of variables in a factor, and a few triples: nothing is eliminated for free."""
    tables = []
    for arity in (1, 2, 2, 3):
        for scope in itertools.combinations(range(count), arity):
            table = rng.normal(0, 4.0 if arity == 1 else 1.0, [size] * arity)
            is_zero = (rng.random(table.shape) < zeros) & (arity > 1)
            tables.append((scope, np.where(is_zero, -np.inf, table)))
    return GraphicalModel.from_tables([size] * count, tables)


def exact_optimum(model: GraphicalModel) -> Fraction:
    """The best score in exact arithmetic."""
    best: Fraction | None = None
    for values in assignments(model, {}):
        entries = [log_potential(model, f, values) for f in range(model.num_factors)]
        if -math.inf not in entries:
            score = sum(map(Fraction, entries), Fraction(0))
            best = score if best is None else max(best, score)
    assert best is not None
    return best


def check_never_below(count: int) -> None:
    """At every pass the bound is at least the optimum, both taken exactly."""
    for seed in range(count):
        model = clique(np.random.default_rng(seed))
        best, prospect = exact_optimum(model), Bound(unsolved(model, {}))
        for _ in range(30):
            assert Fraction(prospect.upper_bound) >= best
            prospect.run(passes=1)
        assert Fraction(prospect.upper_bound) >= best


def test_the_bound_is_never_below_the_optimum_in_exact_arithmetic() -> None:
    check_never_below(150)


def test_a_bound_without_its_slack_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_module, "sum_outward", lambda terms, slacks: float(terms.sum()))
    with pytest.raises(AssertionError):
        check_never_below(150)


def test_a_bound_one_unit_in_the_last_place_lower_than_the_optimum_would_be_caught() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [0.1, 0.7])])
    assert Fraction(math.nextafter(0.7, -math.inf)) < exact_optimum(model) <= Fraction(0.7)


def exact_scores(model: GraphicalModel) -> list[Fraction]:
    """The scores of all assignments in exact arithmetic, best first."""
    entries = [
        [log_potential(model, f, values) for f in range(model.num_factors)]
        for values in assignments(model, {})
    ]
    return sorted((sum(map(Fraction, row), Fraction(0)) for row in entries), reverse=True)


@pytest.mark.parametrize("max_work", [0.0, 1e6])
def test_a_bound_that_rules_values_out_is_never_below_the_optimum_in_exact_arithmetic(
    max_work: float,
) -> None:
    num_proved = 0
    for seed in range(60):
        model = clique(np.random.default_rng(seed))
        scores = exact_scores(model)
        for known in scores[:3]:
            prospect = Bound(unsolved(model, {}), max_work=max_work)
            for _ in range(30):
                prospect.run(passes=1, best=float(known))
                assert Fraction(prospect.upper_bound) >= scores[0]
            if prospect.proves(float(known)):
                assert scores[0] - known <= Fraction(1e-9)
                num_proved += 1
    assert num_proved >= 30


def test_a_gap_without_room_for_rounding_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bound_module, "DRIFT", -1e13)  # as if the gap were smaller than it is
    with pytest.raises(AssertionError):
        test_a_bound_that_rules_values_out_is_never_below_the_optimum_in_exact_arithmetic(0.0)


def knots(rng: np.random.Generator, zeros: float) -> tuple[GraphicalModel, dict[int, int]]:
    """One or two cliques of mixed domains, single values included, so dense that reducing leaves much."""
    tables, sizes = [], []
    for _ in range(rng.integers(1, 3)):
        first, count = len(sizes), int(rng.integers(4, 6))
        sizes += rng.choice([1, 2, 2, 3, 4], count).tolist()
        for arity, share in ((1, 0.5), (2, 1.0), (3, 0.2)):
            for scope in itertools.combinations(range(first, first + count), arity):
                if rng.random() < share:
                    table = rng.normal(0, 2, [sizes[i] for i in scope])
                    tables.append((scope, np.where(rng.random(table.shape) < zeros, -np.inf, table)))
    evidence = {0: int(rng.integers(sizes[0]))} if rng.random() < 0.3 else {}
    return GraphicalModel.from_tables(sizes, tables), evidence


@pytest.mark.parametrize("max_work", [0.0, 100.0, 1e6])
@pytest.mark.parametrize("zeros", [0.0, 0.1, 0.3, 0.5])
def test_no_better_assignment_is_ruled_out(zeros: float, max_work: float) -> None:
    """Whatever score is known: all assignments that are better keep their values, and the bound is right."""
    rng, num_removed, num_proved = np.random.default_rng(0), 0, 0
    for _ in range(250):
        model, evidence = knots(rng, zeros)
        joint, flat = joint_table(model, evidence), flat_query(model, evidence)[0]
        scores = np.unique(joint[np.isfinite(joint)])
        best = float(joint.max())
        for known in [
            -math.inf,
            *scores[-1:].tolist(),
            *rng.choice(scores[-9:], min(len(scores), 2)).tolist(),
        ]:
            prospect = Bound(unsolved(model, evidence), max_work=max_work)
            prospect.run(passes=200, best=known)
            assert prospect.upper_bound >= best or is_close(prospect.upper_bound, best)
            assert not prospect.proves(known) or is_close(known, best)
            num_proved += prospect.proves(known)
            removed = np.flatnonzero(prospect.removed)
            owners = np.repeat(np.arange(model.num_variables), model.domain_sizes)[removed]
            for variable, value in zip(owners, removed - flat.move_starts[owners], strict=True):
                assert variable in evidence or joint.take(value, axis=variable).max() <= known + 1e-9
            num_removed += len(removed)
            if prospect.solved.is_complete and best > known + 1e-9:
                assert is_close(model.log_score(prospect.decoded()), best)
    assert min(num_removed, num_proved) > 50 or zeros == 0.5  # most of these are decided by their zeros


@pytest.mark.parametrize("seed", range(3))
def test_ruling_out_and_elimination_prove_what_messages_alone_do_not(seed: int) -> None:
    model = ising_grid(9, 9, wrap=True, seed=seed)
    best = solved(model).score
    prospect = Bound(unsolved(model, {}), max_entries=200_000, max_work=1e6)
    prospect.run(passes=4000, best=best - 0.5)
    assert prospect.solved.is_complete
    assert is_close(model.log_score(prospect.decoded()), best)
    assert 0 <= prospect.upper_bound - best < 1e-6


@pytest.mark.parametrize("seed", range(50))
def test_sums_are_rounded_outward_and_hardly_more_than_needed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=1000) * 10.0 ** rng.integers(-8, 8, 1000)
    total = sum(map(Fraction, numbers.tolist()), Fraction(0))
    outward = Fraction(sum_outward(numbers, np.zeros(1000)))
    assert 0 <= outward - total <= Fraction(1e-12) * sum(abs(Fraction(x)) for x in numbers.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_below_the_optimum_at_any_pass(kind: str) -> None:
    for model, evidence in small_queries(kind, 150, seed=7):
        best, prospect = optimum(model, evidence), Bound(unsolved(model, evidence))
        bounds = [prospect.upper_bound, *(prospect.run(passes=1) for _ in range(12))]
        assert all(after <= before for before, after in itertools.pairwise(bounds))
        assert all(value >= best or is_close(value, best) for value in bounds)


@pytest.mark.parametrize("zeros", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("max_table", [4, 16, 64, 256])
def test_clusters_of_any_size_bound_the_optimum(zeros: float, max_table: int) -> None:
    for seed in range(12):
        model = clique(np.random.default_rng(seed), count=6, size=3, zeros=zeros)
        open_query = unsolved(model, {})
        order = plan(open_query.reduced, max_entries=math.inf).order
        level = Level(open_query, mini_buckets(open_query.tables, order, max_table))
        best = optimum(model, {})
        for _ in range(10):
            assert level.value() >= best
            level.run(1)


@pytest.mark.parametrize("seed", range(10))
def test_a_cap_that_fits_all_makes_the_bound_the_optimum_after_one_pass(seed: int) -> None:
    model = ising_grid(5, 5, wrap=True, seed=seed)
    open_query = unsolved(model, {})
    order = plan(open_query.reduced, max_entries=math.inf).order
    level = Level(open_query, mini_buckets(open_query.tables, order, 1 << 20))
    level.run(1)
    best = solved(model)
    assert is_close(level.value(), best.score)
    assert is_close(model.log_score(level.decoded()), best.score)


@pytest.mark.parametrize("seed", range(5))
def test_larger_clusters_are_tighter_and_prove_a_grid(seed: int) -> None:
    model = ising_grid(8, 8, seed=seed)
    prospect, best = Bound(unsolved(model, {})), solved(model).score
    first = prospect.run(passes=8)
    last = prospect.run(passes=4000)
    assert best - 1e-9 <= last <= first
    assert last - best < 1e-4 * abs(best)


def test_solved_parts_count_with_their_optimum() -> None:
    grids = [ising_grid(3, 3, seed=0), ising_grid(4, 4, seed=1)]
    tables = [(f.scope, f.log_table) for f in grids[0].factors]
    tables += [(tuple(9 + i for i in f.scope), f.log_table) for f in grids[1].factors]
    model = GraphicalModel.from_tables([2] * 25, tables)
    reduced = reduce_query(*flat_query(model, {}))
    half = solve_parts(reduced, plan(reduced), parts=np.array([True, False]))
    best = sum(optimum(grid, {}) for grid in grids)
    assert Bound(half).upper_bound >= best
    assert is_close(Bound(half).run(passes=500), best)
    whole = Bound(solve_parts(reduced, plan(reduced)))
    assert whole.is_finished
    assert 0 <= whole.upper_bound - best < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_a_decoded_assignment_keeps_the_evidence(kind: str) -> None:
    for model, evidence in small_queries(kind, 60, seed=8):
        prospect = Bound(unsolved(model, evidence))
        if prospect.upper_bound > -math.inf:
            prospect.run(passes=3)
            assignment = model.check_assignment(prospect.decoded())
            assert all(assignment[i] == value for i, value in evidence.items())
            assert model.log_score(assignment) <= prospect.upper_bound


def test_decoding_finds_the_optimum_of_easy_cliques() -> None:
    found = 0
    for seed in range(40):
        model = clique(np.random.default_rng(seed))
        prospect = Bound(unsolved(model, {}))
        prospect.run(passes=40)
        found += is_close(model.log_score(prospect.decoded()), optimum(model, {}))
    assert found >= 24


def test_messages_prove_that_nothing_is_possible() -> None:
    differ = np.where(np.eye(3), -np.inf, 0.0)
    model = GraphicalModel.from_tables([3] * 4, [((i, j), differ) for i in range(4) for j in range(i)])
    prospect = Bound(unsolved(model, {}))
    assert prospect.run(passes=2000) == -math.inf
    assert prospect.is_finished


def test_impossible_evidence_has_a_bound_of_minus_infinity() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -math.inf, -math.inf, 0.0])])
    assert Bound(unsolved(model, {0: 0, 1: 1})).upper_bound == -math.inf


def test_no_cluster_is_made_over_the_cap() -> None:
    open_query = unsolved(ising_grid(10, 10, seed=2), {})
    made: list[int] = []

    class Watched(Level):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            made.append(len(self.relaxation.moved) + len(self.relaxation.messages))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bound_module, "Level", Watched)
        Bound(open_query, max_entries=20_000).run(passes=3000)
    assert len(made) > 1
    assert max(made) <= 20_000


def test_the_bound_is_the_same_for_the_same_seed() -> None:
    open_query = unsolved(ising_grid(9, 9, seed=3), {})
    assert Bound(open_query, seed=5).run(passes=300) == Bound(open_query, seed=5).run(passes=300)


def test_a_run_ends_where_the_bound_has_come_down_to_the_best_score() -> None:
    model = ising_grid(6, 6, seed=1)
    best, prospect = solved(model).score, Bound(unsolved(model, {}))
    assert not prospect.proves(best)
    prospect.run(passes=100_000, best=best)
    assert prospect.proves(best)
    assert not prospect.proves(best - 1e-6)
    assert 0 <= prospect.upper_bound - best < 1e-9
    assert not prospect.is_finished


def test_a_bound_holds_for_assignments_of_the_model_itself() -> None:
    model = ising_grid(4, 4, wrap=True, seed=9)
    prospect = Bound(unsolved(model, {}))
    prospect.run(passes=100)
    assert joint_table(model, {}).max() <= prospect.upper_bound
