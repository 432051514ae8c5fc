"""``beacon.evaluate``: methods side by side, on the same queries from the same starts, nothing done twice."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from beacon.errors import UsageError, check_seed
from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.method import Budget, GuidedMethod, Method, Network, Query, Run
from beacon.evaluation.problem import Loaded, Problem, problems_of_suite
from beacon.evaluation.records import Record, make_record, record_store
from beacon.evaluation.run_file import Facts, load_average, new_session, note_once, open_run, save_run
from beacon.evaluation.settings import AnyGuide, AnyMethod, Catalog, EvaluateSettings
from beacon.io.files import make_folder
from beacon.io.row_store import RowStore
from beacon.io.work_folder import folder_lock
from beacon.model.evidence import Queries, check_is_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet
from beacon.runner.pool import has_workers, num_threads
from beacon.runner.stop import random_start
from beacon.runner.workers import spread

AnyPath = str | os.PathLike[str]
OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, how many parts of it are done, and of how many (0: not known)."""
log = logging.getLogger("beacon.evaluation")


def queries_of(network: Network, queries: QuerySet, seed: int) -> list[Query]:
    """The queries with the starts that belong to a seed."""
    evidences = map(queries.evidence, range(len(queries)))
    return [Query(k, given, random_start(network.model, given, seed)) for k, given in enumerate(evidences)]


class Task(NamedTuple):
    """A query for one of some methods."""

    method: int
    seed: int
    query: Query


@dataclass(frozen=True, eq=False)
class Measuring:
    """Methods on one network; this is sent to workers."""

    network: Network
    methods: Sequence[Method]
    budget: Budget
    prepared: set[int] = field(default_factory=set)
    """Methods that are ready, here."""

    @property
    def kept(self) -> tuple[object, ...]:
        """Nothing: runs are sent back whole."""
        return ()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process has prepared nothing yet."""
        return Measuring, (self.network, self.methods, self.budget)

    def __call__(self, tasks: Sequence[Task]) -> list[Run]:
        """A worker's part: one search at a time."""
        runs = dict(self.here(tasks, 1))
        return [runs[k] for k in range(len(tasks))]

    def here(self, tasks: Sequence[Task], threads: int) -> Iterator[tuple[int, Run]]:
        """The number of each task and its run, as they come; each method gets its queries together."""
        for (method, seed), group in groupby(range(len(tasks)), lambda k: (tasks[k].method, tasks[k].seed)):
            places = {tasks[k].query.index: k for k in group}
            queries = [tasks[k].query for k in places.values()]
            if method not in self.prepared:
                self.methods[method].prepare(self.network)
                self.prepared.add(method)
            for query, run in self.methods[method].run(self.network, queries, self.budget, seed, threads):
                yield places[query.index], run


def evaluate_network(
    network: Network,
    queries: QuerySet,
    methods: Sequence[Method],
    budget: Budget,
    store: RowStore,
    *,
    seeds: Sequence[int] = (0,),
    threads: int = 1,
    on_run: Callable[[str], None] = lambda what: None,
) -> None:
    """Run every method on every query and seed that the store does not hold yet."""
    done = store.keys()
    starts = {seed: queries_of(network, queries, seed) for seed in seeds}
    tasks = [
        Task(k, seed, query)
        for seed in seeds
        for k, method in enumerate(methods)
        for query in starts[seed]
        if (network.name, method.name, seed, query.index) not in done
    ]
    measuring = Measuring(network, methods, budget)
    for k, run in spread(measuring, tasks) if has_workers() else measuring.here(tasks, threads):
        task, method = tasks[k], methods[tasks[k].method]
        if run.stop != "interrupted":
            store.add(make_record(network, method, task.seed, task.query, run, budget))
        on_run(f"{network.name}, {method.name}")


