"""The command ``beacon``: its verbs, and exit codes: what a user caused becomes one line on stderr."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from beacon import __version__
from beacon.cli import exit_code, was_stopped
from beacon.cli.console import note, one_line, say
from beacon.cli.options import SWITCH
from beacon.errors import BeaconError, UsageError
from beacon.io.settings import from_text, plain_kind

VERBS = (
    "info",
    "solve",
    "check",
    "convert",
    "generate",
    "queries",
    "collect",
    "train",
    "tune",
    "evaluate",
    "report",
    "run",
    "serve",
    "uai",
    "compile",
    "demo",
)
FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
MOST_TEXT = 800


def verb_command(name: str) -> Any:
    """The command of a verb: the function of that name in the module of that name."""
    module = import_module(f"beacon.cli.{name}")
    alone = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=VerbCommand)(getattr(module, name, None) or getattr(module, f"{name}_"))
    return typer.main.get_command(alone)


def verb_listed(name: str) -> TyperCommand:
    """A stand-in for the list of verbs, with the help that its file has: importing it would take long."""
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    verb = next(node for node in tree.body if getattr(node, "name", "").rstrip("_") == name)
    return TyperCommand(name, help=inspect.cleandoc(ast.get_docstring(verb) or ""), rich_markup_mode="rich")  # type: ignore[arg-type]


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


class VerbCommand(TyperCommand):
    """A verb, which reads the values of its options without pydantic."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands after the verb."""
        read_values_of(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help, in words for people."""
        hide_types_of(self, ctx)
        super().format_help(ctx, formatter)


class BeaconGroup(TyperGroup):
    """The command ``beacon``: runs a verb and turns its errors into exit codes."""

    _is_listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """All verbs, in the order in which they are used."""
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A verb; in the list of all verbs, what is needed to list it."""
        if cmd_name not in VERBS:
            return None
        return verb_listed(cmd_name) if self._is_listing else verb_command(cmd_name)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the verb."""
        read_values_of(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the verbs without loading them."""
        self._is_listing = True
        hide_types_of(self, ctx)
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listing = False

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run and leave the process (``SystemExit``), as commands of the shell do."""
        settings["standalone_mode"] = False  # typer hands us its errors instead of drawing them in boxes
        sys.exit(exit_code_of(partial(super().main, *args, **settings)))


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command: an error that the user can fix becomes one line, a bug a traceback."""
    try:
        code = command()
        sys.stdout.flush()  # a full disk or a closed pipe must show here, not when Python shuts down
    except (UsageError, BeaconError, MemoryError, OSError) as error:
        return _failed(error)
    except typer.Abort:
        return _interrupted()
    except Exception as error:
        if was_stopped():
            return _interrupted()
        if not hasattr(error, "format_message"):
            raise
        return _misused(error)
    return _interrupted() if code == INTERRUPTED else int(code or 0)


def _failed(error: Exception) -> int:
    if isinstance(error, OSError):
        _abandon_stdout()
    if isinstance(error, BrokenPipeError):
        return FAILED  # the reader of our output has gone: nobody to tell
    note(f"error: {_shortened(_reason(error))}")
    return WRONG_USE if isinstance(error, UsageError) else FAILED


def _reason(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "not enough memory for this model and these settings"
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return place + error.strerror.lower()
    return str(error)


def _shortened(text: str) -> str:
    """The text without its middle if it quotes something enormous."""
    text = one_line(text)
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT // 2]} … {text[-MOST_TEXT // 4 :]}"


def _misused(error: Any) -> int:
    """Say what typer found wrong in the arguments, and where to read about them."""
    message = _shortened(" ".join(error.format_message().split()).rstrip("."))
    context = getattr(error, "ctx", None)
    hint = f"; see `{context.command_path} --help`" if context is not None else ""
    note(f"error: {message}{hint}")
    return WRONG_USE


def _interrupted() -> int:
    note("interrupted")
    return exit_code()


def _abandon_stdout() -> None:
    """Drop what is still in the buffer, so that the last flush of the process has nothing to fail on."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    name="beacon",
    cls=BeaconGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # a bug shows Python's own traceback
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"beacon {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def beacon(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar=SWITCH,
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Find the most probable explanation in a graphical model by fast local search.

    New here? [bold]beacon demo[/bold] shows all of it, in a few minutes.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(WRONG_USE)
