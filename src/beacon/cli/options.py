"""Options: those that several verbs share, those of ``solve``, and those made from settings dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, cast, get_origin

import typer

from beacon.cli.console import show_notes
from beacon.errors import UsageError
from beacon.io.settings import Setting, as_text, from_text, plain_kind, settings_of

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel
    from beacon.solver import GuidedStart

SEARCH, QUERY, LIMITS, GUIDE = "Search", "Query", "Limits", "Guide"  # panels of the help
ANSWER, OUTPUT = "Answer", "Output"
SWITCH = ""  # metavar of an option without a value: the help would say <bool> and seem to ask for one


def argument(metavar: str, help: str) -> Any:
    """An argument."""
    return typer.Argument(metavar=metavar, help=help)


def option(
    spelled: str,
    help: str,
    panel: str | None = None,
    low: float | None = None,
    callback: Callable[..., Any] | None = None,
) -> Any:
    """An option, spelled as it is typed: ``--out -o FILE``; ``low`` is the least number that it takes."""
    names = [word for word in spelled.split() if word.startswith("-")]
    (metavar,) = [word for word in spelled.split() if not word.startswith("-")] or [SWITCH]
    check = at_least(low) if low is not None else callback
    return typer.Option(
        *names,
        metavar=metavar,
        help=help.replace("[", r"\["),  # or rich takes it for markup
        rich_help_panel=panel,
        callback=check,
        autocompletion=_completion(metavar),
    )


def _completion(metavar: str) -> Callable[[str], list[str]] | None:
    """Completes the words that a placeholder names: ``auto|tree|FILE`` has two."""
    words = [word for word in metavar.split("|") if word.islower()]

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete if words else None


def at_least(low: float) -> Callable[[typer.CallbackParam, Any], Any]:
    """A check that a number is at least ``low``; nan is not."""

    def check(option: typer.CallbackParam, value: Any) -> Any:
        if value is not None and not value >= low:
            raise UsageError(f"{option.opts[0]} must be at least {low}; found {value}")
        return value

    return check


def check_least(options: Any, **least: float) -> None:
    """Refuse fields of a dataclass that are given and less than these numbers, or nan."""
    for name, low in least.items():
        value = getattr(options, name)
        if value is not None and not value >= low:
            raise UsageError(f"{name} must be at least {low}; found {value}")


ModelFile = Annotated[
    str,
    argument(
        "MODEL",
        "Model file: .uai, .lg, .wcsp, .cfn, .bif, .xmlbif or .erg, plain or compressed (.gz, .xz, .bz2).",
    ),
]
QUERY_FILE = (
    "Queries: a query set (`beacon queries`), or your own: a table (.csv, .parquet), .evid, .json, or a "
    "folder of such files, split 80/10/10."
)
QueryFile = Annotated[str, argument("Q", QUERY_FILE)]
KEY_HELP = "A column of Q, if that is a table of your own, that is no variable; may be repeated."
Keys = Annotated[list[str] | None, option("--key COLUMN", KEY_HELP)]
Seed = Annotated[int, option("--seed S", "Seed of all randomness.", low=0)]
Jobs = Annotated[
    int | None, option("--threads --jobs T", "Queries to work on at once; default: one per core.", low=1)
]
BACKEND_HELP = (
    "Where queries are worked on: threads of this process, processes (loky), or a cluster: dask, ray, or the "
    "address of a Dask scheduler; default: threads."
)
Backend = Annotated[str | None, option("--backend threads|loky|dask|ray|tcp://HOST:PORT", BACKEND_HELP)]
Device = Annotated[
    str,
    option(
        "--device auto|cpu|cuda",
        "Where the attention network is trained; auto: on the GPU where there is one.",
    ),
]
Json = Annotated[bool, option("--json", "Print one JSON object on stdout and nothing else.", panel=OUTPUT)]
Quiet = Annotated[
    bool, option("--quiet -q", "No progress, notes or warnings on stderr.", panel=OUTPUT, callback=show_notes)
]
GuideFolder = Annotated[
    str | None, option("--guide DIR", "A guide of `beacon train`, or a profile of `beacon tune`.", GUIDE)
]


def flags(
    parameter: str,
    settings: type,
    panel: str | None = None,
    *spelled: str,
    unset: str | None = None,
    check: bool = True,
    **renamed: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb options for fields of a dataclass, and hand it the dataclass as ``parameter``.

    Options are spelled with their placeholder: ``"--steps N"``, or ``steps="--teacher-steps N"`` where the
    field has another name. A field that is a tuple is typed with commas; one that is a list is an option that
    may be repeated. With ``unset``, the verb gets a dictionary of the options that are given, and the
    help names ``unset`` as the default ("{}" stands for that of the field). ``check=False`` leaves checking
    them to the verb.
    """
    spellings = {_first_name(one).strip("-").replace("-", "_"): one for one in spelled} | renamed
    fields = {name: field for name, field in settings_of(settings).items() if name in spellings}
    names = {name: _first_name(one) for name, one in spellings.items()}

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(verb, eval_str=True)
        options = [_option(field, spellings[name], panel, unset) for name, field in fields.items()]
        place = list(signature.parameters).index(parameter)
        own = [p for p in signature.parameters.values() if p.name != parameter]

        @wraps(verb)
        def call(**given: Any) -> None:
            values = {name: given.pop(f"{parameter}_{name}", None) for name in fields}
            chosen = _given(fields, values, names)
            made = _checked(settings, chosen, names) if check else None
            given[parameter] = made if unset is None else chosen
            verb(**given)

        merged = [p.replace(name=f"{parameter}_{p.name}") for p in options]
        call.__signature__ = signature.replace(parameters=[*own[:place], *merged, *own[place:]])  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in call.__signature__.parameters.values()}  # type: ignore[attr-defined]
        return call

    return decorate


