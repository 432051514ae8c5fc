"""Tuning: how is a guide best used on this model, or how is it best searched without one?

Validation queries decide, in a few short rounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guided.guidance import GuideUse
from beacon.guided.guide import EvidenceGuide, Guide, States
from beacon.learn.choice import Lead, lead_over, leads_at_last, mean_ranks, turn_to, wins_over
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import AnyQueries, QuerySet, as_query_set
from beacon.runner.pool import has_workers
from beacon.runner.runner import Query, Runner
from beacon.runner.search import Trace
from beacon.runner.stop import MaxRuntime, MaxSteps, Stop, processor_time, random_start
from beacon.runner.workers import Workers
from beacon.strategies.auto import OtherWeight
from beacon.strategies.auto.profile import Profile
from beacon.strategies.gls import default_penalty_weight
from beacon.strategies.tree import Tree

WEIGHTS = (0.2, 0.5, 0.7, 1.0)
PENALTY_SCALES = (0.01, 0.1, 0.3, 3.0, 10.0)  # of the weight that is scaled to the model
SHARES = (0.01, 0.2)
FIRST_QUERIES = 8
MANY_OPINIONS = 50
LATER_SHARE = 0.1
REACH = 1.8  # times the longest time limit, or the shortest divided by it: what tuning still speaks of
UNGUIDED = GuideUse(start="random")
Evidences = Sequence[dict[int, int]]
Marks = Callable[[Trace], NDArray[np.float64]]
"""The best score at each mark that a search is for."""


@dataclass(frozen=True)
class Trial:
    """One way to search: a strategy, and what the guide is asked for; without a guide, a profile."""

    strategy: str
    use: GuideUse
    profile: Profile | None = None

    def __str__(self) -> str:
        """In a few words, for tables."""
        use = self.use
        if self.profile is not None:
            return str(self.profile)
        if not use.asks_guide:
            return f"{self.strategy}, unguided"
        crossed = {0: " alone", GuideUse.opinions: ""}.get(use.opinions, f" crossed with {use.opinions}")
        begun = {"guide": "guide's", "messages": "messages'", "constructed": "constructed", "own": "own"}
        said = list[str]()
        if use.start != "random":
            said = ["crossed later" if self.only_crosses_later else f"{begun[use.start]} start{crossed}"]
        if use.weight:
            every = f"every {use.refresh} steps" if use.refresh else "once"
            said.append(f"λ {use.weight:g}, {use.candidates} moves, scored {every}")
        if use.restart_from == "guide":
            said.append("guide's restarts")
        if use.least_seconds > 0 or use.most_seconds < math.inf:
            said.append(f"with limits of {use.least_seconds:.2g} to {use.most_seconds:.2g} s")
            since = f" {use.later_seconds:.2g} s" if use.later_seconds > use.most_seconds else ""
            said += (
                [f"crossed later beyond{since}"]
                if use.later_share > 0 and use.later_seconds < math.inf
                else []
            )
        return ", ".join([self.strategy, *said])

    @property
    def only_crosses_later(self) -> bool:
        """Is the guide asked for later crossings and nothing else?"""
        return self.use.start == "own" and not self.use.opinions and self.use.later_share > 0

    def may_give_way(self, default: Trial | None) -> bool:
        """With some time limits, can the guide be left out, so that the default is what remains?"""
        if default is None or self.strategy != default.strategy:
            return False
        return self.use.asks_guide and self.profile is default.profile is None


Scores = Callable[[Sequence[Trial], Evidences], NDArray[np.float64]]


@dataclass(frozen=True)
class TuneSettings:
    """What is compared, and for how long: at ``seconds``, or with ``seconds=()`` at ``steps``.

    >>> import beacon
    >>> beacon.TuneSettings(seconds=(), steps=(100, 1_000)).steps  # the same on every machine
    (100, 1000)
    """

    seconds: tuple[float, ...] = (0.003, 0.01, 0.03, 0.1)
    """Time limits with which searches are compared, scoring included."""
    steps: tuple[int, ...] = ()
    """Compare after these numbers of steps, not at times: the outcome is the same on every machine."""
    queries: int = 64
    """The most validation queries to compare on."""

    def __post_init__(self) -> None:
        if bool(self.seconds) == bool(self.steps):
            raise UsageError("tuning compares at seconds or at steps; give one of the two")
        object.__setattr__(self, "seconds", tuple(sorted(self.seconds)))
        for mark in (*self.seconds, *self.steps):
            if not 0 < mark < math.inf:
                raise UsageError(f"tuning compares at positive numbers of seconds or steps; found {mark:g}")
        if self.queries < 1:
            raise UsageError(f"tuning needs at least 1 query; found {self.queries}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TuneSettings:
        """From what was given by name; steps take the place of the default times."""
        return cls(**({"seconds": ()} if given.get("steps") else {}) | dict(given))

    @property
    def stops(self) -> list[tuple[Stop, Marks]]:
        """The searches of a trial, and what is read from the trace of each.

        One for each time limit: a search with little time plans otherwise than one with much.
        """
        if self.steps:
            return [(MaxSteps(max(self.steps)), lambda trace: trace.best_at(self.steps))]
        return [(MaxRuntime(seconds), partial(_known_after, seconds)) for seconds in self.seconds]

    def between(self, use: GuideUse, first: int, last: int, turn: int | None) -> GuideUse:
        """The same use for time limits from one mark to another, and later crossings from one on; None: none.

        Between two marks it changes halfway. Of limits far from all marks nothing is known; only crossings
        that lead at the last one go on, for they take less where they gain little.
        """
        marks = (self.seconds[0] / REACH**2, *self.seconds, self.seconds[-1] * REACH**2)
        least, most = (math.sqrt(marks[k] * marks[k + 1]) for k in (first, last + 1))
        later = math.inf if turn is None else math.sqrt(marks[turn] * marks[turn + 1])
        later = later if use.later_share and later > most else 0.0
        return replace(use, least_seconds=least, most_seconds=most, later_seconds=later)


def _known_after(seconds: float, trace: Trace) -> NDArray[np.float64]:
    """The best score known at the end of a time limit; -inf: none."""
    known = trace.best_after([seconds])
    return known if trace.seconds[0] <= seconds else np.full_like(known, -np.inf)


@dataclass(frozen=True)
class Tuning:
    """The outcome of tuning."""

    best: Trial
    table: tuple[dict[str, Any], ...]
    """A row for each trial, the best first: ``trial``, ``queries`` it was compared on, its mean ``rank``
    among the trials of its last round (0: always best), with a default how often it is ``ahead`` of that at
    each mark (ties half), and its mean scores there on the queries that all trials were run on (None: not
    every query had one)."""
    settings: TuneSettings

    def to_dict(self) -> dict[str, Any]:
        """What is stored in the guide."""
        marks = (
            {"seconds": self.settings.seconds} if self.settings.seconds else {"steps": self.settings.steps}
        )
        profile = self.best.profile
        return {
            "strategy": self.best.strategy,
            "use": self.best.use.to_dict(),
            **({} if profile is None else {"profile": profile.to_dict()}),
            "marks": marks,
            "table": list(self.table),
        }


def candidate_trials(guide: Guide, strategies: Sequence[str] = ("gls+", "auto")) -> list[Trial]:
    """What is worth trying with a guide of this kind."""
    starts = [UNGUIDED, GuideUse()]
    if isinstance(guide, EvidenceGuide) and guide.has_opinions:  # few: chance favours the best of many
        starts += [GuideUse(opinions=MANY_OPINIONS), GuideUse("own", opinions=0)]
        starts += [GuideUse("messages", opinions=count) for count in (0, MANY_OPINIONS)]
        return [Trial("auto", replace(use, later_share=LATER_SHARE * use.asks_guide)) for use in starts]
    trials = [Trial(strategy, use) for strategy in strategies for use in starts]
    if "gls+" in strategies:
        intervals = (0,) if isinstance(guide, EvidenceGuide) else (0, 50)
        uses = [GuideUse(restart_from="guide")]
        uses += [GuideUse(start="guide", weight=weight) for weight in WEIGHTS]
        uses += [
            GuideUse(start="random", weight=weight, refresh=refresh)
            for weight in (0.5, 1.0)
            for refresh in intervals
        ]
        trials += [Trial("gls+", use) for use in uses]
    return trials


def profile_trials(model: GraphicalModel) -> list[Trial]:
    """What is worth trying without a guide: the default, and what differs from it in one respect or two."""
    scale = default_penalty_weight(compile_model(model))
    weights = [scale * factor for factor in PENALTY_SCALES]
    profiles = [Profile(), *(Profile(start=start) for start in ("constructed", "random"))]
    profiles += [Profile(first=Tree.name), Profile(first=OtherWeight.name)]
    profiles += [Profile(weight) for weight in weights] + [Profile(min_share=share) for share in SHARES]
    profiles += [Profile(weight, min_share=SHARES[0]) for weight in weights]
    return [Trial("auto", UNGUIDED, profile) for profile in profiles]


def tune(
    model: GraphicalModel,
    queries: AnyQueries,
    guide: Guide | None = None,
    settings: TuneSettings | None = None,
    *,
    trials: Sequence[Trial] | None = None,
    seed: int = 0,
    propagate: bool = True,
    threads: int | None = 1,
    on_round: Callable[[int, int], None] | None = None,
) -> Tuning:
    """Find the trial that ranks best on validation queries; without a guide, the profile that does.

    All trials are run on a few queries, the better half of them on twice as many, and so on; ``on_round``
    hears of each round's number of trials and queries. Compared at steps, the outcome is the same on every
    machine, and on the workers that ``joblib.parallel_config`` names.

    >>> import beacon
    >>> from beacon.guide.trivial import UniformGuide
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> queries = beacon.sample_queries(model, count=20)
    >>> settings = beacon.TuneSettings(seconds=(), steps=(10, 100), queries=2)
    >>> beacon.tune(model, queries, UniformGuide(model), settings).best.strategy in {"gls+", "auto"}
    True
    """
    settings = settings or TuneSettings()
    evidences = _validation_evidences(as_query_set(model, queries), settings.queries)
    left = list(trials or (profile_trials(model) if guide is None else candidate_trials(guide)))
    runner = _Trials(model, guide, tuple(left), settings, seed, propagate, threads)
    with runner.rounds() as scores_of:
        return _best(left, evidences, scores_of, settings, on_round)


def _best(
    left: list[Trial],
    evidences: Evidences,
    scores_of: Scores,
    settings: TuneSettings,
    on_round: Callable[[int, int], None] | None,
) -> Tuning:
    """Round after round, the better half stays and is tried on more queries.

    So do the default, and later crossings, which may follow whatever is best.
    """
    rows: list[_Row] = []
    default = _default_of(left)
    count = min(FIRST_QUERIES, len(evidences))
    known = np.empty((len(left), 0, 0))
    while True:
        if on_round is not None:
            on_round(len(left), count)
        new = scores_of(left, evidences[known.shape[1] : count])
        known = new if not known.size else np.concatenate([known, new], axis=1)
        ranks, leads = mean_ranks(known), _leads(left, known, default, settings)
        order = sorted(range(len(left)), key=lambda k: (-leads[k].worth, left[k] != default, ranks[k]))
        base = None if default is None else known[left.index(default)]
        if count == len(evidences) or len(left) == 1:
            rows = [_Row(left[k], ranks[k], known[k], base) for k in order] + rows
            shared, first = min(len(row.scores) for row in rows), order[0]
            table = tuple(row.to_dict(shared) for row in rows)
            scores = dict(zip(left, known, strict=True))
            best = _in_its_time(left[first], leads[first], default, scores, settings)
            return Tuning(best, table, settings)
        stays = [trial == default or trial.only_crosses_later for trial in left]
        kept = [k for place, k in enumerate(order) if 2 * place < len(left) or stays[k]]
        rows = [_Row(left[k], ranks[k], known[k], base) for k in order if k not in kept] + rows
        left, known = [left[k] for k in kept], known[kept]
        count = min(2 * count, len(evidences))


def _default_of(trials: Sequence[Trial]) -> Trial | None:
    """What is left only for something better: the mix as it is, else the first search without a guide."""
    unguided = [trial for trial in trials if not trial.use.asks_guide]
    plain = [trial for trial in unguided if trial.strategy == "auto" and trial.profile in {None, Profile()}]
    return next(iter(plain + unguided), None)


def _leads(
    left: Sequence[Trial], scores: NDArray[np.float64], default: Trial | None, settings: TuneSettings
) -> list[Lead]:
    """How far each trial is ahead of the default; without one, of the trial of middling rank."""
    if default is None:
        return [Lead(0.5 - rank, 0, 0) for rank in mean_ranks(scores)]
    base = scores[left.index(default)]
    by_time = [bool(settings.seconds) and trial.may_give_way(default) for trial in left]
    return [lead_over(row, base, by_mark=by) for row, by in zip(scores, by_time, strict=True)]


def _in_its_time(
    trial: Trial,
    lead: Lead,
    default: Trial | None,
    scores: Mapping[Trial, NDArray[np.float64]],
    settings: TuneSettings,
) -> Trial:
    """The trial where it leads, if with other time limits the default can take its place.

    With longer ones it may be later crossings that lead.
    """
    if default is None or default == trial or not (settings.seconds and trial.may_give_way(default)):
        return trial
    last, turn = lead.last, len(settings.seconds)
    later = next((other for other in scores if other.only_crosses_later), None)
    if later is not None and later != trial:
        last, turn = turn_to(scores[trial], scores[later], scores[default], lead.first)
    goes_on = later is not None and leads_at_last(scores[later], scores[default])
    return replace(trial, use=settings.between(trial.use, lead.first, last, turn if goes_on else None))


def _validation_evidences(queries: QuerySet, most: int) -> list[dict[int, int]]:
    validation = queries.split("validation")
    if not len(validation):
        raise UsageError(f"tuning needs validation queries; found none among {len(queries):,}: sample more")
    return [validation.evidence(query) for query in range(min(most, len(validation)))]


@dataclass(frozen=True, eq=False)
class _Trials:
    """Runs trials. Workers are sent this."""

    model: GraphicalModel
    guide: Guide | None
    trials: Sequence[Trial]
    settings: TuneSettings
    seed: int
    propagate: bool
    threads: int | None

    @property
    def kept(self) -> tuple[object, ...]:
        """Scores refer to nothing here."""
        return ()

    @cached_property
    def runners(self) -> dict[Trial, Runner]:
        """What runs each trial: all is loaded that no trial is to be charged with."""
        sizes = (1, self.model.num_variables)
        if self.guide is not None:
            self.guide.score(States(np.zeros(sizes, np.int64), np.zeros(sizes, np.bool_)))
        return {trial: self._runner(trial) for trial in self.trials}

    def __getstate__(self) -> dict[str, Any]:
        """What is ready here is not so elsewhere; a worker does one thing at a time."""
        return {name: value for name, value in vars(self).items() if name != "runners"} | {"threads": 1}

    def __call__(self, tasks: Sequence[tuple[Trial, dict[int, int]]]) -> list[NDArray[np.float64]]:
        """The scores of queries, each tried in some way."""
        return [self.scores(trial, [evidence])[0] for trial, evidence in tasks]

    @contextmanager
    def rounds(self) -> Iterator[Scores]:
        """Gives [trials, queries, marks] the best scores, whoever finds them."""
        if not has_workers():
            yield self._scores_here
            return
        with Workers(self) as workers:

            def scores(trials: Sequence[Trial], evidences: Evidences) -> NDArray[np.float64]:
                tasks = [(trial, evidence) for trial in trials for evidence in evidences]
                rows = [row for _, row in sorted(workers.results(tasks), key=itemgetter(0))]
                return np.array(rows).reshape(len(trials), len(evidences), -1)

            yield scores

    def _scores_here(self, trials: Sequence[Trial], evidences: Evidences) -> NDArray[np.float64]:
        """The same in this process; by the clock trials take turns, as what else runs here changes."""
        if self.settings.steps or (self.threads or 0) != 1:
            return np.array([self.scores(trial, evidences) for trial in trials])
        return np.array([[self.scores(t, [e])[0] for t in trials] for e in evidences]).swapaxes(0, 1)

    def scores(self, trial: Trial, evidences: Evidences) -> NDArray[np.float64]:
        """[queries, marks] the best scores of a trial.

        A guide that looks at states is asked at the same random assignment in all trials. Without a guide a
        search begins as its strategy says: that is what a guide has to beat.
        """
        queries = [
            Query(evidence, random_start(self.model, evidence, self.seed), yields=True)
            if self._needs_start(trial.use)
            else Query(evidence)
            for evidence in evidences
        ]
        runner = self.runners[trial]
        with processor_time() if self.threads == 1 else nullcontext():
            columns = [
                [read(trace) for trace in _traces(runner, queries, stop)]
                for stop, read in self.settings.stops
            ]
        return np.concatenate(columns, axis=1)

    def _needs_start(self, use: GuideUse) -> bool:
        """Does a search begin, or is the guide asked, at an assignment that is given?"""
        if not use.asks_guide or use.is_own_start:
            return False
        return use.start == "random" or not isinstance(self.guide, EvidenceGuide)

    def _runner(self, trial: Trial) -> Runner:
        return Runner(
            self.model,
            trial.strategy if trial.profile is None else trial.profile.strategy(),
            self.guide,
            trial.use,
            seed=self.seed,
            propagate=self.propagate,
            threads=self.threads,
        )


def _traces(runner: Runner, queries: Sequence[Query], stop: Stop) -> list[Trace]:
    """The traces of some searches, in the order of the queries."""
    runs = runner.run(queries, [stop], lambda _, outcome: outcome)
    outcomes = [outcome for _, outcome in sorted(runs, key=itemgetter(0))]
    if runner.guide is not None and not runner.begins_itself:  # they know when each start was there
        return [outcome.trace for outcome in outcomes]
    return [outcome.trace.not_before(outcome.setup_seconds) for outcome in outcomes]


@dataclass(frozen=True, eq=False)
class _Row:
    """What a trial came to in its last round."""

    trial: Trial
    rank: float
    scores: NDArray[np.float64]
    """[queries, marks]"""
    default: NDArray[np.float64] | None
    """The default's, on the same queries."""

    def to_dict(self, shared: int) -> dict[str, Any]:
        """A row of the table; mean scores are of the queries that all trials share."""
        means = self.scores[:shared].mean(axis=0)
        ahead = None if self.default is None else wins_over(self.scores, self.default).mean(axis=0).round(4)
        return {
            "trial": str(self.trial),
            "queries": len(self.scores),
            "rank": round(float(self.rank), 4),
            **({} if ahead is None else {"ahead": ahead.tolist()}),
            "scores": [round(float(mean), 6) if math.isfinite(mean) else None for mean in means],
        }
