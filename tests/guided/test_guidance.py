"""How searches heed a guide: settings, restarts, batches, mistakes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.engine.incumbent import Limits
from beacon.errors import UsageError
from beacon.guided.advance import GuidedAdvance
from beacon.guided.guidance import Guidance, GuideUse
from beacon.guided.kernel import run_guided_gls
from beacon.guided.state import GuideState, new_guide_state
from beacon.model import families
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.search import Search
from beacon.runner.stop import MaxRuntime, MaxSteps
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import Strategy
from tests.engine.helpers import free_variables, new_search, some_evidence, standing
from tests.kernels import draw_from_scores
from tests.runner.test_batch import COLORING, QUERIES, batch_of, everything

GRID = families.ising_grid(rows=6, columns=6, wrap=True, seed=3)
SCORES = np.random.default_rng(1).random((5, 120), dtype=np.float32)
both = pytest.mark.parametrize("strategy", [Greedy(), GlsPlus()], ids=lambda strategy: strategy.name)


def one_hot(model: GraphicalModel, assignment: NDArray[np.int64]) -> NDArray[np.float32]:
    rows = [np.eye(size)[value] for size, value in zip(model.domain_sizes, assignment, strict=True)]
    return np.concatenate(rows).astype(np.float32)


@both
def test_without_weight_or_scores_a_search_goes_its_own_way(strategy: Strategy) -> None:
    alone, no_weight, no_scores = (batch_of(strategy) for _ in range(3))
    alone.run(400)
    no_weight.run(400, SCORES, weight=0.0)
    no_scores.run(400, weight=0.5)
    assert everything(alone) == everything(no_weight) == everything(no_scores)


@both
def test_a_guided_run_in_pieces_is_the_same_as_a_run_in_one(strategy: Strategy) -> None:
    whole, cut, until = (batch_of(strategy) for _ in range(3))
    guidance = Guidance(0.3, "all", restart_from="guide")
    whole.run(500, SCORES, guidance)
    for steps in (1, 99, 400):
        cut.run(steps, SCORES, guidance)
    until.run_until(MaxSteps(500), SCORES.astype(np.float64), guidance)
    assert everything(whole) == everything(cut) == everything(until)


@both
def test_a_guided_batch_does_not_depend_on_the_number_of_threads(strategy: Strategy) -> None:
    one, two = batch_of(strategy, threads=1), batch_of(strategy, threads=2)
    for batch in (one, two):
        batch.run(300, SCORES, weight=0.5)
    assert everything(one) == everything(two)


def test_each_query_heeds_its_own_scores() -> None:
    goals = SearchBatch(COLORING, QUERIES, seed=9).assignments  # random, and true to the evidence
    batch = SearchBatch(COLORING, QUERIES, seed=7, propagate=False)
    scores = np.array([one_hot(COLORING, goal) for goal in goals])
    distances = (batch.assignments != goals).sum(axis=1)
    batch.run(int(distances.min()), scores, Guidance(1.0, "all", stall=0))
    left = distances - distances.min()
    assert ((batch.assignments != goals).sum(axis=1) == left).all()


def test_a_search_can_be_guided_for_a_while_and_then_left_alone() -> None:
    search = new_search(GRID, {}, GlsPlus())
    scores = np.random.default_rng(0).random(72, dtype=np.float32)
    for _ in range(3):
        search.run(MaxSteps(search.steps + 40), scores=scores, guidance=Guidance(0.5, "all"))
        search.run(MaxSteps(search.steps + 40))
    assert search.steps == 240
    assert search.score == pytest.approx(GRID.log_score(standing(search)))


def test_a_guided_search_keeps_to_a_time_limit() -> None:
    batch = SearchBatch(GRID, [{}], "gls+")
    batch.run_until(MaxRuntime(0.05), np.full((1, 72), 0.5), weight=0.5)
    assert batch.results[0].stop == "seconds"
    assert batch.results[0].steps > 100


def advance(search: Search, guidance: Guidance, scores: NDArray[np.float32], steps: int) -> GuideState:
    """Run with a guide; return what the search keeps for it."""
    guided = GuidedAdvance(search.strategy, search.model, search.core, search.own)
    guided.take(scores, guidance)
    guided(Limits(steps, 10**9, np.inf))
    return guided._guide


@pytest.mark.parametrize("candidates", ["all", "improving"])
@both
def test_trees_kept_up_to_date_equal_those_built_anew(strategy: Strategy, candidates: Any) -> None:
    for seed, steps in enumerate((5, 60, 200, 391)):
        search = new_search(COLORING, some_evidence(COLORING, 4, seed), strategy, seed)
        scores = SCORES[seed]
        guide = advance(search, Guidance(0.5, candidates, stall=0), scores, steps)
        losses, worths, scale = guide.losses.copy(), guide.worths.copy(), guide.counters[0]["scale"]
        assert losses.tolist() == expected_tree(search, expected_losses(search)).tolist()
        leaves = expected_worths(search, scores, scale, candidates)
        assert worths == pytest.approx(expected_tree(search, leaves))


def move_gains(search: Search, variable: int) -> NDArray[np.float64]:
    """The gains of a variable's moves, nan for its current value."""
    start, end = search.model.move_starts[variable : variable + 2]
    current = standing(search)[variable]
    gains: NDArray[np.float64] = search.core.local_scores[start:end].copy()
    gains -= gains[current]
    gains[current] = np.nan
    return gains


