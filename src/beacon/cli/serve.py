"""``beacon serve``: models that answer over HTTP, and a page to ask them on."""

from __future__ import annotations

import logging
import os
import sys
from typing import Annotated

from beacon.cli.console import one_line, say, say_json, warn
from beacon.cli.options import Json, Quiet, argument, flags, option
from beacon.errors import MissingDependencyError
from beacon.serve.settings import ServeSettings

Models = Annotated[list[str] | None, argument("MODEL", "Model files; without any, the demo's clinic.")]
Host = Annotated[str, option("--host NAME", "Address to listen on.")]
Port = Annotated[int, option("--port N", "Port to listen on; 0: any that is free.")]
Guide = Annotated[str | None, option("--guide DIR", "A guide trained for the one model.")]
Token = Annotated[str | None, option("--token TEXT", "Bearer token that requests need; or set BEACON_TOKEN.")]


@flags(
    "settings",
    ServeSettings,
    "Limits",
    *("--queue N", "--max-seconds S", "--max-body BYTES", "--max-queries N"),
    *("--max-alternatives K", "--max-sessions N", "--session-seconds S", "--hosts A,B", "--log-evidence"),
    workers="--threads --workers T",
)
def serve(
    model_files: Models = None,
    *,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    guide: Guide = None,
    token: Token = None,
    settings: ServeSettings,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Serve models over HTTP: a page to explore explanations on, and an API for programs.

    It prints its address when it is ready, and a line of JSON for each request on stderr. Ctrl-C and SIGTERM
    end it once it has finished what it has begun.

    Examples:

      beacon serve

      beacon serve alarm.bif --port 8000

      BEACON_TOKEN=secret beacon serve a.uai b.uai --host 0.0.0.0
    """
    try:
        from beacon.serve import app  # noqa: PLC0415 - most commands need no web framework
    except ImportError:
        raise MissingDependencyError("starlette and uvicorn", "the server", "serve") from None
    token = token or os.environ.get("BEACON_TOKEN") or None
    if token is None and not app.is_loopback(host) and not quiet:
        warn(f"whoever can reach {one_line(host)} can ask this server; --token restricts it")
    logger = logging.getLogger("beacon.serve")  # apart from the notes of the library
    logger.handlers, logger.propagate = [logging.StreamHandler()], False
    logger.setLevel(logging.ERROR if quiet else logging.INFO)

    def ready(address: str, models: list[str]) -> None:
        if json:
            say_json({"address": address, "models": models})
        else:
            say(f"serving {one_line(', '.join(models))} at {address} (Ctrl-C ends it)")
        sys.stdout.flush()

    app.serve(
        model_files or [], host=host, port=port, guide=guide, token=token, settings=settings, on_ready=ready
    )
