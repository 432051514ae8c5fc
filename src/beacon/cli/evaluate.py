"""``beacon evaluate``: methods side by side, on the same queries from the same starts."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_json
from beacon.cli.options import LIMITS, OUTPUT, Json, Quiet, Seed, argument, flags, option
from beacon.errors import UsageError
from beacon.evaluation.problem import Problem, problems_of_suite
from beacon.evaluation.session import Request, measure
from beacon.evaluation.settings import EvaluateSettings
from beacon.evaluation.suite import network_name
from beacon.io.files import check_named
from beacon.io.settings import words_of

METHODS, NETWORKS = "Methods", "Networks and queries"  # panels of the help
OptionalModel = Annotated[str | None, argument("MODEL", "Model file; or use --suite.")]
QueryFile = Annotated[
    str | None,
    argument("Q", "Query set (beacon queries); without one, queries are sampled: see --count."),
]
GuideFolder = Annotated[str | None, argument("GUIDE", "Trained guide, for the methods that need one.")]
Solvers = Annotated[str, option("--solvers LIST", "Other solvers: toulbar2, daoopt.", METHODS)]
Daoopt = Annotated[str | None, option("--daoopt PROGRAM", "Where daoopt's program is.", METHODS)]
TimeLimit = Annotated[
    float | None, option("--time S", "One more budget in seconds: the solvers' limit.", LIMITS)
]
Suite = Annotated[str | None, option("--suite FILE.toml", "Evaluate a list of networks.", NETWORKS)]
Data = Annotated[
    str | None,
    option(
        "--data DIR",
        "Where the suite's files are, with NAME.parquet (queries) and NAME.guide beside them if any.",
        NETWORKS,
    ),
]
Only = Annotated[str, option("--only LIST", "Only these networks of the suite.", NETWORKS)]
Threads = Annotated[
    int | None,
    option(
        "--threads T",
        "Queries searched at once; default: one per core, and 1 where seconds are measured.",
        LIMITS,
        low=1,
    ),
]


@flags(
    "methods",
    EvaluateSettings,
    METHODS,
    *("--methods LIST", "--lambdas LIST", "--propagate"),
    unset="{}",
    check=False,
)
@flags("budgets", EvaluateSettings, LIMITS, "--steps LIST", "--seconds LIST", unset="{}", check=False)
@flags("queries", EvaluateSettings, NETWORKS, "--split NAME", "--limit N", "--count N", "--seeds K")
def evaluate(
    model_file: OptionalModel = None,
    query_file: QueryFile = None,
    guide: GuideFolder = None,
    *,
    out: Annotated[str, option("-o --out DIR", "Folder of the results.", OUTPUT)],
    methods: dict[str, Any],
    solvers: Solvers = "",
    daoopt: Daoopt = None,
    budgets: dict[str, Any],
    time: TimeLimit = None,
    threads: Threads = None,
    suite: Suite = None,
    data: Data = None,
    only: Only = "",
    queries: EvaluateSettings,
    seed: Seed = 0,
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
    check_named(out)
    methods["methods"] = methods.get("methods", EvaluateSettings.methods) + words_of(solvers)
    if time is not None:
        budgets["seconds"] = (*budgets.get("seconds", ()), time)
    settings = replace(queries, **methods, **budgets)
    if suite is not None and model_file is None:
        problems, missing = problems_of_suite(
            Path(suite), None if data is None else Path(data), words_of(only)
        )
    else:
        problems, missing = [_problem(model_file, query_file, guide, suite, data or only)], []
    programs = {"daoopt": daoopt} if daoopt else {}
    request = Request(settings, None, seed, threads, Path(out), programs, command_line())
    if not quiet and not sys.stderr.isatty():
        logging.getLogger("beacon").setLevel(logging.INFO)  # a line per network where no bar is shown
    with ProgressBar("evaluating (Ctrl-C keeps what is done)", 0, quiet) as bar:
        made = measure(problems, request, missing, bar.show)
    session = made.run["sessions"][-1]
    facts = {
        "out": out,
        "networks": [problem.name for problem in problems],
        "missing": [entry["name"] for entry in missing],
        "methods": session["methods"],
        "runs": session["runs"],
        "seconds": session["seconds"],
    }
    say_json(facts) if json else say(one_line(_in_words(facts)))


def _problem(
    model: str | None, queries: str | None, guide: str | None, suite: str | None, of_suite: str | None
) -> Problem:
    if model is None or suite is not None:
        found = "neither" if suite is None else "both"
        raise UsageError(f"expected either a MODEL or --suite FILE.toml; found {found}")
    if of_suite:
        raise UsageError("--data and --only belong to --suite")
    return Problem(network_name(model), Path(model), None if queries is None else Path(queries), guide)


def _in_words(facts: dict[str, Any]) -> str:
    missing, counts = facts["missing"], {"network": len(facts["networks"]), "method": len(facts["methods"])}
    networks, methods = (f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
    absent = f", {len(missing)} missing ({', '.join(missing)})" if missing else ""
    return (
        f"{facts['out']}: {networks}{absent}, {methods}, {facts['runs']:,} new runs in "
        f"{facts['seconds']:.1f} s; see them with: beacon report {facts['out']}"
    )
