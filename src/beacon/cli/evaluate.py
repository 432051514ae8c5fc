"""``beacon evaluate``: methods side by side, on the same queries from the same starts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from beacon.cli import evaluate_options as options
from beacon.cli.console import note, one_line, say, say_json, warn
from beacon.cli.evaluate_networks import Loaded, Problem, load_problem, network_facts, problems_of
from beacon.cli.options import Json, Quiet, Seed
from beacon.cli.outputs import check_named
from beacon.cli.progress import ProgressBar
from beacon.errors import BeaconError, UsageError
from beacon.io.folder_lock import folder_lock

if TYPE_CHECKING:
    from beacon.evaluation.method import Method, Network
    from beacon.evaluation.protocol import Plan
    from beacon.query.query_set import QuerySet

DEFAULT_METHODS = "greedy,gls+,tree,auto"
DEFAULT_STEPS = "500,1000,2000,4000"


def evaluate(
    model_file: options.OptionalModel = None,
    query_file: options.QueryFile = None,
    guide: options.GuideFolder = None,
    *,
    out: options.Out,
    methods: options.Methods = DEFAULT_METHODS,
    solvers: options.Solvers = "",
    daoopt: options.Daoopt = None,
    lambdas: options.Lambdas = "",
    propagate: options.Propagate = False,
    steps: options.StepBudgets = DEFAULT_STEPS,
    seconds: options.SecondBudgets = "",
    time: options.TimeLimit = None,
    drift: options.DriftSteps = 0,
    suite: options.SuiteFile = None,
    data: options.Data = None,
    only: options.Only = "",
    split: options.Split = "test",
    limit: options.Limit = None,
    count: options.Count = 100,
    seeds: options.Seeds = 1,
    seed: Seed = 0,
    threads: options.Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods: same queries, same random starts, budgets in steps and in seconds.

    Results go to DIR as they come; run the same command again after an interruption and it goes on where it
    stopped. Then: beacon report DIR.

    Examples:

      beacon evaluate grid.uai grid.parquet -o run --methods greedy,gls+,auto --seconds 0.01,0.1,1

      beacon evaluate --suite benchmarks/paper.toml --data networks -o run --solvers toulbar2 --time 10
    """
    _check_split(split)
    names = options.listed(methods) + options.listed(solvers)
    plan = _plan(steps, seconds, time, seeds, seed, threads, drift)
    weights = options.listed_numbers("--lambdas", lambdas, float)
    chosen = Chosen(names, weights, propagate, {"daoopt": daoopt} if daoopt else {}, split, limit, count)
    problems, missing = problems_of(model_file, query_file, guide, suite, data, options.listed(only))
    folder = results_folder(out)
    with folder_lock(folder):
        evaluation = Evaluation(folder, plan, chosen, quiet)
        for absent in missing if not quiet else ():
            warn(f"{absent['name']}: no file {absent['file']} in {data}; to be had from {absent['source']}")
        evaluation.run["missing"] = missing
        with ProgressBar("evaluating (Ctrl-C keeps what is done)", 0, quiet) as bar:
            for problem in problems:
                evaluation.measure(problem, bar)
        evaluation.finish()
    if json:
        say_json(_facts(evaluation, [problem.name for problem in problems], missing))
    else:
        say(one_line(_summary(evaluation, len(problems), missing)))


def _check_split(split: str) -> None:
    from beacon.query.query_set import SPLITS  # noqa: PLC0415

    if split not in SPLITS:
        raise UsageError(f"--split must be {', '.join(SPLITS[:-1])} or {SPLITS[-1]}; found {split!r}")


@dataclass(frozen=True)
class Chosen:
    """What the options say about methods and queries."""

    names: list[str]
    weights: tuple[float, ...]
    propagate: bool
    programs: dict[str, str]
    split: str
    limit: int | None
    count: int


