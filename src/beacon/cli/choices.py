"""What ``beacon solve`` can be asked for: its options, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, cast

from beacon.cli.options import ANSWER, GUIDE, LIMITS, OUTPUT, QUERY, SEARCH, flags, option
from beacon.errors import UsageError
from beacon.guided.guidance import GuideUse
from beacon.io.files import base_suffix
from beacon.runner.stop import KINDS, StopSettings

if TYPE_CHECKING:
    from beacon.formats.costs import CostKind
    from beacon.model.graphical_model import GraphicalModel
    from beacon.runner.show import Show as Shown
    from beacon.solver import GuidedStart

COSTS = (".wcsp", ".cfn")
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
limit_options = flags(
    "limits",
    StopSettings,
    LIMITS,
    *("--steps N", "--target SCORE", "--gap NATS"),
    seconds="--time S",
    idle_steps="--no-improvement N",
)
EvidenceFiles = Annotated[
    list[str] | None,
    option("--evid FILE", "Evidence file (UAI) of one query or several; may be repeated.", QUERY),
]
EvidenceTables = Annotated[
    list[str] | None,
    option(
        "--table FILE",
        "Evidence table (.csv, .tsv, .parquet): a column per variable, a row per query; an empty cell is not "
        "observed; may be repeated.",
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
        "--method auto|gls+|tree|greedy|NAME",
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
    str | None, option("--guide DIR", "A guide of `beacon train`, or a profile of `beacon tune`.", GUIDE)
]
Propagate = Annotated[
    bool,
    option(
        "--propagate/--no-propagate",
        "First fix the values that the evidence implies through zero potentials.",
        SEARCH,
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
        "Keep half of the time for a proof by toulbar2 (pip install 'beacon-mpe[peers]'), if one is needed.",
        SEARCH,
    ),
]
Threads = Annotated[
    int | None, option("--threads T", "Queries to work on at once; default: one per core.", SEARCH, low=1)
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
        "Show also the best assignment in which this holds, and what it loses; may be repeated.",
        ANSWER,
    ),
]
Show = Annotated[
    str | None,
    option(
        "--show A,B|query|changed|all",
        "Print these variables; query: all that are not observed; changed: those that the evidence changes; "
        "all: every one.",
        ANSWER,
    ),
]
WithTrace = Annotated[bool, option("--trace", "Show every improvement, too.", OUTPUT)]
ShowAll = Annotated[bool, option("--all", "Print long lists in full.", OUTPUT)]


def read_queries(
    model: GraphicalModel,
    files: Sequence[str],
    tables: Sequence[str],
    items: Sequence[str],
    keys: Sequence[str] = (),
) -> tuple[list[dict[int, int]], dict[str, list[Any]]]:
    """The queries of the files and tables, or the one of the items; and the tables' key columns."""
    if keys and (files or not tables):
        raise UsageError("--key names columns of --table; give tables, and no --evid")
    if not files and not tables:
        from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415

        return [parse_evidence_items(items, model)], {}
    if items:
        raise UsageError("give the evidence by --evidence or by files (--evid, --table), not both")
    from beacon.formats import queries as library  # noqa: PLC0415 - most queries are typed

    return library.read_queries(model, files, tables, keys)


def chosen_start(start: str | None, model: GraphicalModel) -> GuidedStart | None:
    """Where to begin: a word, or the assignment of a solution file."""
    if start in {None, *KINDS, "guide"}:
        return cast("GuidedStart | None", start)
    from beacon.formats import read_solution  # noqa: PLC0415

    return read_solution(str(start), model)


def chosen_show(show: str | None, model: GraphicalModel, num_queries: int) -> Shown | None:
    """Which variables to print, if that was asked for."""
    if show is None:
        return None
    from beacon.runner.show import Show as Shown  # noqa: PLC0415 - few ask

    return Shown.of(show, model, num_queries)


def costs_of(model_file: str) -> CostKind | None:
    """What the numbers of a model's file are, if these are costs."""
    if base_suffix(model_file) not in COSTS:
        return None
    from beacon.formats.costs import cost_kind  # noqa: PLC0415 - few files have costs

    return cost_kind(model_file)


def workers(backend: str | None, threads: int | None) -> AbstractContextManager[None]:
    """Whoever is to answer many queries."""
    if backend is None:
        return nullcontext()
    from beacon.runner.crews import on_backend  # noqa: PLC0415 - most queries are answered here

    return on_backend(backend, threads)


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