def expected_losses(search: Search) -> list[float]:
    free = free_variables(search)
    return [-np.nanmin(move_gains(search, i)) if i in free else -1e30 for i in range(40)]


def expected_worths(
    search: Search, scores: NDArray[np.float32], scale: float, candidates: str
) -> list[float]:
    lowest, leaves, free = 1e-9 if candidates == "improving" else -np.inf, [], free_variables(search)
    for i in range(40):
        gains = move_gains(search, i)
        worths = scale * gains + 0.5 * scores[3 * i : 3 * i + 3]
        allowed = worths[gains > lowest] if i in free else worths[:0]
        leaves.append(float(allowed.max(initial=-1e30)))
    return leaves


def expected_tree(search: Search, leaves: list[float]) -> NDArray[np.float64]:
    """A tree of maxima of eight over leaves, level by level."""
    levels = [np.array(leaves)]
    while len(levels[-1]) > 1:
        levels[-1] = np.pad(levels[-1], (0, -len(levels[-1]) % 8), constant_values=-1e30)
        levels.append(levels[-1].reshape(-1, 8).max(axis=1))
    tree = np.concatenate(levels)
    assert len(tree) == len(search.core.gains)
    return tree


def stubborn_scores() -> NDArray[np.float32]:
    """A guide that always wants the first variable to change."""
    scores = np.zeros(72, dtype=np.float32)
    scores[:2] = 1.0
    return scores


@both
def test_a_search_that_a_guide_leads_in_circles_restarts(strategy: Strategy) -> None:
    guidance = Guidance(1.0, "all", stall=2.0, fallback=False)
    search = new_search(GRID, {}, strategy, seed=1)
    begun = standing(search)
    search.run(MaxSteps(2), scores=stubborn_scores(), guidance=guidance)
    assert standing(search) == begun
    first_restart = int(search.trace.steps[-1]) + 2 * 36
    search.run(MaxSteps(first_restart - 1), scores=stubborn_scores(), guidance=guidance)
    assert standing(search)[1:] == begun[1:]
    search.run(MaxSteps(first_restart), scores=stubborn_scores(), guidance=guidance)
    assert standing(search)[1:] != begun[1:]


def test_without_a_stall_rule_it_goes_round_for_ever() -> None:
    search = new_search(GRID, {}, Greedy(), seed=1)
    begun = standing(search)
    search.run(MaxSteps(10_000), scores=stubborn_scores(), guidance=Guidance(1.0, "all", stall=0))
    assert standing(search) == begun


@both
@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_restarts_can_be_drawn_from_the_scores(strategy: Strategy, weight: float) -> None:
    goal = np.random.default_rng(4).integers(2, size=36)
    plan = GlsPlus(restart_interval=50) if isinstance(strategy, GlsPlus) else strategy
    search, alone = new_search(GRID, {}, plan, seed=1), new_search(GRID, {}, plan, seed=1)
    guidance = Guidance(weight, restart_from="guide")
    for steps in range(1, 200):
        before = np.array(standing(search))
        search.run(MaxSteps(steps), scores=one_hot(GRID, goal), guidance=guidance)
        if np.count_nonzero(before != standing(search)) > 1:  # more than a flip
            break
        alone.run(MaxSteps(steps))
        assert weight > 0 or standing(alone) == standing(search)
    flips_since = 0 if isinstance(plan, GlsPlus) else 1  # Greedy restarts before its flip
    assert np.count_nonzero(goal != standing(search)) <= flips_since
    assert search.steps < 199


def test_values_are_drawn_in_proportion_to_their_scores() -> None:
    model = GraphicalModel.from_tables([2, 4, 3, 2], [((0, 1), [0.0] * 8)])
    search = new_search(model, {3: 1}, Greedy(), seed=2)
    scores = np.array([0.2, 0.6, 0.0, 0.1, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, 0.0], dtype=np.float32)
    guide = new_guide_state(search.core)
    guide.scores[:] = scores
    counts = [np.zeros(size) for size in (2, 4, 3, 2)]
    for _ in range(4000):
        draw_from_scores(search.model, search.core, guide)
        for count, value in zip(counts, standing(search), strict=True):
            count[value] += 1 / 4000
    assert counts[0] == pytest.approx([0.25, 0.75], abs=0.03)
    assert counts[1] == pytest.approx([0.0, 0.25, 0.0, 0.75], abs=0.03)
    assert counts[1][[0, 2]].tolist() == [0, 0]
    assert counts[2] == pytest.approx([1 / 3] * 3, abs=0.03)  # no score at all: uniform
    assert counts[3].round(6).tolist() == [0, 1]  # evidence


