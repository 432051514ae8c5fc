"""The stages of a run: queries, references and trajectories, training, tuning, evaluation, report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beacon.cli.collect import collect_into, load_teacher
from beacon.cli.evaluate import Chosen, Evaluation, evaluation_settings
from beacon.cli.evaluate_networks import Problem, network_name
from beacon.cli.kernels import load_guided_kernels, load_kernels
from beacon.cli.progress import ProgressBar
from beacon.cli.queries import load_sampling, summary_of
from beacon.cli.train import UNFINISHED, epoch_line, most_epochs
from beacon.evaluation.guided_method import GuidedMethod
from beacon.evaluation.protocol import Plan
from beacon.learn.trajectories import Trajectories
from beacon.pipeline.pipeline import Job, Stage
from beacon.strategies.strategy import STRATEGIES, make_strategy

if TYPE_CHECKING:
    from beacon.evaluation.method import Method, Network
    from beacon.evaluation.run_file import Facts
    from beacon.guide.attention import AttentionGuide
    from beacon.guide.fast_guide import FastGuide

QUERIES, TRAJECTORIES, GUIDE = "queries.parquet", "trajectories.parquet", "guide"
EVALUATION, REPORT = "evaluation.parquet", "report.html"


def sample(job: Job) -> str:
    """Queries that the model itself may produce."""
    from beacon.query.query_set import sample_queries  # noqa: PLC0415

    load_sampling(job.model, job.quiet)
    settings = job.settings
    with ProgressBar(f"sampling {settings.count:,} queries", None, job.quiet):
        made = sample_queries(job.model, settings.count, job.seed, **vars(settings.queries))
        made.save(job.folder / QUERIES)
    return summary_of(made)


def collect(job: Job) -> str:
    """A reference for every query, and walks toward it."""
    settings = job.settings.collect
    load_teacher(settings.teacher.method, job.quiet)
    target = str(job.folder / TRAJECTORIES)
    made = collect_into(target, job.quiet, job.model, job.queries, settings, seed=job.seed, jobs=job.jobs)
    proved = sum("proved optimal" in source and "not proved" not in source for source in made.sources)
    runs, steps = made.flip_variables.shape[1:]
    walks = f"{runs * len(made):,} walks of {steps} steps"
    return f"{len(made):,} references ({proved:,} proved optimal), {walks if runs else 'no walks'}"


def train(job: Job) -> str:
    """A guide, from the training queries."""
    trajectories = Trajectories.load(job.folder / TRAJECTORIES, job.model, job.queries)
    most = most_epochs(job.settings.train)
    with ProgressBar(
        f"training, preset {job.settings.preset}, at most {most} epochs", most, job.quiet
    ) as bar:
        guide = _trained(job, trajectories, lambda record: _show_epoch(bar, record))
    facts = guide.facts
    if not facts.get("is_complete", True):
        raise KeyboardInterrupt  # what there is lies in the state file
    guide.save(job.folder / GUIDE)
    best = next(record for record in facts["history"] if record["epoch"] == facts["best_epoch"])
    return (
        f"preset {job.settings.preset}, epoch {best['epoch']} of {len(facts['history'])}, "
        f"validation loss {best['validation_loss']:.4f}"
    )


def _trained(job: Job, trajectories: Trajectories, on_epoch: Any) -> FastGuide | AttentionGuide:
    return job.settings.train.train(
        job.model,
        job.queries,
        trajectories,
        seed=job.seed,
        device=job.device,
        state_file=job.folder / f"{GUIDE}{UNFINISHED}",
        on_epoch=on_epoch,
    )


def _show_epoch(bar: ProgressBar, record: dict[str, Any]) -> None:
    bar.describe(epoch_line(record))
    bar.reach(record["epoch"])


def tune(job: Job) -> str:
    """How the guide is best used, by the validation queries."""
    from beacon.guide.checkpoint import load_guide, update_tuned  # noqa: PLC0415
    from beacon.learn.tune import tune as tune_guide  # noqa: PLC0415

    load_guided_kernels(job.quiet)
    guide = load_guide(job.folder / GUIDE, job.model)
    with ProgressBar("tuning", None, job.quiet) as bar:
        tuning = tune_guide(
            job.model,
            job.queries,
            guide,
            job.settings.tune,
            seed=job.seed,
            on_round=lambda trials, count: bar.describe(f"{trials} ways to search on {count} queries"),
        )
    update_tuned(job.folder / GUIDE, tuning.to_dict())
    return f"best of {len(tuning.table)} ways to search: {tuning.best}"


class RunEvaluation(Evaluation):
    """An evaluation inside a run's folder, which may be moved: paths are noted as seen from there."""

    def methods(self, network: Network, problem: Problem) -> list[Method]:
        """The methods, the guided ones without the folder's own name."""
        return [
            replace(method, facts={"folder": GUIDE}) if isinstance(method, GuidedMethod) else method
            for method in super().methods(network, problem)
        ]