@dataclass(frozen=True)
class Request:
    """What is to be measured, and how."""

    settings: EvaluateSettings = field(default_factory=EvaluateSettings)
    methods: Sequence[AnyMethod] | None = None
    """Used instead of those of the settings, which are names."""
    seed: int = 0
    threads: int | None = None
    """Queries searched at once; one per core unless given, and 1 where seconds are measured."""
    folder: Path | None = None
    """Where results go; None: they stay in memory."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Where the programs of other solvers are, by the solver's name."""
    command: str = "beacon.evaluate"
    """What made the results, for the record."""

    @property
    def num_threads(self) -> int:
        """One search at a time where seconds count: they share the machine."""
        return num_threads(1 if self.threads is None and self.settings.seconds else self.threads)

    @property
    def facts(self) -> Facts:
        """What ``run.json`` says of the measurement."""
        settings, budget = self.settings, self.settings.budget
        return {
            "steps": list(budget.steps),
            "seconds": list(budget.seconds),
            "split": settings.split,
            "propagate": settings.propagate,
            "seeds": list(range(self.seed, self.seed + settings.seeds)),
            "limit": settings.limit,
            "count": settings.count,
        }

    def methods_for(self, network: Network, guide: AnyGuide | None) -> list[Method]:
        """The methods on one network."""
        settings = self.settings
        catalog = Catalog(network.model, guide, settings.lambdas, settings.propagate, self.programs)
        return catalog.methods(settings.methods if self.methods is None else self.methods)


def measure(
    problems: Sequence[Problem],
    request: Request,
    missing: Sequence[dict[str, str]] = (),
    on_progress: OnProgress | None = None,
    *,
    locked: bool = False,
) -> Evaluation:
    """Measure every method on every network; ``locked``: the caller holds the folder already."""
    folder = None if request.folder is None else make_folder(request.folder)
    with nullcontext() if folder is None or locked else folder_lock(folder):
        session = Session(request, missing, on_progress)
        for problem in problems:
            session.measure(problem)
        return session.finish()


class Session:
    """The results of a folder, from the first network to the last."""

    def __init__(
        self, request: Request, missing: Sequence[dict[str, str]], on_progress: OnProgress | None
    ) -> None:
        self._request, self._folder, self._on_progress = request, request.folder, on_progress
        self._run = open_run(self._folder, request.facts)
        self._facts = new_session(request.command, request.num_threads)
        self._run["sessions"].append(self._facts)
        self._run["missing"] = list(missing)
        self._store = record_store(self._folder)
        self._total = 0
        self._began = perf_counter()

    def measure(self, problem: Problem) -> None:
        """All methods on one network; what the folder holds already is not done again."""
        request = self._request
        loaded = problem.load(request.settings, self._folder)
        network, queries = loaded.network, loaded.queries
        methods = request.methods_for(network, problem.guide)
        self._note(problem, loaded, methods)
        names, seeds = {method.name for method in methods}, self._run["settings"]["seeds"]
        done = sum(key[0] == network.name and key[1] in names for key in self._store.keys())  # noqa: SIM118
        self._total += len(queries) * len(seeds) * len(methods) - done
        with self._store:
            evaluate_network(
                *(network, queries, methods, request.settings.budget, self._store),
                seeds=seeds,
                threads=request.num_threads,
                on_run=self._count,
            )
        log.info("%s: %d queries done", network.name, len(queries))

    def finish(self) -> Evaluation:
        """Merge the parts and write down how long it took."""
        self._store.merge()
        self._facts["seconds"] = round(perf_counter() - self._began, 3)
        self._facts["load"].append(load_average())
        save_run(self._folder, self._run)
        return Evaluation(self._run, [Record(**row) for row in self._store.rows()], self._folder)

    def _count(self, what: str) -> None:
        self._facts["runs"] += 1
        if self._on_progress is not None:
            self._on_progress(what, self._facts["runs"], self._total)

    def _note(self, problem: Problem, loaded: Loaded, methods: list[Method]) -> None:
        """Enter the network and the methods in ``run.json``, before the first result and after all checks."""
        note_once(self._run, "networks", problem.name, problem.facts(loaded), self._folder)
        for method in methods:
            note_once(self._run, "methods", method.name, self._settings(method), self._folder)
        names = [method.name for method in methods]
        self._facts["methods"] = list(dict.fromkeys([*self._facts["methods"], *names]))
        loaded.keep(self._folder)
        save_run(self._folder, self._run)

    def _settings(self, method: Method) -> dict[str, Any]:
        """A guide inside the folder is noted as seen from there, so that the folder may be moved."""
        settings: dict[str, Any] = method.settings() if hasattr(method, "settings") else {}
        if isinstance(method, GuidedMethod) and self._folder is not None and "folder" in method.facts:
            place = os.path.relpath(method.facts["folder"], self._folder)
            if not place.startswith(os.pardir):
                settings["guide"] = {**method.facts, "folder": place}
        return settings


