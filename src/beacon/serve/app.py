"""The application: routes, errors, and the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from beacon.errors import BeaconError
from beacon.serve import api
from beacon.serve.gate import GONE, PAGE, Gate
from beacon.serve.openapi import document
from beacon.serve.service import GoneError, Service
from beacon.serve.workers import BusyError

FILES = Path(__file__).parent / "page"


class Endpoint(NamedTuple):
    """One way to call the API. Its handler's docstring describes it."""

    method: str
    path: str
    handler: Callable[[Request], Awaitable[Response]]


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
    Endpoint("POST", f"{MODEL}/solve", api.solve),
    Endpoint("POST", f"{MODEL}/solve-many", api.solve_many),
    Endpoint("GET", f"{MODEL}/solve-stream", api.solve_stream),
    Endpoint("POST", f"{MODEL}/solve-stream", api.solve_stream),
    Endpoint("POST", f"{MODEL}/sessions", api.new_session),
    Endpoint("GET", f"{MODEL}/sessions/{{id}}", api.session),
    Endpoint("PATCH", f"{MODEL}/sessions/{{id}}", api.patch_session),
    Endpoint("DELETE", f"{MODEL}/sessions/{{id}}", api.end_session),
    Endpoint("GET", "/metrics", api.metrics),
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
        exception_handlers={BeaconError: _refused, HTTPException: _failed},
        lifespan=lifespan,
    )
    app.state.service = service
    return app


async def page(request: Request) -> Response:
    """The page for a person."""
    return FileResponse(FILES / "index.html")


async def _refused(request: Request, error: Exception) -> Response:
    """What a client can put right, in one line."""
    if isinstance(error, GoneError):
        return Response(status_code=GONE)
    status = 429 if isinstance(error, BusyError) else 422
    response = api.as_response({"error": str(error)}, status)
    if isinstance(error, BusyError):
        response.headers["Retry-After"] = str(error.retry_seconds)
    return response


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return api.as_response({"error": error.detail}, error.status_code)