@pytest.mark.skipif(not hasattr(run_guided_gls, "signatures"), reason="kernels are not compiled")
def test_scores_of_any_kind_need_no_other_kernel() -> None:
    batch = batch_of()
    batch.run(10, SCORES, weight=0.5)
    known = len(run_guided_gls.signatures)  # type: ignore[attr-defined]
    frozen = SCORES.copy()
    frozen.flags.writeable = False
    for scores in (frozen, np.asfortranarray(SCORES), SCORES.tolist()):
        batch.run(10, scores, weight=0.5)
    assert len(run_guided_gls.signatures) == known  # type: ignore[attr-defined]


@pytest.mark.parametrize("strategy", ["tree", "auto"])
def test_strategies_that_cannot_be_guided_say_so(strategy: str) -> None:
    message = f"only 'greedy' and 'gls\\+' heed a guide's scores; the strategy is '{strategy}'"
    with pytest.raises(UsageError, match=message):
        batch_of(strategy).run(10, SCORES, weight=0.5)
    with pytest.raises(UsageError, match=message):
        new_search(GRID, {}, batch_of(strategy).strategy).run(MaxSteps(1), scores=SCORES[0])


def test_mistakes_are_refused() -> None:
    for weight in (-0.1, 1.5, float("nan"), "0.5"):
        message = f"the weight of a guide must be a number from 0 to 1; found {weight!r}"
        with pytest.raises(UsageError, match=message):
            batch_of().run(10, SCORES, weight=weight)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="stall must be 0 or more; found -1"):
        Guidance(stall=-1)
    with pytest.raises(UsageError, match="candidates must be 'all' or 'improving'; found 'best'"):
        Guidance(candidates="best")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="restart_from must be 'random' or 'guide'; found 'file'"):
        Guidance(restart_from="file")  # type: ignore[arg-type]
    with pytest.raises(
        UsageError, match=r"scores for 5 queries of 120 moves .* found an array of shape \(120,\)"
    ):
        batch_of().run(10, SCORES[0], weight=0.5)
    for wrong in (1.5, -0.5, np.nan):
        scores = SCORES.copy()
        scores[2, 3] = wrong
        with pytest.raises(UsageError, match=r"scores must lie in 0\.\.1; found"):
            batch_of().run(10, scores, weight=0.5)


def test_a_use_survives_a_guides_file() -> None:
    use = GuideUse("random", 0.7, "all", 50, "guide", 3.0, False)
    assert GuideUse.from_dict(use.to_dict()) == use


def test_a_guide_that_holds_a_retired_setting_can_still_be_used() -> None:
    assert GuideUse.from_dict({"start": "random", "refresh": 5, "refresh_growth": 2.0}) == GuideUse(
        "random", refresh=5
    )


def test_by_default_the_guide_chooses_the_start_and_nothing_more() -> None:
    assert GuideUse().asks_guide
    assert not GuideUse().guidance.is_heeded
    assert not GuideUse(start="random").asks_guide


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"start": "cold"},
            "start must be 'random' or 'guide' or 'constructed' or 'messages' or 'own'; found 'cold'",
        ),
        ({"refresh": -1}, "refresh must be a whole number of at least 0; found -1"),
        ({"refresh": 0.5}, "refresh must be a whole number of at least 0; found 0.5"),
        ({"weight": 2}, "the weight of a guide must be a number from 0 to 1; found 2"),
        ({"candidates": "few"}, "candidates must be 'all' or 'improving'; found 'few'"),
        ({"wieght": 0.5}, "guided search has no setting 'wieght'; did you mean 'weight'?"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        GuideUse.from_dict(settings)


def test_a_use_may_be_for_some_time_limits_only() -> None:
    use = GuideUse(least_seconds=0.01, most_seconds=0.1)
    assert [use.is_for(seconds) for seconds in (0.001, 0.01, 0.1, 1.0, math.inf)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    assert use.whatever_the_time() == GuideUse()
    assert GuideUse.from_dict(use.to_dict()) == use
    assert json.loads(json.dumps(GuideUse().to_dict()))["most_seconds"] is None
    assert GuideUse.from_dict(GuideUse().to_dict()) == GuideUse()
    with pytest.raises(UsageError, match=r"most_seconds must be 0\.1 or more; found 0\.01"):
        GuideUse(least_seconds=0.1, most_seconds=0.01)


@pytest.mark.parametrize("share", [-0.1, 1.5, math.nan])
def test_a_share_for_later_crossings_is_a_share(share: float) -> None:
    with pytest.raises(UsageError, match="later_share must"):
        GuideUse(later_share=share)


def test_starts_of_ones_own_leave_a_guide_nothing_to_say_about_moves() -> None:
    with pytest.raises(
        UsageError, match="a guide that is heeded starts 'random' or 'guide'; found 'messages'"
    ):
        GuideUse("messages", weight=0.5)
