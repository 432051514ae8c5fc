"""The server itself: an address, models, and an end that leaves nothing half done."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import uvicorn

from beacon.errors import UsageError, check_count
from beacon.serve.app import make_app
from beacon.serve.gate import LOOPBACK
from beacon.serve.models import served_models
from beacon.serve.service import Service
from beacon.serve.settings import ServeSettings

MAX_CONNECTIONS = 1000
KEEP_ALIVE_SECONDS = 30


def serve(
    files: Iterable[str],
    *,
    host: str,
    port: int,
    guide: str | None,
    token: str | None,
    settings: ServeSettings,
    on_ready: Callable[[str, list[str]], None],
) -> None:
    """Serve until a signal comes, then finish what was begun; ``on_ready`` hears the address and models."""
    listening = listen(host, port)
    with listening:
        if not is_loopback(host) and not settings.hosts:
            settings = replace(settings, hosts=("*",))
        models = served_models(files, guide)
        server = new_server(Service(models, settings), token)
        on_ready(address_of(listening), list(models))
        with suppress(KeyboardInterrupt):  # the signal that has ended it: uvicorn sends it again at the end
            server.run(sockets=[listening])


def new_server(service: Service, token: str | None = None) -> uvicorn.Server:
    """A server that logs nothing of its own but failures."""
    config = uvicorn.Config(
        make_app(service, token),
        access_log=False,
        log_config=None,
        log_level="warning",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        server_header=False,
        proxy_headers=False,
    )
    return uvicorn.Server(config)


def is_loopback(host: str) -> bool:
    """Is this an address that only this machine can reach?"""
    return host in LOOPBACK


def listen(host: str, port: int) -> socket.socket:
    """Take the address before anything slow begins; port 0 takes any that is free."""
    check_count("--port", port, 0, 65535)
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        made = socket.socket(family, kind, protocol)  # asyncio sends at once only what it knows to be TCP
        return _bound(made, address)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another --host or --port"
        ) from None


def _bound(made: socket.socket, address: Any) -> socket.socket:
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(MAX_CONNECTIONS)
    except OSError:
        made.close()
        raise
    return made


def address_of(listening: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
