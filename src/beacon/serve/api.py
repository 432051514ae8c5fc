"""The routes of the API: each takes a request and answers with JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from beacon import __version__
from beacon.errors import UsageError, check_count, shown
from beacon.io.settings import check_known, closest
from beacon.serve.ask import Ask, Question, check_are_evidence
from beacon.serve.models import ServedModel
from beacon.serve.service import Service, Session
from beacon.serve.streams import EventStream, Improvements, json_lines
from beacon.serve.workers import Deadline

QUERIES = "queries"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"


def as_response(made: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(json.dumps(made, allow_nan=False), status, media_type="application/json")


async def health(request: Request) -> Response:
    """Whether the server is up, and how busy it is."""
    workers = service_of(request).workers
    busy = {"workers": workers.count, "busy": workers.num_busy, "waiting": workers.num_waiting}
    return as_response({"status": "ok", "version": __version__, **busy})


async def models(request: Request) -> Response:
    """The models that are served, with their sizes."""
    return as_response({"models": [served.facts for served in service_of(request).models.values()]})


async def model(request: Request) -> Response:
    """One model: its sizes and width, its variables with their values, and groups of them."""
    return as_response(model_of(request).described())


async def around(request: Request) -> Response:
    """A variable (``?variable=NAME``) with its factors and the variables they share."""
    variable = request.query_params.get("variable")
    if variable is None:
        raise UsageError("name a variable: …/around?variable=NAME")
    return as_response(model_of(request).around(variable))


async def solve(request: Request) -> Response:
    """The most probable explanation of some evidence, as ``beacon solve --json`` has it."""
    service, served = service_of(request), model_of(request)
    question, deadline = asked_of(request, await body_of(request))
    work = partial(_answered, request, served, question, deadline)
    return as_response(await service.answer(request, work, deadline))


async def solve_stream(request: Request) -> Response:
    """Each better assignment, each better bound, and then the answer, as server-sent events."""
    service, served = service_of(request), model_of(request)
    body = parameters_of(request) if request.method == "GET" else await body_of(request)
    question, deadline = asked_of(request, body)
    stream = EventStream(service)
    hears = Improvements(stream.tell)
    work = partial(_answered, request, served, question, deadline, on_improvement=hears)
    events = stream.of(service.submit(work, deadline))
    return StreamingResponse(events, media_type=EVENTS)


async def solve_many(request: Request) -> Response:
    """Many queries: one JSON line for each, as soon as it is answered; ``query`` is its number."""
    service, served, body = service_of(request), model_of(request), await body_of(request)
    works, ask = _works(request, service, served, body)
    seconds, total = ask.deadline_seconds(service.settings), Deadline(service.settings.max_seconds)
    return StreamingResponse(json_lines(service, works, seconds, total), media_type=LINES)


def _works(
    request: Request, service: Service, served: ServedModel, body: dict[str, Any]
) -> tuple[list[Callable[[Deadline], dict[str, Any]]], Ask]:
    """What to do for each query; all are checked before the first is answered."""
    queries, settings = body.pop(QUERIES, None), service.settings
    if not isinstance(queries, list):
        raise UsageError(f"queries must be a list, such as [{{'fever': 'yes'}}]; found {shown(queries)}")
    check_count("the number of queries", len(queries), 0, settings.max_queries)
    check_are_evidence(queries, served.model)
    asks = [Ask.of({**body, "evidence": evidence}, settings) for evidence in queries]
    if settings.log_evidence:
        request.state.note["evidence"] = queries
    questions = [ask.question(served.model) for ask in asks]
    return [partial(_answered, request, served, one) for one in questions], Ask.of(body, settings)


async def new_session(request: Request) -> Response:
    """Open a session, with evidence if there is some."""
    service, served = service_of(request), model_of(request)
    body = await body_of(request)
    for key in body:
        check_known(key, ["evidence"], f"no field is called {shown(key)}")
    question, _ = asked_of(request, body)
    session = service.sessions.new(served)
    session.observe(question.ask.evidence)
    return as_response(_described(session, service), 201)


async def session(request: Request) -> Response:
    """What a session observes."""
    return as_response(_described(session_of(request), service_of(request)))


async def patch_session(request: Request) -> Response:
    """Change the evidence of a session (null takes an observation back) and answer anew."""
    service, found, body = service_of(request), session_of(request), await body_of(request)
    question, deadline = asked_of(request, body)

    def work() -> dict[str, Any]:
        found.observe(question.ask.evidence)
        return _answered(request, found.served, question, deadline, session=found)

    answer = await service.answer(request, work, deadline)
    return as_response(_described(found, service) | {"answer": answer})


async def end_session(request: Request) -> Response:
    """Forget a session."""
    service_of(request).sessions.close(session_of(request))
    return Response(status_code=204)


async def metrics(request: Request) -> Response:
    """Requests, latencies, queue and proofs, for Prometheus."""
    return Response(service_of(request).metrics.text(), media_type="text/plain; version=0.0.4")


def _described(session: Session, service: Service) -> dict[str, Any]:
    expires = service.settings.session_seconds
    return {"id": session.id, "evidence": session.solver.observed, "expires_seconds": expires}


def _answered(
    request: Request,
    served: ServedModel,
    question: Question,
    deadline: Deadline,
    *,
    session: Session | None = None,
    on_improvement: Improvements | None = None,
) -> dict[str, Any]:
    """Answer in the thread of a worker, and count it."""
    solver = None if session is None else session.solver
    result = served.solve(question, deadline, session=solver, on_improvement=on_improvement)
    proof = result.proof or "none"
    service_of(request).metrics.count("beacon_answers_total", model=served.name, proof=proof)
    request.state.note["proof"] = proof
    return served.as_json(result, question)


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
