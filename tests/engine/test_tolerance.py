"""What counts as better: gains, not rounding errors, however large the log-potentials are."""

from __future__ import annotations

import pytest

from beacon.engine.core import LEAST_TOLERANCE, ROUNDING, tolerance_of
from beacon.model import families
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps
from beacon.solver import solve

GRID = families.ising_grid(rows=12, columns=12, wrap=True, seed=3)


def test_the_tolerance_grows_with_the_sum_of_the_largest_log_potentials() -> None:
    model = GraphicalModel.from_tables(
        [2, 3], [((0,), [-3e9, 1.0]), ((0, 1), [0.0, 2e9, 0.0, 1.0, 0.0, -1e9])]
    )
    assert tolerance_of(compile_model(model)) == pytest.approx(ROUNDING * 5e9)


def test_zeros_do_not_count_towards_it() -> None:
    model = GraphicalModel.from_tables([2], [((0,), [-float("inf"), 0.5])])
    assert tolerance_of(compile_model(model)) == LEAST_TOLERANCE


@pytest.mark.parametrize("strategy", ["gls+", "auto"])
def test_large_log_potentials_make_no_improvements_out_of_rounding(strategy: str) -> None:
    stop = MaxSteps(300_000)
    plain, large = (solve(GRID.scaled(s), strategy=strategy, stop=stop, seed=1) for s in (1.0, 2.0**24))
    assert large.trace.steps.tolist() == plain.trace.steps.tolist()
    assert large.log_score == pytest.approx(2.0**24 * plain.log_score, rel=1e-12)
