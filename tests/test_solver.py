from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import beacon
from beacon.errors import UsageError
from beacon.guide.checkpoint import update_tuned
from beacon.guide.fast_guide import FastGuide
from beacon.guide.trivial import OracleGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.runner.in_step import GuidedBatch
from beacon.runner.stop import MaxSteps
from beacon.solver import default_strategy, guide_and_use, solve, solve_many
from tests.guide.helpers import evidence_of, random_states, random_weights
from tests.runner.test_in_step import CountingGuide

GRID = ising_grid(6, 6, seed=3)
QUERIES = evidence_of(random_states(GRID, 5, seed=1, share=0.2))
STOP = MaxSteps(150)
USES = [
    GuideUse(),
    GuideUse(restart_from="guide"),
    GuideUse("random", 0.5),
    GuideUse("guide", 0.5, "all", 10),
]


def test_without_a_guide_it_is_the_plain_search() -> None:
    plain = beacon.SearchBatch(GRID, QUERIES, "auto")
    plain.run_until(STOP)
    solved = solve_many(GRID, QUERIES, stop=STOP)
    assert [r.assignment.tolist() for r in solved] == [r.assignment.tolist() for r in plain.results]


def test_the_public_solve_takes_a_guide() -> None:
    assert beacon.solve is solve
    assert beacon.solve_many is solve_many


@pytest.mark.parametrize("use", USES)
def test_a_query_is_solved_alike_alone_and_among_others_in_one_thread_and_in_two(use: GuideUse) -> None:
    guide = FastGuide(GRID, random_weights(GRID)) if use.refresh == 0 else CountingGuide(GRID)
    alone = [solve(GRID, q, guide=guide, use=use, strategy="gls+", stop=STOP) for q in QUERIES]
    many = solve_many(GRID, QUERIES[::-1], guide=guide, use=use, strategy="gls+", stop=STOP, threads=2)
    assert [r.assignment.tolist() for r in alone] == [r.assignment.tolist() for r in many[::-1]]


def test_an_oracle_makes_the_first_assignment_the_best() -> None:
    best = solve(GRID, stop=MaxSteps(5000))
    result = solve(GRID, guide=OracleGuide(GRID, best.assignment), stop=MaxSteps(0))
    assert result.log_score == best.log_score


def test_a_given_start_outranks_the_guide() -> None:
    zeros, ones = np.zeros(36, np.int64), np.ones(36, np.int64)
    result = solve(GRID, guide=OracleGuide(GRID, ones), start=zeros, strategy="gls+", stop=MaxSteps(0))
    assert (result.assignment == 0).all()
    chosen = solve(
        GRID,
        guide=OracleGuide(GRID, ones),
        use=GuideUse("random"),
        start="guide",
        strategy="gls+",
        stop=MaxSteps(0),
    )
    assert (chosen.assignment == 1).all()


def test_a_tuned_guide_is_used_as_tuned(tmp_path: Path) -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    guide.save(tmp_path / "guide")
    use = GuideUse("random", 0.7, "all")
    update_tuned(tmp_path / "guide", {"strategy": "greedy", "use": use.to_dict()})
    tuned = solve_many(GRID, QUERIES, guide=tmp_path / "guide", stop=STOP)
    expected = solve_many(GRID, QUERIES, guide=guide, use=use, strategy="greedy", stop=STOP)
    assert [r.assignment.tolist() for r in tuned] == [r.assignment.tolist() for r in expected]
    assert {r.method for r in tuned} == {"greedy"}


def test_a_mapping_changes_the_tuned_use(tmp_path: Path) -> None:
    folder = str(tmp_path / "grid.guide")
    FastGuide(GRID, random_weights(GRID)).save(folder)
    update_tuned(folder, {"use": GuideUse("random", 0.7, "all").to_dict(), "strategy": "greedy"})
    guide, use = guide_and_use(GRID, folder, {"refresh": 20, "weight": 0.3}, None)
    assert use == GuideUse("random", 0.3, "all", 20)
    assert default_strategy(guide, use) == "greedy"
    with pytest.raises(UsageError, match="no setting 'wait'; did you mean 'weight'"):
        guide_and_use(GRID, folder, {"wait": 1}, None)


