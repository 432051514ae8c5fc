"""From a request to what it asks: its model, its session, its body."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from beacon.errors import shown
from beacon.io.settings import closest
from beacon.serve.ask import Ask, Question
from beacon.serve.models import ServedModel
from beacon.serve.service import Service
from beacon.serve.sessions import Session
from beacon.serve.workers import Deadline

BODY_SECONDS = 10.0  # that a client may take to send its request


def service_of(request: Request) -> Service:
    """What is behind the routes."""
    service: Service = request.app.state.service
    return service


def model_of(request: Request) -> ServedModel:
    """The model that the path names."""
    models, name = service_of(request).models, request.path_params["name"]
    if name not in models:
        raise HTTPException(404, f"no model is called {shown(name)}; {closest(name, list(models))}")
    request.state.note["model"] = name
    return models[name]


def session_of(request: Request) -> Session:
    """The session that the path names."""
    session = service_of(request).sessions.get(request.path_params["id"], model_of(request))
    if session is None:
        raise HTTPException(404, "no such session; it may have expired: open another with POST …/sessions")
    return session


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of a request; none at all stands for an empty one."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            data = await request.body()
    except TimeoutError:
        raise HTTPException(408, f"the request did not come within {BODY_SECONDS:g} s") from None
    try:
        body = json.loads(data or b"{}")
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"expected JSON, found {error}") from None
    if not isinstance(body, dict):
        raise HTTPException(422, f"expected a JSON object, such as {{'evidence': {{}}}}; found {shown(body)}")
    return body


def parameters_of(request: Request) -> dict[str, Any]:
    """The fields of a request without a body: each a parameter, JSON or a plain text."""
    return {name: _value(text) for name, text in request.query_params.items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def asked_of(request: Request, body: dict[str, Any]) -> tuple[Question, Deadline]:
    """The question of a request, checked against its model, and the end of its time, from now on."""
    settings, ask = service_of(request).settings, Ask.of(body, service_of(request).settings)
    question = ask.question(model_of(request).model)
    if settings.log_evidence:
        request.state.note["evidence"] = dict(ask.evidence)
    return question, Deadline(ask.deadline_seconds(settings))