def _first_name(spelled: str) -> str:
    return spelled.split(maxsplit=1)[0].partition("/")[0]


def _option(field: Setting, spelled: str, panel: str | None, unset: str | None) -> inspect.Parameter:
    kind = plain_kind(field.kind)
    is_list, is_repeated = get_origin(kind) is tuple, get_origin(kind) is list
    typed = str if is_list else kind
    default, instead = as_text(field.default) if is_list else None if is_repeated else field.default, ""
    if unset is not None:
        default, instead = None, "" if field.default is False else unset.format(as_text(field.default))
    more = f"; default: {instead}." if instead else "."
    made = option(spelled, field.doc.removesuffix(".") + more, panel)
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[typed | None if default is None else typed, made],
    )


def _given(fields: dict[str, Setting], values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The values that were given, lists made of their text."""
    return {
        name: from_text(names[name], field.kind, values[name])
        if get_origin(plain_kind(field.kind)) is tuple
        else values[name]
        for name, field in fields.items()
        if values[name] is not None
    }


def _checked(settings: type, given: dict[str, Any], names: dict[str, str]) -> Any:
    """The dataclass; an error names the option instead of the field."""
    try:
        return settings(**given)
    except UsageError as error:
        name, _, rest = str(error).partition(" ")
        raise UsageError(f"{names[name]} {rest}" if name in names else str(error)) from None


@dataclass(frozen=True)
class QueryOptions:
    """The queries to answer."""

    evid: list[str] = field(default_factory=list)
    """Evidence file (.evid, .json) of one query or several; may be repeated."""
    evidence: list[str] = field(default_factory=list)
    """An observation, by names or indices; may be repeated."""
    table: list[str] = field(default_factory=list)
    """Evidence table (.csv, .tsv, .parquet): a column per variable, a row per query; an empty cell is not
    observed; or a query set of `beacon queries`; may be repeated."""
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
        from beacon.query.inputs import read_queries  # noqa: PLC0415 - most queries are typed

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
    solution file; default: as the guide was tuned; without one by messages or built for auto, else random."""
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
        from beacon.runner.stop import KINDS  # noqa: PLC0415

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
        if self.distance > 1 and self.alternatives is None:
            raise UsageError(
                "--distance is that of alternatives; ask for some of them, too (--alternatives K)"
            )

    def asked(self, model: GraphicalModel) -> dict[str, Any]:
        """Arguments of :func:`beacon.solve`."""
        from beacon.model.evidence import parse_supposed_items  # noqa: PLC0415

        supposed = parse_supposed_items(self.suppose, model)
        asked = {"alternatives": self.alternatives, "distance": self.distance, "margins": self.margins}
        return asked | {"suppose": supposed}

    def shown(self, model: GraphicalModel, num_queries: int) -> tuple[str | None, tuple[int, ...]]:
        """Which variables to print: a word, or those that were named."""
        if self.show is None:
            return None, ()
        from beacon.runner.show import Show  # noqa: PLC0415 - few ask

        return Show.of(self.show, model, num_queries)


@dataclass(frozen=True)
class OutputOptions:
    """What to print and write."""

    out: str | None = None
    """Write the solution; of many queries OUT.0.MPE, OUT.1.MPE, …, or 0.MPE, … in a directory OUT, which is
    made if it ends in /. A name in .csv, .tsv or .parquet: one table, with a row per query."""
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
answer_options = flags(
    *("answer", AnswerOptions, ANSWER, "--alternatives K", "--distance D", "--margins"),
    *("--suppose VARIABLE=VALUE", "--show A,B|query|changed|all"),
)
output_options = flags("output", OutputOptions, OUTPUT, "--out -o OUT", "--trace", show_all="--all")
