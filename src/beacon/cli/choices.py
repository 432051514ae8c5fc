"""What ``beacon solve`` can be asked for: its options, and the evidence, strategy, stop and guide of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

from beacon.cli.options import ANSWER, GUIDE, LIMITS, OUTPUT, QUERY, SEARCH, flags, option
from beacon.errors import UsageError
from beacon.guided.guidance import GuideUse
from beacon.io.files import TABLES, base_suffix, check_writable
from beacon.runner.stop import (
    DEFAULT_STOP,
    KINDS,
    MaxGap,
    MaxRuntime,
    MaxSteps,
    NoImprovement,
    Stop,
    TargetScore,
)

if TYPE_CHECKING:
    from beacon.guided.guide import Guide
    from beacon.model.graphical_model import GraphicalModel
    from beacon.solver import GuidedStart
    from beacon.strategies.strategy import Strategy

DEFAULT_METHOD = "auto"
NO_FILE = "-"
OPTION_NAMES = {"weight": "--lambda", "restart_from": "--restart-from"}
guide_options = flags(
    "asked",
    GuideUse,
    GUIDE,
    *("--refresh K", "--candidates all|improving", "--restart-from random|guide"),
    weight="--lambda L",
    unset="as tuned, or {}",
)
"""What of a guide's use can be asked for; the verb gets what is given."""
EvidenceFiles = Annotated[
    list[str] | None,
    option("--evid FILE", "Evidence file (UAI) of one query or several; may be repeated.", QUERY),
]
EvidenceTables = Annotated[
    list[str] | None,
    option(
        "--table FILE",
        "Evidence table (.csv, .parquet): a column per variable, a row per query, empty: not observed; may "
        "be repeated.",
        QUERY,
    ),
]
KeyColumns = Annotated[
    list[str] | None,
    option(
        "--key COLUMN",
        "A column of --table that is no variable and goes into a table of answers; may be repeated.",
        QUERY,
    ),
]
Method = Annotated[
    str | None,
    option(
        "--method NAME",
        "How to search: auto, gls+, tree or greedy; default: auto (gls+ where a guide chooses moves).",
        SEARCH,
    ),
]
PenaltyWeight = Annotated[
    float | None,
    option(
        "--penalty-weight W",
        "Weight of the penalties of gls+ (alone or in auto), in nats; default: by the model.",
        SEARCH,
    ),
]
StartAt = Annotated[
    str | None,
    option(
        "--start random|constructed|guide|FILE",
        "Where to begin: at random, at an assignment built value by value, where the guide would, or at a "
        "solution file; default: as the guide was tuned; without one constructed for auto, else random.",
        SEARCH,
    ),
]
GuideFolder = Annotated[
    str | None, option("--guide DIR", "A guide trained for this model (beacon train).", GUIDE)
]
Propagate = Annotated[
    bool,
    option(
        "--propagate/--no-propagate",
        "First fix the values that the evidence implies through zero potentials.",
    ),
]
LogZero = Annotated[
    float | None,
    option(
        "--log-zero X",
        "Log-potential that stands for zero in the search; default: by the model.",
        SEARCH,
        low=-1e100,  # squares of it still are numbers
    ),
]
Prove = Annotated[
    bool,
    option(
        "--prove",
        "Keep half of the time for a proof by toulbar2, should it be needed; it has to be installed.",
        SEARCH,
    ),
]
Threads = Annotated[
    int | None, option("--threads T", "Queries solved at once; default: one per core.", SEARCH, low=1)
]
Steps = Annotated[int | None, option("--steps N", "This many steps (flips).", LIMITS, low=0)]
Seconds = Annotated[
    float | None,
    option(
        "--time S",
        f"This many seconds; {DEFAULT_STOP.seconds:g} unless --steps or --no-improvement is given.",
        LIMITS,
        low=0,
    ),
]
IdleSteps = Annotated[
    int | None,
    option("--no-improvement N", "This many steps in a row that find nothing better.", LIMITS, low=1),
]
Target = Annotated[float | None, option("--target SCORE", "A log score that is good enough.", LIMITS)]
Gap = Annotated[
    float | None,
    option("--gap NATS", "A score that is proved to be at most this far below the optimum.", LIMITS, low=0),
]
SolutionOut = Annotated[
    str | None,
    option(
        "-o --out OUT",
        "Write the solution; of many queries OUT.0.MPE, OUT.1.MPE, …, or 0.MPE, … in a directory OUT. "
        "A name in .csv, .tsv or .parquet: one table, with a row per query.",
        OUTPUT,
    ),
]
Alternatives = Annotated[
    int | None,
    option("--alternatives K", "Show the K best assignments, the answer among them.", ANSWER, low=1),
]
Distance = Annotated[
    int, option("--distance D", "Alternatives differ pairwise in at least D variables.", ANSWER, low=1)
]
WithMargins = Annotated[
    bool,
    option("--margins", "Show what the other values of each variable would lose.", ANSWER),
]
Suppose = Annotated[
    list[str] | None,
    option(
        "--suppose VARIABLE=VALUE",
        "Show the best assignment with this besides, and what it loses; may be repeated.",
        ANSWER,
    ),
]
Show = Annotated[
    str | None,
    option(
        "--show A,B|query|changed|all",
        "Print these variables; or those not observed, what the evidence changes, or all, in full.",
        ANSWER,
    ),
]
WithTrace = Annotated[bool, option("--trace", "Show every improvement, too.", OUTPUT)]
ShowAll = Annotated[bool, option("--all", "Print long lists in full.", OUTPUT)]


class ReadQueries(NamedTuple):
    """The evidence of every query, and the key columns of tables."""

    evidences: list[dict[int, int]]
    keys: dict[str, list[Any]]