def evaluate(job: Job) -> str:
    """All methods on the test queries."""
    for name in job.settings.evaluate.methods:
        if name in STRATEGIES:
            load_kernels(make_strategy(name), job.quiet)
    plan, chosen = plan_of(job), chosen_of(job)
    evaluation = RunEvaluation(job.folder, plan, chosen, quiet=True)
    name = network_name(job.model_file)
    problem = Problem(name, job.model_path, job.folder / QUERIES, str(job.folder / GUIDE))
    with ProgressBar("evaluating (Ctrl-C keeps what is done)", 0, job.quiet) as bar:
        evaluation.measure(problem, bar)
    evaluation.finish()
    runs = len(evaluation.store.keys())
    return f"{len(evaluation.run['methods'])} methods, {runs:,} searches of test queries"


def plan_of(job: Job) -> Plan:
    """Budgets and seeds; one search at a time where seconds are measured."""
    from beacon.runner.search import num_threads  # noqa: PLC0415

    asked = job.settings.evaluate
    threads = num_threads(1 if asked.seconds else job.jobs)
    return Plan(asked.budget, tuple(range(job.seed, job.seed + asked.seeds)), threads, asked.drift)


def chosen_of(job: Job) -> Chosen:
    """Methods and queries."""
    asked = job.settings.evaluate
    return Chosen(
        list(asked.methods), asked.lambdas, asked.propagate, {}, "test", asked.limit, job.settings.count
    )


def evaluation_facts(job: Job) -> Facts:
    """What the record of the evaluation says of itself before it has begun."""
    return evaluation_settings(plan_of(job), chosen_of(job))


def report(job: Job) -> str:
    """One page with all that was found."""
    from beacon.evaluation.results import Results  # noqa: PLC0415
    from beacon.report.contents import make_report  # noqa: PLC0415
    from beacon.report.files import write_report  # noqa: PLC0415

    page = job.folder / REPORT
    with ProgressBar("drawing", None, job.quiet):
        made = make_report(Results.load(job.folder), job.folder)
        write_report(made, page, f"Beacon on {network_name(job.model_file)}")
    return f"{sum(1 for _ in made.tables)} tables, {sum(1 for _ in made.plots)} plots"


STAGES = (
    Stage("queries", ("queries",), QUERIES, (QUERIES,), sample),
    Stage("collect", ("teacher", "collect"), TRAJECTORIES, (TRAJECTORIES, f"{TRAJECTORIES}.parts"), collect),
    Stage("train", ("train",), GUIDE, (GUIDE, f"{GUIDE}{UNFINISHED}"), train),
    Stage("tune", ("tune",), GUIDE, (), tune),
    Stage("evaluate", ("evaluate",), EVALUATION, (EVALUATION, "drift.parquet", "parts"), evaluate),
    Stage("report", (), REPORT, (REPORT,), report),
)
