"""More than the server can do: refusals, deadlines, clients that leave, workers that are lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import httpx
import pytest
from benchmarks.serve_killer import kill

from beacon.serve.models import ServedModel
from beacon.serve.settings import ServeSettings
from beacon.serve.workers import MOST_TRIES
from tests.serve.helpers import Running, running, until

LONG = 5.0  # seconds of a search that is ended early, if all is well
GRID = "api/models/grid"


@pytest.fixture
def narrow(models: dict[str, ServedModel]) -> Iterator[Running]:
    """One worker, and room for one query that waits."""
    with running(models, ServeSettings(workers=1, queue=1)) as made:
        yield made


class Searching:
    """A client with a search that fills the one worker."""

    def __init__(self, server: Running) -> None:
        self._client = server.client()
        self._server = server

    def __enter__(self) -> Searching:
        request = self._client.build_request("POST", f"{GRID}/solve-stream", json={"seconds": LONG})
        self._response = self._client.send(request, stream=True)
        until(lambda: self._server.service.workers.num_busy == 1)
        return self

    def __exit__(self, *_: object) -> None:
        self._response.close()
        self._client.close()


def test_a_full_queue_refuses_and_says_when_to_come_back(narrow: Running) -> None:
    workers = narrow.service.workers
    with Searching(narrow), ThreadPoolExecutor(1) as pool:
        waits = pool.submit(narrow.ask, seconds=0.6)
        until(lambda: workers.num_waiting == 1)
        refused = narrow.ask()
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) >= 1
        assert refused.json()["error"].startswith("all 1 workers are busy and 1 queries wait; try again in")
        began = monotonic()
        late = waits.result()
        assert late.status_code == 429, "its time was up while it waited"
        assert late.json()["error"].startswith("the time was up before a worker was free")
        assert monotonic() - began < LONG / 2, "it was told at once, not when the worker was free"
    until(lambda: workers.num_busy == 0)
    assert narrow.ask().status_code == 200


def test_a_client_that_goes_away_ends_its_search(narrow: Running) -> None:
    began, workers = monotonic(), narrow.service.workers
    with Searching(narrow):
        pass
    until(lambda: workers.num_busy == 0)
    with pytest.raises(httpx.ReadTimeout), narrow.client() as client:
        client.post(f"{GRID}/solve", json={"seconds": LONG}, timeout=0.2)
    until(lambda: workers.num_busy == 0)
    with narrow.client() as client, pytest.raises(httpx.ReadTimeout):
        client.post(f"{GRID}/solve-many", json={"queries": [{}] * 3, "seconds": LONG}, timeout=0.2)
    until(lambda: workers.num_busy == 0 and workers.num_waiting == 0)
    assert monotonic() - began < LONG
    assert "beacon_cancelled_total 3" in narrow.service.metrics.text()


def test_a_deadline_counts_the_wait_and_all_that_is_asked(server: Running) -> None:
    began = monotonic()
    answer = server.ask("grid", seconds=0.6, alternatives=5, margins=True, suppose={"x_3_3": "1"})
    assert monotonic() - began < 1.2
    assert answer.status_code == 200
    assert answer.json()["stop"] == "seconds"


def test_many_queries_wait_for_room(narrow: Running) -> None:
    with ThreadPoolExecutor(4) as pool, narrow.client() as client:
        body = {"queries": [{"grass": "wet"}] * 40, "show": "query"}
        posts = [pool.submit(client.post, "api/models/garden/solve-many", json=body) for _ in range(4)]
        lines = [json.loads(line) for post in posts for line in post.result().iter_lines()]
    assert len(lines) == 160
    assert all("error" not in line for line in lines)


def test_all_queries_together_end_in_time(models: dict[str, ServedModel]) -> None:
    settings = ServeSettings(workers=1, max_seconds=0.5)
    with running(models, settings) as server, server.client() as client:
        body = {"queries": [{}] * 50, "seconds": 0.2, "show": ["x_0_0"]}
        response = client.post(f"{GRID}/solve-many", json=body)
    lines = [json.loads(line) for line in response.iter_lines()]
    assert len(lines) == 50
    assert 2 <= sum("log_score" in line for line in lines) <= 5
    assert lines[-1]["error"].startswith("the time was up before a worker was free")


def test_nothing_is_lost_when_a_worker_is_killed(narrow: Running) -> None:
    workers = narrow.service.workers
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(narrow.ask, "grid", seconds=1.0)
        until(lambda: workers.num_busy == 1)
        (worker,) = workers.threads
        kill(worker)
        until(lambda: workers.num_lost == 1)
        assert answer.result().status_code == 200
    assert len(workers.threads) == 1
    assert worker not in workers.threads
    assert narrow.ask().status_code == 200


def test_no_memory_is_told(narrow: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(narrow.service.models["garden"], "solve", fail)
    full = narrow.ask()
    assert (full.status_code, full.json()) == (503, {"error": "not enough memory for this query"})
    assert full.headers["X-Content-Type-Options"] == "nosniff"
    until(lambda: 'status="503"' in narrow.service.metrics.text())


def test_work_that_ends_its_workers_is_given_up(narrow: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object, **__: object) -> None:
        raise SystemExit

    monkeypatch.setattr(narrow.service.models["garden"], "solve", end)
    broken = narrow.ask()
    assert (broken.status_code, broken.json()) == (
        500,
        {"error": "this is a bug in Beacon; the server's log has the details"},
    )
    assert broken.headers["X-Content-Type-Options"] == "nosniff"
    monkeypatch.undo()
    assert narrow.ask().status_code == 200
    assert narrow.service.workers.num_lost == MOST_TRIES


def test_what_was_begun_is_finished_before_the_end(models: dict[str, ServedModel]) -> None:
    with ThreadPoolExecutor(1) as pool:
        with running(models, ServeSettings(workers=1)) as server:
            answer = pool.submit(server.ask, "grid", seconds=1.0)
            until(lambda: server.service.workers.num_busy == 1)
        assert answer.result().status_code == 200
    assert not server.service.workers.threads


def test_sessions_are_few_and_expire(models: dict[str, ServedModel]) -> None:
    settings = ServeSettings(max_sessions=2, session_seconds=0.3)
    with running(models, settings) as server, server.client() as client:
        opened = [client.post(f"{GRID}/sessions") for _ in range(3)]
        assert [one.status_code for one in opened] == [201, 201, 429]
        assert opened[2].headers["Retry-After"] == "1"
        path = f"{GRID}/sessions/{opened[0].json()['id']}"
        until(lambda: "beacon_sessions 0" in client.get("metrics").text)
        assert client.get(path).status_code == 404
        assert client.post(f"{GRID}/sessions").status_code == 201
