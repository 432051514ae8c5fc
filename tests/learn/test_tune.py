"""Tuning: ranks against numbers worked out by hand, and guides whose worth is known beforehand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from beacon.errors import BeaconError, UsageError
from beacon.guide.fast_guide import FastGuide
from beacon.guide.solved import SolvedGuide
from beacon.guide.trivial import UniformGuide
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import EvidenceGuide, StateBatch
from beacon.learn.tune import (
    UNGUIDED,
    WEIGHTS,
    Trial,
    TuneSettings,
    Tuning,
    candidate_trials,
    tune,
)
from beacon.model.families import ising_grid
from beacon.query.query_set import QuerySet, sample_queries
from beacon.runner.in_step import GuidedBatch
from beacon.runner.stop import MaxSteps
from beacon.solver import solve, solve_many
from beacon.strategies.auto.profile import Profile
from tests.guide.helpers import random_weights

GRID = ising_grid(8, 8, seed=4)
QUERIES = sample_queries(GRID, 40, splits=(0.2, 0.6, 0.2))
STEPS = TuneSettings((), (40, 80), 16)
PLAIN, LED = Trial("gls+", UNGUIDED), Trial("gls+", GuideUse("random", weight=1.0))


def paper_trials(strategy: str, refresh: int = 1, candidates: str = "improving") -> list[Trial]:
    """The paper's choice: only λ is tuned, from random starts."""
    use = GuideUse.from_dict({"start": "random", "refresh": refresh, "candidates": candidates})
    return [Trial(strategy, replace(use, weight=weight)) for weight in WEIGHTS]


