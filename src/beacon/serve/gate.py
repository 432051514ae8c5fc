"""What every request passes: host, token, size; and what every response gets: headers, a line in the log."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beacon.serve.api import as_response
from beacon.serve.service import Service

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
GONE = 499  # as others log a client that did not wait for the answer
logger = logging.getLogger(__name__)


class Gate:
    """The outermost layer of the application."""

    def __init__(
        self, app: ASGIApp, service: Service, token: str | None, routes: Mapping[object, str]
    ) -> None:
        """``routes`` has the path of each handler, for metrics and the log: requests must not make labels."""
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
                await _broken(error)(scope, receive, response)
        finally:
            self._tell(scope, note, response.status, perf_counter() - began)

    def _refusal(self, scope: Scope) -> Response | None:
        headers, settings = Headers(scope=scope), self._service.settings
        host = _name_of(headers.get("host", ""))
        if "*" not in settings.hosts and host not in (*LOOPBACK, *map(str.lower, settings.hosts)):
            return _refused(421, f"this server is not called {host!r}; start it with --hosts to allow it")
        if not self._is_allowed(scope["path"], headers.get("authorization", "")):
            refused = _refused(
                401, "expected the header Authorization: Bearer TOKEN, with the server's token"
            )
            refused.headers["WWW-Authenticate"] = "Bearer"
            return refused
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        if has_body and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refused(415, "expected the header Content-Type: application/json")
        if _number(headers.get("content-length", "0")) > settings.max_body:
            return _refused(413, _too_large(settings.max_body))
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


def _broken(error: Exception) -> Response:
    """A bug, or no memory: the client hears that, the log has the rest."""
    if isinstance(error, MemoryError):
        return _refused(503, "not enough memory for this query")
    return _refused(500, "this is a bug in Beacon; the server's log has the details")


def _limited(receive: Receive, limit: int) -> Receive:
    """The same messages, until they are too many bytes."""
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, _too_large(limit))
        return message

    return counted


def _too_large(limit: int) -> str:
    return f"the request is too large: at most {limit:,} bytes are taken"


def _refused(status: int, reason: str) -> Response:
    return as_response({"error": reason}, status)


def _name_of(host: str) -> str:
    """The name in a Host header, without the port: ``[::1]:8080`` is ``::1``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
