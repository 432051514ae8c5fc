"""``beacon evaluate``: methods side by side, on the same queries from the same starts."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, command_line, one_line, say, say_json
from beacon.cli.options import (
    LIMITS,
    OUTPUT,
    QUERY_FILE,
    Backend,
    Json,
    Keys,
    Quiet,
    Seed,
    argument,
    flags,
    option,
)
from beacon.errors import UsageError
from beacon.evaluation.evaluate import Request, measure
from beacon.evaluation.problem import Sources, problems_of
from beacon.evaluation.run_file import facts_in_words, session_facts
from beacon.evaluation.settings import EvaluateSettings
from beacon.io.files import check_named
from beacon.io.settings import words_of
from beacon.runner.crews import on_backend

METHODS, NETWORKS = "Methods", "Networks and queries"  # panels of the help
LATER: dict[str, Any] = {"unset": "{}", "check": False}  # checked when all are known
OptionalModel = Annotated[str | None, argument("MODEL", "Model file; or use --suite.")]
OptionalQueries = Annotated[
    str | None, argument("Q", f"{QUERY_FILE} Without it, queries are sampled: see --count.")
]
GuideFolder = Annotated[str | None, argument("GUIDE", "Trained guide, for the methods that need one.")]
Solvers = Annotated[str, option("--solvers LIST", "Other solvers: toulbar2, daoopt.", METHODS)]
Daoopt = Annotated[str | None, option("--daoopt PROGRAM", "Where daoopt's program is.", METHODS)]
Time = Annotated[float | None, option("--time S", "One more budget in seconds: the solvers' limit.", LIMITS)]
THREADS = "Queries to work on at once; default: one per core, and 1 where seconds are measured."
Threads = Annotated[int | None, option("--threads T", THREADS, LIMITS, low=1)]


@flags("methods", EvaluateSettings, METHODS, "--methods LIST", "--lambdas LIST", "--propagate", **LATER)
@flags("budgets", EvaluateSettings, LIMITS, "--steps LIST", "--seconds LIST", **LATER)
@flags("sources", Sources, NETWORKS, "--suite FILE.toml", "--data DIR", "--only LIST")
@flags("queries", EvaluateSettings, NETWORKS, "--split NAME", "--limit N", "--count N", "--seeds K")
def evaluate(
    model_file: OptionalModel = None,
    query_file: OptionalQueries = None,
    guide: GuideFolder = None,
    *,
    out: Annotated[str, option("-o --out DIR", "Folder of the results.", OUTPUT)],
    methods: dict[str, Any],
    solvers: Solvers = "",
    daoopt: Daoopt = None,
    budgets: dict[str, Any],
    time: Time = None,
    threads: Threads = None,
    backend: Backend = None,
    sources: Sources,
    queries: EvaluateSettings,
    key: Keys = None,
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
    sys.path.append(str(Path.cwd()))  # --methods may name what lies here
    if query_file is not None and queries.count != EvaluateSettings.count:
        raise UsageError("--count is for sampled queries; to take only the first N of Q give --limit N")
    settings = replace(queries, **methods, **budgets).extended(words_of(solvers), time)
    problems, missing = problems_of(model_file, query_file, guide, sources, key or ())
    programs = {"daoopt": daoopt} if daoopt else {}
    request = Request(settings, None, seed, threads, Path(out), programs, command_line())
    if not quiet and not sys.stderr.isatty():
        logging.getLogger("beacon").setLevel(logging.INFO)  # a line per network where no bar is shown
    work = "evaluating (Ctrl-C keeps what is done)"
    with on_backend(backend, threads), ProgressBar(work, 0, quiet) as bar:
        made = measure(problems, request, missing, bar.show)
    facts = session_facts(made.run, out, [problem.name for problem in problems])
    say_json(facts) if json else say(one_line(facts_in_words(facts)))