class KnowingGuide(EvidenceGuide):
    """Knows the best assignment of every query, or takes its very opposite for it."""

    def __init__(self, *, lies: bool = False) -> None:
        super().__init__(GRID)
        self.lies = lies

    def probabilities(self, assignments: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[np.float32]:
        """All on one value."""
        best = np.array([self.best(row, mask) for row, mask in zip(assignments, observed, strict=True)])
        scores = np.zeros((len(best), len(self.moves)), dtype=np.float32)
        np.put_along_axis(scores, self.moves.of_assignments(best), np.float32(1), axis=1)
        return scores

    def best(self, row: NDArray[Any], observed: NDArray[np.bool_]) -> NDArray[np.int64]:
        evidence = {int(i): int(row[i]) for i in np.flatnonzero(observed)}
        found = solve(GRID, evidence, stop=MaxSteps(2000)).assignment
        return np.where(observed, row, 1 - found) if self.lies else found


def tuned(guide: Any, trials: list[Trial], settings: TuneSettings = STEPS, **options: Any) -> Tuning:
    return tune(GRID, QUERIES, guide, settings, trials=trials, **options)


@pytest.mark.parametrize("led", [LED, Trial("gls+", GuideUse())])
def test_a_guide_that_knows_all_is_followed(led: Trial) -> None:
    tuning = tuned(KnowingGuide(), [PLAIN, led])
    assert tuning.best == led
    assert tuning.table[0]["rank"] < 0.2


def test_a_guide_that_misleads_is_not_followed() -> None:
    tuning = tuned(KnowingGuide(lies=True), [LED, Trial("gls+", GuideUse("guide", weight=1.0)), PLAIN])
    assert tuning.best == PLAIN
    assert tuning.table[0]["trial"] == "gls+, unguided"


def test_the_better_half_goes_on_to_twice_as_many_queries() -> None:
    heard: list[tuple[int, int]] = []
    trials = [Trial("gls+", GuideUse("random", weight=weight)) for weight in (0.2, 0.5, 0.7, 0.9, 1.0)]
    settings = TuneSettings((), (10,), 20)
    tuning = tuned(KnowingGuide(), trials, settings, on_round=lambda *seen: heard.append(seen))
    assert heard == [(5, 8), (3, 16), (2, 20)]
    assert [row["queries"] for row in tuning.table] == [20, 20, 16, 8, 8]
    assert {row["trial"] for row in tuning.table} == {str(trial) for trial in trials}
    assert str(tuning.best) == tuning.table[0]["trial"]


def test_a_round_on_all_queries_is_the_last() -> None:
    heard: list[tuple[int, int]] = []
    tuned(
        KnowingGuide(),
        [PLAIN, LED],
        TuneSettings((), (10,), 5),
        on_round=lambda *seen: heard.append(seen),
    )
    assert heard == [(2, 5)]


def test_only_validation_queries_are_looked_at() -> None:
    validation = QUERIES.split("validation")
    seen: list[list[bool]] = []

    class Watching(UniformGuide):
        def score(self, states: StateBatch) -> NDArray[np.float32]:
            seen.extend(states.observed.tolist())
            return super().score(states)

    tuned(Watching(GRID), [LED, Trial("gls+", GuideUse())], TuneSettings((), (5,), 100))
    known = [*validation.observed.tolist(), [False] * 64]  # the last: a scoring before the clock runs
    assert all(row in known for row in seen)
    assert all(row in seen for row in validation.observed[:8].tolist())


def test_compared_at_steps_the_same_seed_gives_the_same_outcome_whatever_the_threads() -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    trials = candidate_trials(guide)
    first = tuned(guide, trials, seed=3, threads=1).to_dict()
    assert tuned(guide, trials, seed=3, threads=2).to_dict() == first
    assert tuned(guide, trials, seed=4).to_dict() != first


def test_scores_in_the_table_are_those_of_the_searches() -> None:
    tuning = tuned(KnowingGuide(), [PLAIN], TuneSettings((), (7, 30), 3))
    validation = QUERIES.split("validation")
    evidences = [validation.evidence(k) for k in range(3)]
    results = [solve(GRID, evidence, strategy="gls+", stop=MaxSteps(30)) for evidence in evidences]
    expected = np.mean([result.trace.best_at([7, 30]) for result in results], axis=0)
    assert tuning.table[0]["scores"] == pytest.approx(expected, abs=1e-5)


def test_mean_scores_in_the_table_are_of_queries_that_all_trials_share() -> None:
    trials = [Trial("gls+", GuideUse("random", weight=weight)) for weight in (0.2, 0.5, 1.0)]
    tuning = tuned(KnowingGuide(), trials, TuneSettings((), (10,), 20))
    assert [row["queries"] for row in tuning.table] == [20, 16, 8]
    shared = tuned(KnowingGuide(), trials, TuneSettings((), (10,), 8))
    assert {row["trial"]: row["scores"] for row in tuning.table} == {
        row["trial"]: row["scores"] for row in shared.table
    }


def test_so_they_are_where_no_trial_drops_out() -> None:
    tuning = tuned(KnowingGuide(), [PLAIN, LED], TuneSettings((), (40,), 20))
    assert [row["queries"] for row in tuning.table] == [20, 20]
    evidences = [QUERIES.split("validation").evidence(k) for k in range(20)]
    plain = [solve(GRID, evidence, strategy="gls+", stop=MaxSteps(40)) for evidence in evidences]
    (row,) = [row for row in tuning.table if row["trial"] == str(PLAIN)]
    assert row["scores"] == pytest.approx([np.mean([result.trace.scores[-1] for result in plain])], abs=1e-5)


def test_compared_at_seconds_it_runs_too() -> None:
    tuning = tuned(KnowingGuide(), [PLAIN, LED], TuneSettings((0.001, 0.01), (), 2))
    assert tuning.to_dict()["marks"] == {"seconds": (0.001, 0.01)}
    assert all(np.isfinite(row["scores"]).all() and len(row["scores"]) == 2 for row in tuning.table)


def test_a_guides_start_does_not_count_before_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(0, 10**6, 100))  # asking the guide seems to take 100 seconds
    monkeypatch.setattr("beacon.runner.scored.perf_counter", lambda: next(times))
    tuning = tuned(KnowingGuide(), [Trial("gls+", GuideUse())], TuneSettings((1.0, 100.01), (), 1))
    evidence = QUERIES.split("validation").evidence(0)
    best = solve(GRID, evidence, stop=MaxSteps(2000)).log_score
    assert tuning.table[0]["scores"] == [None, pytest.approx(best, abs=1e-5)]


def test_guides_of_the_evidence_are_not_tried_with_a_refresh() -> None:
    fast, attentive = FastGuide(GRID, random_weights(GRID)), UniformGuide(GRID)
    assert {trial.use.refresh for trial in candidate_trials(fast)} == {0}
    assert {trial.use.refresh for trial in candidate_trials(attentive)} == {0, 50}
    for guide in (fast, attentive):
        trials = candidate_trials(guide)
        assert len(set(trials)) == len(trials)
        assert {Trial("gls+", UNGUIDED), Trial("auto", UNGUIDED), Trial("auto", GuideUse())} <= {*trials}