class Evaluation:
    """One folder of results, from the first network to the last."""

    def __init__(self, folder: Path, plan: Plan, chosen: Chosen, quiet: bool) -> None:
        from beacon.evaluation.catalog import check_names  # noqa: PLC0415
        from beacon.evaluation.drift_records import drift_store  # noqa: PLC0415
        from beacon.evaluation.records import record_store  # noqa: PLC0415
        from beacon.evaluation.run_file import new_session, open_run, save_run  # noqa: PLC0415

        check_names(chosen.names)
        self.folder, self.plan, self.chosen, self.quiet = folder, plan, chosen, quiet
        self.run = open_run(folder, evaluation_settings(plan, chosen))
        self.session = new_session(" ".join(["beacon", *sys.argv[1:]]), plan.threads)
        self.run["sessions"].append(self.session)
        self.store, self.drift = record_store(folder), drift_store(folder)
        self.measured: dict[str, None] = {}  # methods of this call: the folder may hold more
        self.began = perf_counter()
        save_run(folder, self.run)

    def measure(self, problem: Problem, bar: ProgressBar) -> None:
        """All methods on one network; what the folder holds already is not done again."""
        from beacon.evaluation.protocol import evaluate_network  # noqa: PLC0415

        loaded = load_problem(problem, self.folder, self.chosen)
        network, queries, _ = loaded
        methods = self.methods(network, problem)
        self.measured |= dict.fromkeys(method.name for method in methods)
        self._note(loaded, methods, problem)

        bar.expect(self._num_runs(network, queries, methods))

        def count(what: str) -> None:
            self.session["runs"] += 1
            bar.describe(what)
            bar.advance()

        with self.store, self.drift:
            evaluate_network(network, queries, methods, self.plan, self.store, count)
            self.store.flush()
            if self.plan.drift_steps:
                self._follow(network, queries, methods, count)
        if not self.quiet and not sys.stderr.isatty():
            note(f"{network.name}: {len(queries)} queries done")

    def finish(self) -> None:
        """Merge the parts and write down how long it took."""
        from beacon.evaluation.run_file import load_average, save_run  # noqa: PLC0415

        self.store.merge()
        if self.plan.drift_steps:
            self.drift.merge()
        self.session["seconds"] = round(perf_counter() - self.began, 3)
        self.session["load"].append(load_average())
        save_run(self.folder, self.run)

    def methods(self, network: Network, problem: Problem) -> list[Method]:
        """The methods that are measured on a network."""
        from beacon.evaluation.catalog import make_methods  # noqa: PLC0415

        return make_methods(
            self.chosen.names,
            network.model,
            guide=problem.guide,
            weights=self.chosen.weights,
            propagate=self.chosen.propagate,
            programs=self.chosen.programs,
        )

    def _num_runs(self, network: Network, queries: QuerySet, methods: list[Method]) -> int:
        """Runs that are not done yet, those that follow a search included."""
        walking = [method for method in methods if method.walks] if self.plan.drift_steps else []
        return sum(
            len(queries) * len(self.plan.seeds) * len(some)
            - sum(key[0] == network.name and key[1] in {m.name for m in some} for key in store.keys())  # noqa: SIM118
            for store, some in ((self.store, methods), (self.drift, walking))
        )

    def _note(self, loaded: Loaded, methods: list[Method], problem: Problem) -> None:
        """Enter the network and the methods in ``run.json``, before the first result."""
        from beacon.evaluation.run_file import note_once, save_run  # noqa: PLC0415

        note_once(self.run, "networks", problem.name, network_facts(loaded, problem), self.folder)
        for method in methods:
            note_once(self.run, "methods", method.name, method.settings(), self.folder)
        save_run(self.folder, self.run)

    def _follow(self, network: Network, queries: QuerySet, methods: list[Method], count: Any) -> None:
        from beacon.evaluation.drift_records import DriftTask, best_references  # noqa: PLC0415
        from beacon.evaluation.protocol import follow_network  # noqa: PLC0415

        references = best_references(network.name, self.store.rows())
        follow_network(network, queries, methods, self.plan, DriftTask(self.drift, references), count)


def evaluation_settings(plan: Plan, chosen: Chosen) -> dict[str, Any]:
    """What ``run.json`` says of the measurement."""
    return {
        "steps": list(plan.budget.steps),
        "seconds": list(plan.budget.seconds),
        "split": chosen.split,
        "propagate": chosen.propagate,
        "drift_steps": plan.drift_steps,
        "seeds": list(plan.seeds),
        "limit": chosen.limit,
        "count": chosen.count,
    }


def _plan(
    steps: str, seconds: str, time: float | None, seeds: int, seed: int, threads: int | None, drift: int
) -> Plan:
    from beacon.evaluation.method import Budget  # noqa: PLC0415
    from beacon.evaluation.protocol import Plan  # noqa: PLC0415
    from beacon.runner.search import num_threads  # noqa: PLC0415

    times = options.listed_numbers("--seconds", seconds, float) + (() if time is None else (time,))
    counts = tuple(int(count) for count in options.listed_numbers("--steps", steps, int))
    if threads is None and times:
        threads = 1  # searches side by side would disturb each other's clocks
    return Plan(Budget(counts, times), tuple(range(seed, seed + seeds)), num_threads(threads), drift)


def results_folder(out: str) -> Path:
    """The folder, made if it is not there."""
    check_named(out)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise BeaconError(f"cannot write {out}: it is a file, and a folder is needed")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _facts(evaluation: Evaluation, networks: list[str], missing: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "out": str(evaluation.folder),
        "networks": networks,
        "missing": [entry["name"] for entry in missing],
        "methods": list(evaluation.measured),
        "runs": evaluation.session["runs"],
        "seconds": evaluation.session["seconds"],
    }


def _summary(evaluation: Evaluation, num_networks: int, missing: list[dict[str, str]]) -> str:
    absent = f", {len(missing)} missing ({', '.join(entry['name'] for entry in missing)})" if missing else ""
    networks = "1 network" if num_networks == 1 else f"{num_networks} networks"
    runs = evaluation.session["runs"]
    methods = "1 method" if len(evaluation.measured) == 1 else f"{len(evaluation.measured)} methods"
    return (
        f"{evaluation.folder}: {networks}{absent}, {methods}, "
        f"{runs:,} new runs in {evaluation.session['seconds']:.1f} s; "
        f"see them with: beacon report {evaluation.folder}"
    )