def read_queries(
    model: GraphicalModel,
    files: Sequence[str],
    tables: Sequence[str],
    items: Sequence[str],
    keys: Sequence[str] = (),
) -> ReadQueries:
    """All queries of the files, then those of the tables; or the one of the items."""
    if keys and (files or not tables):
        raise UsageError("--key names columns of --table; give tables, and no --evid")
    if not files and not tables:
        from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415

        return ReadQueries([parse_evidence_items(items, model)], {})
    if items:
        raise UsageError("give the evidence by --evidence or by files (--evid, --table), not both")
    from beacon.formats import read_evidence  # noqa: PLC0415  (loaded when it is used)

    queries = [query for file in files for query in read_evidence(file, model)]
    if not tables:
        return ReadQueries(queries, {})
    from beacon.formats.evidence_table import read_keyed_table  # noqa: PLC0415

    read = [read_keyed_table(table, model, keys) for table in tables]
    columns = {key: [cell for table in read for cell in table.keys[key]] for key in keys}
    return ReadQueries(queries + [query for table in read for query in table.queries], columns)


def table_of_answers(out: str | None, keys: Sequence[str], inputs: Iterable[str | Path | None]) -> str | None:
    """The table to write to, if ``out`` is the name of one."""
    if out is not None and base_suffix(out) in TABLES:
        check_writable(out, inputs)
        return out
    if keys:
        raise UsageError("--key goes into a table of answers; give one with -o OUT.csv")
    return None


def read_query(
    model: GraphicalModel, file: str, items: Sequence[str], index: int | None = None
) -> dict[int, int]:
    """The evidence of one query; ``index`` says which one of a file of several."""
    queries = read_queries(model, [] if file == NO_FILE else [file], [], items).evidences
    if index is None and len(queries) > 1:
        raise UsageError(f"{file} holds {len(queries)} queries; choose one with --query N")
    if index is not None and index >= len(queries):
        raise UsageError(f"--query must lie in 0..{len(queries) - 1}; found {index}")
    return queries[index or 0]


def chosen_strategy(method: str | Strategy, penalty_weight: float | None) -> Strategy:
    """The strategy of that name, with the penalty weight if one is given."""
    from beacon.strategies.strategy import make_strategy  # noqa: PLC0415  (numba is slow to import)

    strategy = make_strategy(method)
    return strategy if penalty_weight is None else _weighted(strategy, penalty_weight)


def _weighted(strategy: Strategy, penalty_weight: float) -> Strategy:
    from beacon.strategies.auto import Auto  # noqa: PLC0415
    from beacon.strategies.gls import GlsPlus  # noqa: PLC0415

    weighted = GlsPlus(penalty_weight=penalty_weight)
    if isinstance(strategy, Auto):
        others = (arm for arm in strategy.arms if not isinstance(arm, GlsPlus))  # they have other weights
        return replace(strategy, arms=(weighted, *others))
    if isinstance(strategy, GlsPlus):
        return weighted
    raise UsageError(f"--penalty-weight belongs to --method auto or gls+, not to {strategy.name}")


def chosen_stop(
    steps: int | None,
    seconds: float | None,
    no_improvement: int | None,
    target: float | None,
    gap: float | None = None,
) -> Stop:
    """The first limit to be reached ends the search; the default where nothing else is sure to end it."""
    makers = (
        (MaxSteps, steps),
        (MaxRuntime, seconds),
        (NoImprovement, no_improvement),
        (TargetScore, target),
        (MaxGap, gap),
    )
    stop = reduce(or_, (make(cast("Any", limit)) for make, limit in makers if limit is not None), Stop())
    if steps is None and seconds is None and no_improvement is None:
        return stop | DEFAULT_STOP
    if not stop.is_bounded:
        raise UsageError("--time inf would never end; give a number of seconds, --steps or --no-improvement")
    return stop


def chosen_start(start: str | None, model: GraphicalModel) -> GuidedStart | None:
    """Where to begin: a word, or the assignment of a solution file."""
    if start in {None, *KINDS, "guide"}:
        return cast("GuidedStart | None", start)
    from beacon.formats import read_solution  # noqa: PLC0415

    return read_solution(str(start), model)


class ChosenGuide(NamedTuple):
    """A guide, what it is asked for, and the strategy that suits it; the first two None without a guide."""

    guide: Guide | None
    use: GuideUse | None
    strategy: str | Strategy


def check_guide_options(guide: str | None, start: str | None, asked: Mapping[str, Any]) -> None:
    """Refuse options that only mean something with a guide."""
    given = [OPTION_NAMES.get(name, f"--{name}") for name in asked]
    if start == "guide":
        given.append("--start guide")
    if given and guide is None:
        need = "needs" if len(given) == 1 else "need"
        raise UsageError(
            f"{', '.join(given)} {need} a guide; give one with --guide DIR (made by `beacon train`)"
        )


def files_of_guide(folder: str | None) -> list[Path]:
    """What is read of a guide."""
    return [] if folder is None else list(Path(folder).glob("*"))


def chosen_guide(folder: str | None, model: GraphicalModel, asked: Mapping[str, Any]) -> ChosenGuide:
    """The guide of a folder, used as tuned but for what was asked."""
    if folder is None:
        return ChosenGuide(None, None, DEFAULT_METHOD)
    from beacon.guide.checkpoint import load_guide  # noqa: PLC0415  (most solves have no guide)
    from beacon.solver import default_strategy, tuned_use  # noqa: PLC0415

    guide = load_guide(folder, model)
    use = GuideUse.from_dict({**tuned_use(guide).to_dict(), **asked})
    return ChosenGuide(guide, use, default_strategy(guide, use))
