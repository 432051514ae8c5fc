"""One session of measuring: every method on the same queries, from the same starts, nothing done twice."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

from beacon.errors import UsageError
from beacon.evaluation.catalog import AnyMethod, Catalog
from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.method import Budget, Method, Network, Query, Run, settings_of_method
from beacon.evaluation.methods import GuidedMethod
from beacon.evaluation.problem import Loaded, Problem
from beacon.evaluation.records import make_record, record_store
from beacon.evaluation.run_file import Facts, load_average, new_session, note_once, open_run, save_run
from beacon.evaluation.settings import EvaluateSettings
from beacon.io.files import make_folder
from beacon.io.folder_lock import folder_lock
from beacon.io.row_store import RowStore
from beacon.query.query_set import QuerySet
from beacon.runner.pool import has_workers, num_threads
from beacon.runner.stop import random_start

OnRun = Callable[[str], None]
OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, how many parts of it are done, and of how many (0: not known)."""
log = logging.getLogger("beacon.evaluation")


@dataclass(frozen=True)
class Plan:
    """What is to be measured on every network."""

    budget: Budget
    seeds: tuple[int, ...] = (0,)
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse a plan without seeds."""
        if not self.seeds or min(self.seeds) < 0:
            raise UsageError(f"seeds must be 0 or more, at least one; found {self.seeds}")


def queries_of(network: Network, queries: QuerySet, seed: int) -> list[Query]:
    """The queries with the starts that belong to a seed."""
    evidences = [queries.evidence(index) for index in range(len(queries))]
    return [
        Query(index, evidence, random_start(network.model, evidence, seed))
        for index, evidence in enumerate(evidences)
    ]


@dataclass(frozen=True)
class Task:
    """A query for one of some methods."""

    method: int
    seed: int
    query: Query


@dataclass(frozen=True, eq=False)
class Measuring:
    """Methods on one network. Workers are sent this."""

    network: Network
    methods: Sequence[Method]
    budget: Budget
    prepared: set[int] = field(default_factory=set)
    """Methods that are ready, here."""

    @property
    def kept(self) -> tuple[object, ...]:
        """Runs refer to nothing here."""
        return ()

    def __reduce__(self) -> tuple[Any, ...]:
        """What is ready here is not so elsewhere."""
        return Measuring, (self.network, self.methods, self.budget)

    def __call__(self, tasks: Sequence[Task]) -> list[Run]:
        """A worker's part: one search at a time."""
        places = {(task.method, task.seed, task.query.index): k for k, task in enumerate(tasks)}
        runs: dict[int, Run] = {}
        for task, run in self.here(tasks, 1):
            runs[places[task.method, task.seed, task.query.index]] = run
        return [runs[k] for k in range(len(tasks))]

    def here(self, tasks: Sequence[Task], threads: int) -> Iterator[tuple[Task, Run]]:
        """The runs of tasks, whose queries each method gets together, as they come."""
        for (method, seed), group in groupby(tasks, lambda task: (task.method, task.seed)):
            queries = [task.query for task in group]
            if method not in self.prepared:
                self.methods[method].prepare(self.network)
                self.prepared.add(method)
            for query, run in self.methods[method].run(self.network, queries, self.budget, seed, threads):
                yield Task(method, seed, query), run

    def by_workers(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Run]]:
        """The same, from other processes."""
        from beacon.runner.workers import spread  # noqa: PLC0415 - most evaluations are done here

        for k, run in spread(self, tasks):
            yield tasks[k], run


def evaluate_network(
    network: Network, queries: QuerySet, methods: Sequence[Method], plan: Plan, store: RowStore, on_run: OnRun
) -> None:
    """Run every method on every query and seed that the store does not hold yet."""
    done = store.keys()
    starts = {seed: queries_of(network, queries, seed) for seed in plan.seeds}
    tasks = [
        Task(k, seed, query)
        for seed in plan.seeds
        for k, method in enumerate(methods)
        for query in starts[seed]
        if (network.name, method.name, seed, query.index) not in done
    ]
    measuring = Measuring(network, methods, plan.budget)
    runs = measuring.by_workers(tasks) if has_workers() else measuring.here(tasks, plan.threads)
    for task, run in runs:
        method = methods[task.method]
        if run.stop != "interrupted":
            store.add(make_record(network, method, task.seed, task.query, run, plan.budget))
        on_run(f"{network.name}, {method.name}")


