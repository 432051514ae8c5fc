"""Who may ask, how much, and what is told about it."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator

import httpx
import pytest

from beacon.serve.app import listen
from beacon.serve.models import ServedModel
from beacon.serve.settings import ServeSettings
from tests.serve.helpers import Running, running, until

SOLVE = "api/models/garden/solve"


@pytest.fixture(scope="module")
def guarded(models: dict[str, ServedModel]) -> Iterator[Running]:
    settings = ServeSettings(max_body=2000, hosts=("beacon.example",))
    with running(models, settings, token="sésame") as made:
        yield made


@pytest.mark.parametrize("path", ["api/models", "metrics", "api/models/garden/sessions/x", "api/nothing"])
@pytest.mark.parametrize("given", [None, "Bearer wrong", "sésame", "Basic sésame"])
def test_without_the_token_nothing_is_told(guarded: Running, path: str, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given.encode()}
    with guarded.client() as client:
        refused = client.get(path, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert refused.json()["error"].startswith("expected the header Authorization: Bearer TOKEN")


def test_with_the_token_all_is_open(guarded: Running) -> None:
    with guarded.client(headers={"Authorization": "Bearer sésame".encode()}) as client:
        assert client.post(SOLVE, json={}).status_code == 200


@pytest.mark.parametrize("path", ["", "page/main.js", "api/health", "api/openapi.json"])
def test_the_page_itself_needs_no_token(guarded: Running, path: str) -> None:
    with guarded.client() as client:
        assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ["page/../models.py", "page/%2e%2e/models.py", "page//etc/passwd"])
def test_no_other_files_are_served(server: Running, path: str) -> None:
    host, _, port = server.url.removeprefix("http://").rstrip("/").partition(":")
    with socket.create_connection((host, int(port))) as raw:
        raw.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:8080", 200), ("[::1]:8080", 200), ("Beacon.example", 200), ("evil.example", 421)],
)
def test_only_known_hosts_are_answered(guarded: Running, host: str, status: int) -> None:
    with guarded.client() as client:
        response = client.get("api/health", headers={"Host": host})
    assert response.status_code == status
    if status == 421:
        assert response.json()["error"] == (
            "this server is not called 'evil.example'; start it with --hosts to allow it"
        )


def test_a_large_body_is_refused_however_it_comes(guarded: Running) -> None:
    headers = {"Authorization": "Bearer sésame".encode(), "Content-Type": "application/json"}
    with guarded.client(headers=headers) as client:
        told = client.post(SOLVE, content=b" " * 2001)
        chunked = client.post(SOLVE, content=iter([b" " * 1500, b" " * 1500]))
    for response in (told, chunked):
        assert (response.status_code, response.json()) == (
            413,
            {"error": "the request is too large: at most 2,000 bytes are taken"},
        )


def test_a_form_of_another_site_is_refused(client: httpx.Client) -> None:
    response = client.post(SOLVE, content=b"{}", headers={"Content-Type": "text/plain"})
    assert (response.status_code, response.json()["error"]) == (
        415,
        "expected the header Content-Type: application/json",
    )


@pytest.mark.parametrize("path", ["", "page/main.js", "api/models", "api/nothing"])
def test_every_response_has_the_headers_of_a_careful_server(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == ("no-store" if path.startswith("api") else "no-cache")
    assert "server" not in headers


def lines_of(caplog: pytest.LogCaptureFixture) -> list[dict[str, object]]:
    """Those of solves; the last line of an earlier test may come late."""
    lines = [json.loads(one.message) for one in caplog.records if one.name == "beacon.serve.app"]
    return [line for line in lines if line["route"] == "/api/models/{name}/solve"]


@pytest.mark.parametrize("is_asked", [False, True])
def test_evidence_is_logged_only_if_asked_for(
    models: dict[str, ServedModel], caplog: pytest.LogCaptureFixture, is_asked: bool
) -> None:
    caplog.set_level(logging.INFO, "beacon.serve")
    with running(models, ServeSettings(log_evidence=is_asked)) as server:
        assert server.ask(evidence={"grass": "wet"}).status_code == 200
        until(lambda: lines_of(caplog))
    (line,) = lines_of(caplog)
    assert (line["method"], line["status"]) == ("POST", 200)
    assert (line["model"], line["proof"]) == ("garden", "elimination")
    assert line.get("evidence") == ({"grass": "wet"} if is_asked else None)
    assert is_asked or "grass" not in caplog.text


def test_small_answers_are_sent_at_once() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP, "asyncio turns off delays only where it sees TCP"
