"""Options: those that several verbs share, and those made from settings dataclasses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any, get_args, get_origin

import typer

from beacon.cli.console import show_notes
from beacon.errors import UsageError
from beacon.io.settings import Setting, as_text, from_text, plain_kind, settings_of

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


def hide_types_of(command: Any, context: typer.Context) -> None:
    """Leave Python's types out of the help: ``<str>`` after MODEL, ``<bool>`` after --help."""
    for one in command.get_params(context):
        shown = getattr(one, "display_type_rich", None)  # older versions of typer show none
        if shown is not None and (shown(ctx=context) or "").startswith("<"):
            one.display_type_rich = lambda ctx: None
        if one.param_type_name == "argument" and one.required:
            one.get_usage_pieces = lambda ctx, name=one.metavar: [name]  # not {MODEL}


def read_values_of(command: Any, context: typer.Context) -> None:
    """Convert the values of options here: typer would load pydantic to do it, a tenth of a second."""
    parameters = inspect.signature(command.callback, eval_str=True).parameters
    for one in command.get_params(context):
        kind = parameters[one.name].annotation.__origin__ if one.name in parameters else str
        one.process_value = partial(_processed, one, plain_kind(kind))


def _processed(one: Any, kind: Any, context: Any, value: Any) -> Any:
    if one.required and one.value_is_missing(value):
        return type(one).process_value(one, context, value)  # says what is missing
    if isinstance(value, str) and kind in {int, float}:
        value = from_text(one.opts[0], kind, value)
    elif get_origin(kind) is tuple:
        value = tuple(from_text(one.opts[0], get_args(kind)[0], str(part)) for part in value)
    elif value is None and one.multiple:
        value = ()
    return value if one.callback is None else one.callback(context, one, value)


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