def evaluate(
    model: GraphicalModel,
    queries: Queries | QuerySet | AnyPath | None = None,
    methods: Sequence[AnyMethod] | None = None,
    *,
    steps: Sequence[int] | None = None,
    seconds: Sequence[float] | None = None,
    guide: AnyGuide | None = None,
    lambdas: Sequence[float] | None = None,
    propagate: bool | None = None,
    split: str | None = None,
    limit: int | None = None,
    count: int | None = None,
    seeds: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    folder: AnyPath | None = None,
    name: str = "model",
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Measure methods on the same queries from the same random starts.

    What is None has the default of :class:`beacon.EvaluateSettings`.

    Parameters
    ----------
    queries
        A query set, or whatever :meth:`beacon.QuerySet.load` reads, whose ``split`` is used; or whatever
        :func:`beacon.solve_many` takes, all of it. None: ``count`` queries are sampled.
    methods
        Names ("gls+", "beacon", "toulbar2", …), strategies, solvers of :func:`beacon.find_peer`, or objects
        with the methods of :class:`beacon.evaluation.method.Method`.
    steps, seconds
        Budgets. A method runs once on a query until the largest is used up; scores at smaller ones are read
        from its trace. Given ``seconds`` alone, there are no budgets in steps.
    guide
        A guide or its folder, for the methods that need one.
    folder
        Keep results there as they come; the same call goes on where an interrupted one stopped. Without one
        they stay in memory.
    name
        What the model is called in tables.
    on_progress
        Called after each search with what is done, the number of searches done, and of how many.

    Examples
    --------
    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(5, 5)
    >>> queries = beacon.sample_queries(model, count=20)
    >>> evaluation = beacon.evaluate(model, queries, ["greedy", beacon.GlsPlus()], steps=[10, 100])
    >>> evaluation.methods, evaluation.scores("model", "gls+", "step", 100).shape
    (['greedy', 'gls+'], (1, 2))
    """
    check_is_model(model)
    check_seed(seed)
    if queries is not None and count is not None:
        raise UsageError("count is for sampled queries; to take only the first N of the others give limit=N")
    if steps is None and seconds is not None:
        steps = ()
    names = methods if methods is not None and all(isinstance(method, str) for method in methods) else None
    given: dict[str, Any] = {"methods": names, "lambdas": lambdas, "steps": steps, "seconds": seconds}
    given = {key: None if values is None else tuple(values) for key, values in given.items()}
    given |= {"propagate": propagate, "split": split, "limit": limit, "count": count, "seeds": seeds}
    settings = EvaluateSettings(**{key: value for key, value in given.items() if value is not None})
    request = Request(settings, methods, seed, threads, None if folder is None else Path(folder))
    asked = Path(queries) if isinstance(queries, str | os.PathLike) else queries
    return measure([Problem(name, model, asked, guide)], request, on_progress=on_progress)


def evaluate_suite(
    suite: AnyPath,
    folder: AnyPath,
    settings: EvaluateSettings | None = None,
    *,
    data: AnyPath | None = None,
    only: Sequence[str] = (),
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Evaluation:
    """Measure methods on the networks of a suite, a TOML file that lists them.

    Their files are looked for in ``data`` (default: beside the suite), with ``NAME.parquet`` (queries) and
    ``NAME.guide`` beside them if there are any. ``only`` names some of the networks.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> from pathlib import Path
    >>> beacon.write_model(ising_grid(4, 4), "grid.uai")
    >>> lines = ["[[network]]", "name = 'grid'", "file = 'grid.uai'"]
    >>> _ = Path("suite.toml").write_text("\\n".join(lines))
    >>> settings = beacon.EvaluateSettings(methods=("greedy",), steps=(20,), count=3)
    >>> beacon.evaluate_suite("suite.toml", "results", settings).networks
    ['grid']
    """
    problems, missing = problems_of_suite(Path(suite), None if data is None else Path(data), only)
    request = Request(settings or EvaluateSettings(), None, seed, threads, Path(folder))
    return measure(problems, request, missing, on_progress)
