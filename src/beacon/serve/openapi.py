"""The OpenAPI document, made from the routes and the fields of a request."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, get_args

from beacon import __version__
from beacon.io.settings import Setting, settings_of
from beacon.serve.ask import Ask

if TYPE_CHECKING:
    from beacon.serve.app import Endpoint

TYPES: dict[Any, dict[str, Any]] = {
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    list[str]: {"type": "array", "items": {"type": "string"}},
    Mapping[str, Any]: {"type": "object"},
}
NO_CONTENT = 204
ERRORS = {
    "401": "The token is missing or wrong.",
    "404": "There is no such model or session.",
    "413": "The body is too large.",
    "422": "The evidence does not fit the model, or a field is wrong; one line says how.",
    "429": "The queue is full, or the time was up in it; Retry-After says when to try again.",
}
ANSWER = {
    "type": "object",
    "description": "What `beacon solve --json` prints.",
    "required": ["log_score", "assignment", "named_assignment", "gap", "optimal", "proof", "stop"],
}


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Beacon",
            "version": __version__,
            "description": "Most probable explanations of graphical models.",
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _schemas() -> dict[str, Any]:
    fields = {name: _field(one) for name, one in settings_of(Ask).items()}
    queries = {"type": "array", "items": fields["evidence"], "description": "The evidence of each query."}
    others = {name: schema for name, schema in fields.items() if name != "evidence"}
    return {
        "Answer": ANSWER,
        "Ask": _object(fields),
        "AskMany": _object({"queries": queries, **others}) | {"required": ["queries"]},
        "Evidence": _object({"evidence": fields["evidence"]}),
        "Error": _object({"error": {"type": "string"}}) | {"required": ["error"]},
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _field(one: Setting) -> dict[str, Any]:
    is_union = isinstance(one.kind, UnionType)
    kinds = [kind for kind in (get_args(one.kind) if is_union else (one.kind,)) if kind is not NoneType]
    known = [TYPES[kind] for kind in kinds]
    schema = known[0] if len(known) == 1 else {"anyOf": known}
    return schema | {"description": one.doc} | ({} if one.default is None else {"default": one.default})


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    name = endpoint.handler.__name__
    asks = {one: _field(field) for one, field in settings_of(Ask).items()}
    parameters = [
        _parameter(one, "path", {"type": "string"}) | {"required": True}
        for one in re.findall(r"{(\w+)}", endpoint.path)
    ]
    if name == "around":
        parameters.append(_parameter("variable", "query", {"type": "string"}) | {"required": True})
    if endpoint.asked and endpoint.method == "GET":
        parameters += [_parameter(one, "query", schema) for one, schema in asks.items()]
    made: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{name}",
        "summary": inspect.getdoc(endpoint.handler),
        "parameters": parameters,
        "responses": _responses(endpoint),
    }
    if endpoint.asked and endpoint.method != "GET":
        made["requestBody"] = {"content": _content("application/json", endpoint.asked)}
    return made


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": schema}


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if endpoint.answer:
        good["content"] = _content(endpoint.media, endpoint.answer)
    elif endpoint.status != NO_CONTENT:
        good["content"] = {endpoint.media: {}}
    bad = {"content": _content("application/json", "Error")}
    errors = {code: {"description": text, **bad} for code, text in ERRORS.items()}
    return {str(endpoint.status): good, **errors}


def _content(media: str, schema: str) -> dict[str, Any]:
    return {media: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
