"""``beacon.evaluate``: methods side by side, on the same queries from the same starts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beacon.errors import check_seed
from beacon.evaluation.catalog import AnyGuide, AnyMethod
from beacon.evaluation.evaluation import Evaluation
from beacon.evaluation.problem import Problem, problems_of_suite
from beacon.evaluation.session import OnProgress, Request, measure
from beacon.evaluation.settings import EvaluateSettings
from beacon.model.evidence import Queries, check_is_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet

AnyPath = str | os.PathLike[str]


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
