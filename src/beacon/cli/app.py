"""The command ``beacon``."""

from __future__ import annotations

from typing import Annotated

import typer

from beacon import __version__
from beacon.cli.console import say
from beacon.cli.errors import WRONG_USE, BeaconGroup
from beacon.cli.options import SWITCH

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