@dataclass(frozen=True)
class Request:
    """What is to be measured, and how."""

    settings: EvaluateSettings = field(default_factory=EvaluateSettings)
    methods: Sequence[AnyMethod] | None = None
    """In place of those of the settings, which are names."""
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
    def plan(self) -> Plan:
        """Budgets, seeds and threads; one search at a time where seconds count: they share the machine."""
        threads = 1 if self.threads is None and self.settings.seconds else self.threads
        seeds = range(self.seed, self.seed + self.settings.seeds)
        return Plan(self.settings.budget, tuple(seeds), num_threads(threads))

    @property
    def facts(self) -> Facts:
        """What ``run.json`` says of the measurement."""
        plan, settings = self.plan, self.settings
        return {
            "steps": list(plan.budget.steps),
            "seconds": list(plan.budget.seconds),
            "split": settings.split,
            "propagate": settings.propagate,
            "seeds": list(plan.seeds),
            "limit": settings.limit,
            "count": settings.count,
        }


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
        self._request, self._plan, self._folder = request, request.plan, request.folder
        self._on_progress = on_progress or (lambda what, done, total: None)
        self._run = open_run(self._folder, request.facts)
        self._facts = new_session(request.command, self._plan.threads)
        self._run["sessions"].append(self._facts)
        self._run["missing"] = list(missing)
        self._store = record_store(self._folder)
        self._total = 0
        self._began = perf_counter()
        save_run(self._folder, self._run)

    def measure(self, problem: Problem) -> None:
        """All methods on one network; what the folder holds already is not done again."""
        loaded = problem.load(self._request.settings, self._folder)
        network, queries = loaded.network, loaded.queries
        methods = self._methods(problem, loaded)
        self._facts["methods"] = list(dict.fromkeys([*self._facts["methods"], *(m.name for m in methods)]))
        self._note(problem, loaded, methods)
        self._total += self._num_missing(network.name, len(queries), methods)
        with self._store:
            evaluate_network(network, queries, methods, self._plan, self._store, self._count)
        log.info("%s: %d queries done", network.name, len(queries))

    def finish(self) -> Evaluation:
        """Merge the parts and write down how long it took."""
        self._store.merge()
        self._facts["seconds"] = round(perf_counter() - self._began, 3)
        self._facts["load"].append(load_average())
        save_run(self._folder, self._run)
        return Evaluation.of_rows(self._run, self._store.rows(), self._folder)

    def _count(self, what: str) -> None:
        self._facts["runs"] += 1
        self._on_progress(what, self._facts["runs"], self._total)

    def _methods(self, problem: Problem, loaded: Loaded) -> list[Method]:
        settings = self._request.settings
        wanted = settings.methods if self._request.methods is None else self._request.methods
        catalog = Catalog(
            loaded.network.model, problem.guide, settings.lambdas, settings.propagate, self._request.programs
        )
        return catalog.methods(wanted)

    def _num_missing(self, network: str, num_queries: int, methods: list[Method]) -> int:
        names = {method.name for method in methods}
        done: int = sum(key[0] == network and key[1] in names for key in self._store.keys())  # noqa: SIM118
        return num_queries * len(self._plan.seeds) * len(methods) - done

    def _note(self, problem: Problem, loaded: Loaded, methods: list[Method]) -> None:
        """Enter the network and the methods in ``run.json``, before the first result."""
        note_once(self._run, "networks", problem.name, problem.facts(loaded), self._folder)
        for method in methods:
            note_once(self._run, "methods", method.name, self._settings(method), self._folder)
        save_run(self._folder, self._run)

    def _settings(self, method: Method) -> dict[str, Any]:
        """A guide inside the folder is noted as seen from there, so that the folder may be moved."""
        settings = settings_of_method(method)
        if isinstance(method, GuidedMethod) and self._folder is not None and "folder" in method.facts:
            place = os.path.relpath(method.facts["folder"], self._folder)
            if not place.startswith(os.pardir):
                settings["guide"] = {**method.facts, "folder": place}
        return settings


def session_facts(made: Evaluation, out: str, problems: Sequence[Problem]) -> Facts:
    """The last session at a glance: what ``beacon evaluate --json`` prints."""
    session = made.run["sessions"][-1]
    return {
        "out": out,
        "networks": [problem.name for problem in problems],
        "missing": [entry["name"] for entry in made.run["missing"]],
        "methods": session["methods"],
        "runs": session["runs"],
        "seconds": session["seconds"],
    }


def facts_in_words(facts: Facts) -> str:
    """The same in one line."""
    missing, counts = facts["missing"], {"network": len(facts["networks"]), "method": len(facts["methods"])}
    networks, methods = (f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
    absent = f", {len(missing)} missing ({', '.join(missing)})" if missing else ""
    return (
        f"{facts['out']}: {networks}{absent}, {methods}, {facts['runs']:,} new runs in "
        f"{facts['seconds']:.1f} s; see them with: beacon report {facts['out']}"
    )
