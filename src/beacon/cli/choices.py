"""What ``beacon solve`` can be asked for: its options, and what is read of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, cast

from beacon.cli.options import ANSWER, GUIDE, LIMITS, OUTPUT, QUERY, SEARCH, check_least, flags, option
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
GuideFolder = Annotated[
    str | None, option("--guide DIR", "A guide of `beacon train`, or a profile of `beacon tune`.", GUIDE)
]


@dataclass(frozen=True)
class QueryOptions:
    """The queries to answer."""

    evid: list[str] = field(default_factory=list)
    """Evidence file (UAI) of one query or several; may be repeated."""
    evidence: list[str] = field(default_factory=list)
    """An observation, by names or indices; may be repeated."""
    table: list[str] = field(default_factory=list)
    """Evidence table (.csv, .tsv, .parquet): a column per variable, a row per query; an empty cell is not
    observed; may be repeated."""
    key: list[str] = field(default_factory=list)
    """A column of --table that is no variable and goes into a table of answers; may be repeated."""

    def read(self, model: GraphicalModel) -> tuple[list[dict[int, int]], dict[str, list[Any]]]:
        """The queries of the files and tables, or the one of the items; and the tables' key columns."""
        if self.key and (self.evid or not self.table):
            raise UsageError("--key names columns of --table; give tables, and no --evid")
        if not self.evid and not self.table:
            from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415

            return [parse_evidence_items(self.evidence, model)], {}
        if self.evidence:
            raise UsageError("give the evidence by --evidence or by files (--evid, --table), not both")
        from beacon.formats.queries import read_queries  # noqa: PLC0415 - most queries are typed

        return read_queries(model, self.evid, self.table, self.key)


@dataclass(frozen=True)
class SearchOptions:
    """How to search."""

    method: str | None = None
    """How to search: auto, gls+, tree or greedy; default: auto (gls+ where a guide chooses moves)."""
    penalty_weight: float | None = None
    """Weight of the penalties of gls+ (alone or in auto), in nats; default: by the model."""
    start: str | None = None
    """Where to begin: at random, at an assignment built value by value, where the guide would, or at a
    solution file; default: as the guide was tuned; without one constructed for auto, else random."""
    propagate: bool = True
    """First fix the values that the evidence implies through zero potentials."""
    prove: bool = False
    """Keep half of the time for a proof by toulbar2 (pip install 'beacon-mpe[peers]'), if one is needed."""
    log_zero: float | None = None
    """Log-potential that stands for zero in the search; default: by the model."""
    threads: int | None = None
    """Queries to work on at once; default: one per core."""

    def __post_init__(self) -> None:
        check_least(self, log_zero=-1e100, threads=1)  # squares of this log_zero still are numbers

    def begin(self, model: GraphicalModel) -> GuidedStart | None:
        """Where to begin: a word, or the assignment of a solution file."""
        if self.start in {None, *KINDS, "guide"}:
            return cast("GuidedStart | None", self.start)
        from beacon.formats import read_solution  # noqa: PLC0415

        return read_solution(str(self.start), model)


@dataclass(frozen=True)
class AnswerOptions:
    """What to answer besides the best assignment, and which values to show."""

    alternatives: int | None = None
    """Show the K best assignments, the answer among them."""
    distance: int = 1
    """Alternatives differ pairwise in at least D variables."""
    margins: bool = False
    """Show what the other values of each variable would lose."""
    suppose: list[str] = field(default_factory=list)
    """Show also the best assignment in which this holds, and what it loses; may be repeated."""
    show: str | None = None
    """Print these variables; query: all that are not observed; changed: those that the evidence changes;
    all: every one."""

    def __post_init__(self) -> None:
        check_least(self, alternatives=1, distance=1)

    def asked(self, model: GraphicalModel) -> dict[str, Any]:
        """Arguments of :func:`beacon.solve`."""
        from beacon.model.evidence import parse_evidence_items  # noqa: PLC0415

        supposed = parse_evidence_items(self.suppose, model)
        asked = {"alternatives": self.alternatives, "distance": self.distance, "margins": self.margins}
        return asked | {"suppose": supposed}

    def shown(self, model: GraphicalModel, num_queries: int) -> Shown | None:
        """Which variables to print, if that was asked for."""
        if self.show is None:
            return None
        from beacon.runner.show import Show as Shown  # noqa: PLC0415 - few ask

        return Shown.of(self.show, model, num_queries)


@dataclass(frozen=True)
class OutputOptions:
    """What to print and write."""

    out: str | None = None
    """Write the solution; of many queries OUT.0.MPE, OUT.1.MPE, …, or 0.MPE, … in a directory OUT. A name in
    .csv, .tsv or .parquet: one table, with a row per query."""
    trace: bool = False
    """Show every improvement, too."""
    show_all: bool = False
    """Print long lists in full."""


query_options = flags(
    *("queries", QueryOptions, QUERY),
    *("--evid FILE", "--evidence -e VARIABLE=VALUE", "--table FILE", "--key COLUMN"),
)
search_options = flags(
    *("search", SearchOptions, SEARCH, "--method auto|gls+|tree|greedy|NAME", "--penalty-weight W"),
    *("--start random|constructed|guide|FILE", "--propagate/--no-propagate", "--prove", "--log-zero X"),
    "--threads T",
)
guide_options = flags(
    *("asked", GuideUse, GUIDE, "--refresh K", "--candidates all|improving", "--restart-from random|guide"),
    weight="--lambda L",
    unset="as tuned, or {}",
)
"""What of a guide's use can be asked for; the verb gets what is given."""
limit_options = flags(
    *("limits", StopSettings, LIMITS, "--steps N", "--target SCORE", "--gap NATS"),
    seconds="--time S",
    idle_steps="--no-improvement N",
)
answer_options = flags(
    *("answer", AnswerOptions, ANSWER, "--alternatives K", "--distance D", "--margins"),
    *("--suppose VARIABLE=VALUE", "--show A,B|query|changed|all"),
)
output_options = flags("output", OutputOptions, OUTPUT, "--out -o OUT", "--trace", show_all="--all")


def costs_of(model_file: str) -> CostKind | None:
    """What the numbers of a model's file are, if these are costs."""
    if base_suffix(model_file) not in COSTS:
        return None
    from beacon.formats.costs import cost_kind  # noqa: PLC0415 - few files have costs

    return cost_kind(model_file)


def workers(backend: str | None, threads: int | None) -> AbstractContextManager[None]:
    """Within the block, many queries are answered by this backend."""
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