def test_the_papers_trials_differ_in_their_weight_alone() -> None:
    trials = paper_trials("greedy", candidates="all")
    assert [trial.use.weight for trial in trials] == [0.2, 0.5, 0.7, 1.0]
    assert {(t.strategy, t.use.start, t.use.refresh, t.use.candidates) for t in trials} == {
        ("greedy", "random", 1, "all")
    }


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (PLAIN, "gls+, unguided"),
        (Trial("auto", GuideUse()), "auto, guide's start"),
        (Trial("auto", GuideUse("own", opinions=0, later_share=0.1)), "auto, crossed later"),
        (
            Trial("auto", GuideUse("messages", opinions=0, later_share=0.1, most_seconds=0.5)),
            "auto, messages' start alone, with limits of 0 to 0.5 s, crossed later beyond",
        ),
        (LED, "gls+, λ 1, improving moves, scored once"),
        (
            Trial("gls+", GuideUse("guide", 0.5, "all", 50, restart_from="guide")),
            "gls+, guide's start, λ 0.5, all moves, scored every 50 steps, guide's restarts",
        ),
    ],
)
def test_a_trial_says_what_it_is(trial: Trial, words: str) -> None:
    assert str(trial) == words


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seconds": ()}, "tuning compares at seconds or at steps; give one of the two"),
        ({"steps": (5,)}, "tuning compares at seconds or at steps; give one of the two"),
        ({"seconds": (0.1, 0.0)}, "positive numbers of seconds or steps; found 0"),
        ({"seconds": (float("nan"),)}, "positive numbers of seconds or steps; found nan"),
        ({"seconds": (), "steps": (-5,)}, "positive numbers of seconds or steps; found -5"),
        ({"queries": 0}, "tuning needs at least 1 query; found 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        TuneSettings(**settings)


def test_a_query_set_without_validation_queries_is_refused() -> None:
    queries = sample_queries(GRID, 6, splits=(0.5, 0.0, 0.5))
    with pytest.raises(UsageError, match="tuning needs validation queries; found none among 6: sample more"):
        tune(GRID, queries, UniformGuide(GRID), STEPS)


def test_queries_of_another_model_are_refused() -> None:
    other: QuerySet = sample_queries(ising_grid(3, 3), 5)
    with pytest.raises(BeaconError, match="these queries are for another model"):
        tune(GRID, other, UniformGuide(GRID), STEPS)


def test_no_weight_that_tuning_may_choose_leaves_a_misled_search_behind() -> None:
    validation = QUERIES.split("validation")
    evidences = [validation.evidence(k) for k in range(6)]
    plain = solve_many(GRID, evidences, strategy="gls+", stop=MaxSteps(300))
    for trial in paper_trials("gls+", refresh=0, candidates="all"):
        batch = GuidedBatch(GRID, evidences, KnowingGuide(lies=True), trial.use, trial.strategy)
        batch.run_until(MaxSteps(4 * 300))
        unguided = np.mean([result.log_score for result in plain])
        assert np.mean(batch.batch.best_scores) >= unguided - 1e-6


def test_nothing_but_a_sure_lead_replaces_the_default() -> None:
    even = [Trial("auto", UNGUIDED), Trial("auto", GuideUse("random", weight=0.0, opinions=0), Profile())]
    assert tune(GRID, QUERIES, None, STEPS, trials=even[::-1]).best in even, "both are the mix as it is"
    led = Trial("auto", GuideUse())
    tuning = tuned(KnowingGuide(lies=True), [led, Trial("auto", UNGUIDED)])
    assert tuning.best == Trial("auto", UNGUIDED)
    assert tuning.table[0]["ahead"] == [0.5, 0.5]


def test_a_guide_is_asked_only_with_the_time_limits_at_which_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, led = Trial("auto", UNGUIDED), Trial("auto", GuideUse())

    def scores(self: object, trial: Trial, evidences: list[dict[int, int]]) -> NDArray[np.float64]:
        marks = [0.0, 1.0, 1.0, -1.0] if trial == led else [0.0] * 4
        return np.array([marks] * len(evidences))

    monkeypatch.setattr("beacon.learn.tune._Trials.scores", scores)
    settings = TuneSettings((1.0, 0.001, 0.1, 0.01))  # in whatever order
    best = tuned(KnowingGuide(), [plain, led], settings).best
    assert (best.use.least_seconds, best.use.most_seconds) == pytest.approx((10**-2.5, 10**-0.5))
    assert str(best) == "auto, guide's start, with limits of 0.0032 to 0.32 s"
    monkeypatch.setattr("beacon.learn.tune._Trials.scores", lambda *given: -scores(*given))
    assert tuned(KnowingGuide(), [plain, led], settings).best.use == GuideUse(
        least_seconds=10**-0.5, most_seconds=1.8
    )


def test_what_is_level_with_the_default_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    level = lambda trials, trial, evidences: np.zeros((len(evidences), 2))  # noqa: E731
    monkeypatch.setattr("beacon.learn.tune._Trials.scores", level)
    guide = SolvedGuide(GRID, np.zeros((3, 64), dtype=np.int64))
    for settings in (TuneSettings((0.1, 0.2), (), 2), TuneSettings((), (10, 20), 2)):
        assert not tune(GRID, QUERIES, guide, settings).best.use.asks_guide


def test_guides_with_opinions_are_tried_on_the_mix_alone() -> None:
    guide = SolvedGuide(GRID, np.zeros((3, 64), dtype=np.int64))
    trials = candidate_trials(guide)
    assert {trial.strategy for trial in trials} == {"auto"}
    assert trials[0] == Trial("auto", UNGUIDED)
    assert {trial.use.start for trial in trials[1:]} == {"guide", "messages", "own"}
    assert all(trial.use.later_share > 0 for trial in trials[1:])


@pytest.mark.parametrize(
    ("later_marks", "beyond"),
    [
        ([-1.0, -1.0, 0.0, 1.0], ", crossed later beyond 0.32 s"),
        ([-1.0, -1.0, 1.0, 1.0], ", crossed later beyond"),
        ([-1.0, -1.0, 1.0, -1.0], ""),
    ],
)
def test_later_crossings_follow_where_they_lead(
    later_marks: list[float], beyond: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Trial("auto", GuideUse(later_share=0.1))
    later = Trial("auto", GuideUse("own", opinions=0, later_share=0.1))
    marks = {Trial("auto", UNGUIDED): [0.0] * 4, begun: [1.0, 1.0, -1.0, -1.0], later: later_marks}
    scores = lambda _, trial, evidences: np.array([marks[trial]] * len(evidences))  # noqa: E731
    monkeypatch.setattr("beacon.learn.tune._Trials.scores", scores)
    guide = SolvedGuide(GRID, np.zeros((3, 64), dtype=np.int64))
    settings = TuneSettings((0.001, 0.01, 0.1, 1.0))
    best = tune(GRID, QUERIES, guide, settings, trials=list(marks)).best
    assert str(best) == f"auto, guide's start, with limits of 0.00056 to 0.032 s{beyond}"
    assert GuideUse.from_dict(best.use.to_dict()) == best.use
    assert (best.use.within(100.0) is not None) == bool(beyond)


@pytest.mark.parametrize(
    ("later_marks", "words"),
    [
        ([-1.0, 1.0, 1.0], "auto, crossed later, with limits of 0.032 to 1.8 s, crossed later beyond"),
        ([-1.0, 1.0, -1.0], "auto, crossed later, with limits of 0.032 to 0.32 s"),
    ],
)
def test_later_crossings_go_on_beyond_all_limits_only_if_they_lead_at_the_last(
    later_marks: list[float], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = Trial("auto", GuideUse("own", opinions=0, later_share=0.1))
    marks = {Trial("auto", UNGUIDED): [0.0] * 3, later: later_marks}
    scores = lambda _, trial, evidences: np.array([marks[trial]] * len(evidences))  # noqa: E731
    monkeypatch.setattr("beacon.learn.tune._Trials.scores", scores)
    guide = SolvedGuide(GRID, np.zeros((3, 64), dtype=np.int64))
    best = tune(GRID, QUERIES, guide, TuneSettings((0.01, 0.1, 1.0)), trials=list(marks)).best
    assert str(best) == words
