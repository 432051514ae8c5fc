"""The application and its server: routes, errors, the page, and the gate that every request passes."""

from __future__ import annotations

import hmac
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beacon.errors import BeaconError, UsageError, check_count
from beacon.serve import api
from beacon.serve.models import served_models
from beacon.serve.openapi import document
from beacon.serve.service import GoneError, Service
from beacon.serve.settings import ServeSettings
from beacon.serve.workers import BusyError

FILES = Path(__file__).parent / "page"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN = ("/", "/api/health", "/api/openapi.json")  # without a token; so is the page, which holds no model
PAGE = "/page/"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_MEMORY = "not enough memory for this query"
BUG = "this is a bug in Beacon; the server's log has the details"
GONE = 499  # as others log a client that did not wait for the answer
logger = logging.getLogger(__name__)


class Endpoint(NamedTuple):
    """One way to call the API. Its handler's docstring describes it."""

    method: str
    path: str
    handler: Callable[[Request], Awaitable[Response]]
    asked: str = ""
    """The schema of what it takes: in the body, or of GET in the address."""
    answer: str = ""
    """The schema of what it answers."""
    media: str = "application/json"
    status: int = 200


async def openapi(request: Request) -> Response:
    """This description of the API."""
    return api.as_response(document(ENDPOINTS))


MODEL = "/api/models/{name}"
ENDPOINTS = (
    Endpoint("GET", "/api/health", api.health),
    Endpoint("GET", "/api/openapi.json", openapi),
    Endpoint("GET", "/api/models", api.models),
    Endpoint("GET", MODEL, api.model),
    Endpoint("GET", f"{MODEL}/around", api.around),
    Endpoint("POST", f"{MODEL}/solve", api.solve, "Ask", "Answer"),
    Endpoint("POST", f"{MODEL}/solve-many", api.solve_many, "AskMany", "Answer", api.LINES),
    Endpoint("GET", f"{MODEL}/solve-stream", api.solve_stream, "Ask", "Answer", api.EVENTS),
    Endpoint("POST", f"{MODEL}/solve-stream", api.solve_stream, "Ask", "Answer", api.EVENTS),
    Endpoint("POST", f"{MODEL}/sessions", api.new_session, "Evidence", status=201),
    Endpoint("GET", f"{MODEL}/sessions/{{id}}", api.session),
    Endpoint("PATCH", f"{MODEL}/sessions/{{id}}", api.patch_session, "Ask"),
    Endpoint("DELETE", f"{MODEL}/sessions/{{id}}", api.end_session, status=204),
    Endpoint("GET", "/metrics", api.metrics, media="text/plain"),
)


def make_app(service: Service, token: str | None = None) -> Starlette:
    """The whole application; its workers begin and end with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        service.workers.start()
        yield
        service.workers.close()

    gate = Middleware(Gate, service=service, token=token, routes={e.handler: e.path for e in ENDPOINTS})
    app = Starlette(
        routes=[
            Route("/", page),
            Mount(PAGE.rstrip("/"), StaticFiles(directory=FILES)),
            *(Route(one.path, one.handler, methods=[one.method]) for one in ENDPOINTS),
        ],
        middleware=[gate],
        exception_handlers=dict.fromkeys((BeaconError, HTTPException), _answered_badly),
        lifespan=lifespan,
    )
    app.state.service = service
    return app


async def page(request: Request) -> Response:
    """The page for a person."""
    return FileResponse(FILES / "index.html")


async def _answered_badly(request: Request, error: Exception) -> Response:
    """What a client can put right, in one line."""
    if isinstance(error, GoneError):
        return Response(status_code=GONE)
    if isinstance(error, HTTPException):
        return _refused(error.status_code, error.detail)
    if isinstance(error, BusyError):
        return _refused(429, str(error), {"Retry-After": str(error.retry_seconds)})
    return _refused(422, str(error))


class Gate:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, service: Service, token: str | None, routes: Mapping[object, str]
    ) -> None:
        """``routes``: the path of each handler, for metrics and logs, so that no client can make labels."""
        self._app, self._service, self._token, self._routes = app, service, token, routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, note = perf_counter(), dict[str, Any]()
        scope.setdefault("state", {})["note"] = note
        response = _Watched(send, scope["path"])
        limit = self._service.settings.max_body
        try:
            handler = self._refusal(scope) or self._app
            await handler(scope, _limited(receive, limit), response)
        except Exception as error:
            logger.exception("a request failed")
            if response.status == GONE:
                is_full = isinstance(error, MemoryError)
                broken = _refused(503, NO_MEMORY) if is_full else _refused(500, BUG)
                await broken(scope, receive, response)
        finally:
            self._tell(scope, note, response.status, perf_counter() - began)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, settings = Headers(scope=scope), self._service.settings
        host = _name_of(headers.get("host", ""))
        if "*" not in settings.hosts and host not in (*LOOPBACK, *map(str.lower, settings.hosts)):
            return _refused(421, f"this server is not called {host!r}; start it with --hosts to allow it")
        if not self._is_allowed(scope["path"], headers.get("authorization", "")):
            reason = "expected the header Authorization: Bearer TOKEN, with the server's token"
            return _refused(401, reason, {"WWW-Authenticate": "Bearer"})
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if has_body and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refused(415, "expected the header Content-Type: application/json")
        return None

    def _is_allowed(self, path: str, authorization: str) -> bool:
        if self._token is None or path in OPEN or path.startswith(PAGE):
            return True
        given = authorization.encode("latin-1", "replace")  # as its bytes came
        return hmac.compare_digest(given, f"Bearer {self._token}".encode())

    def _tell(self, scope: Scope, note: dict[str, Any], status: int, seconds: float) -> None:
        route = self._routes.get(scope.get("endpoint"), "other")
        metrics = self._service.metrics
        metrics.count("beacon_requests_total", route=route, status=str(status))
        metrics.time("beacon_request_seconds", seconds, route=route)
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"at": at, "method": scope["method"], "route": route, "status": status}
        logger.info(json.dumps(line | {"seconds": round(seconds, 6)} | note, default=str))


class _Watched:
    """Sends a response with our headers, and remembers its status."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._is_page = send, path == "/" or path.startswith(PAGE)
        self.status = GONE  # until a response begins

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers["Cache-Control"] = "no-cache" if self._is_page else "no-store"
        await self._send(message)


def _limited(receive: Receive, limit: int) -> Receive:
    """The same messages; refused once they have too many bytes."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, f"the request is too large: at most {limit:,} bytes are taken")
        return message

    return counted


def _refused(status: int, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    response = api.as_response({"error": reason}, status)
    response.headers.update(headers or {})
    return response


def _name_of(host: str) -> str:
    """The name in a Host header, without the port: ``[::1]:8080`` is ``::1``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


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