@pytest.mark.parametrize("changes", [{"weight": 0.5}, {"restart_from": "guide"}])
def test_a_guide_that_is_to_be_heeded_starts_although_tuning_found_a_start_without_it(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    folder = str(tmp_path / "grid.guide")
    FastGuide(GRID, random_weights(GRID)).save(folder)
    update_tuned(folder, {"use": GuideUse("messages", most_seconds=0.1).to_dict(), "strategy": "auto"})
    assert guide_and_use(GRID, folder, None, None)[1] == GuideUse("messages", most_seconds=0.1)
    assert guide_and_use(GRID, folder, changes, None)[1] == GuideUse("guide", **changes)
    assert guide_and_use(GRID, folder, {"opinions": 3}, None)[1] == GuideUse("messages", opinions=3)
    update_tuned(folder, {"use": GuideUse("messages", opinions=0).to_dict(), "strategy": "auto"})
    assert guide_and_use(GRID, folder, changes, None)[1].opinions == GuideUse.opinions


def test_results_are_heard_of_as_they_come() -> None:
    heard: dict[int, Any] = {}
    use = GuideUse("random", 0.5, "improving", 10)
    results = solve_many(
        GRID, QUERIES, guide=CountingGuide(GRID), use=use, stop=STOP, on_result=heard.__setitem__
    )
    assert [heard[k] for k in range(len(QUERIES))] == results


def test_ctrl_c_keeps_the_best_of_every_query(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(CountingGuide):
        def score(self, states: Any) -> Any:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().score(states)

    use = GuideUse("random", 0.5, "improving", 10)
    results = solve_many(GRID, QUERIES, guide=Interrupted(GRID), use=use, stop=STOP)
    assert [r.steps for r in results] == [30] * len(QUERIES)
    assert {r.stop for r in results} == {"interrupted"}
    monkeypatch.setattr("beacon.runner.runner.MAX_BATCH", 2)
    results = solve_many(GRID, QUERIES, guide=Interrupted(GRID), use=use, stop=STOP)
    assert [r.steps for r in results] == [30, 30, 0, 0, 0]
    assert {r.stop for r in results} == {"interrupted"}


def test_searches_in_batches_are_those_of_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    use = GuideUse("guide", 0.5, "improving", 10)
    whole = solve_many(GRID, QUERIES, guide=CountingGuide(GRID), use=use, stop=STOP)
    monkeypatch.setattr("beacon.runner.runner.MAX_BATCH", 2)
    parts = solve_many(GRID, QUERIES, guide=CountingGuide(GRID), use=use, stop=STOP)
    assert [r.assignment.tolist() for r in whole] == [r.assignment.tolist() for r in parts]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": "guide"}, "start='guide' and use need a guide; pass guide=..., or leave them out"),
        ({"use": GuideUse()}, "start='guide' and use need a guide"),
    ],
)
def test_what_needs_a_guide_says_so(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve(GRID, stop=STOP, **arguments)


@pytest.mark.parametrize("strategy", ["tree", "auto"])
def test_tree_moves_cannot_be_guided_move_by_move(strategy: str) -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    with pytest.raises(UsageError, match="only 'greedy' and 'gls\\+' heed a guide's scores"):
        solve(GRID, guide=guide, use=GuideUse(weight=0.5), strategy=strategy, stop=STOP)


def test_a_guide_of_states_is_asked_about_the_start_that_is_searched_from() -> None:
    use = GuideUse("random", 0.5)
    batch = GuidedBatch(GRID, QUERIES, CountingGuide(GRID), use, "gls+")
    batch.run_until(STOP)
    solved = solve_many(GRID, QUERIES, guide=CountingGuide(GRID), use=use, stop=STOP)
    assert [r.assignment.tolist() for r in solved] == [r.assignment.tolist() for r in batch.outcomes]
    assert [r.trace.scores.tolist() for r in solved] == [r.trace.scores.tolist() for r in batch.outcomes]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "clinic.bif"}, r"read it: beacon.read_model\('clinic.bif'\)"),
        ({"evidence": {"fever"}}, r"expected the evidence of a query as a mapping, .*; found {'fever'}"),
        ({"stop": 100}, "expected a stop, such as .*; found 100"),
        ({"seed": None}, "seed must be a whole number of at least 0; found None"),
        ({"seed": -1}, "seed must be a whole number of at least 0; found -1"),
        ({"seed": 1.5}, "seed must be a whole number of at least 0; found 1.5"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        solve(**{"model": GRID, "stop": STOP, **arguments})


@pytest.mark.parametrize("queries", ["patients.csv", None])
def test_queries_of_the_wrong_kind_are_refused(queries: Any) -> None:
    with pytest.raises(UsageError, match=r"expected queries, found the path|expected a list of mappings"):
        solve_many(GRID, queries, stop=STOP)


def test_a_row_of_a_table_is_a_query() -> None:
    frame = pd.DataFrame({"x_0_0": ["1", None], "x_1_1": [1.0, float("nan")]})
    assert solve(GRID, frame.iloc[0], stop=MaxSteps(5)).evidence == {0: 1, 7: 1}
    assert solve(GRID, frame.iloc[1], stop=MaxSteps(5)).evidence == {}


def test_no_stop_is_the_default_with_a_guide_and_without() -> None:
    observed = dict.fromkeys(range(36), 1)
    for guide in (None, OracleGuide(GRID, np.ones(36, np.int64))):
        assert solve(GRID, observed, guide=guide, strategy="gls+", stop=None).stop == "nothing to search"


def test_another_start_than_the_tuned_one_has_the_default_opinions(tmp_path: Path) -> None:
    folder, use = str(tmp_path / "grid.guide"), GuideUse("own", opinions=0, later_share=0.1, most_seconds=0.1)
    FastGuide(GRID, random_weights(GRID)).save(folder)
    update_tuned(folder, {"use": use.to_dict(), "strategy": "auto"})
    by_start, by_name = GuideUse("guide", later_share=0.1), {"start": "guide"}
    assert guide_and_use(GRID, folder, None, "guide")[1] == by_start
    assert guide_and_use(GRID, folder, by_name, None)[1] == by_start
    assert guide_and_use(GRID, folder, {"start": "own"}, None)[1] == use.whatever_the_time()
