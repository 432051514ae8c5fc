"""The routes, called by a real client over a real socket."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

import beacon
from beacon import __version__
from beacon.formats import write_model
from beacon.formats.costs import CostKind
from beacon.guide.fast_guide import FastGuide
from beacon.serve.app import ENDPOINTS
from beacon.serve.ask import Ask
from beacon.serve.models import ServedModel
from beacon.serve.workers import Deadline
from tests.cli.helpers import run
from tests.guide.helpers import random_weights
from tests.serve.helpers import GRID, Running, garden, until

GARDEN = "api/models/garden"


def test_health_and_models(client: httpx.Client) -> None:
    health = client.get("api/health").json()
    assert health["status"] == "ok"
    assert health["version"] == __version__
    listed = client.get("api/models").json()["models"]
    assert [one["name"] for one in listed] == ["garden", "grid"]
    assert listed[0]["variables"] == 3
    assert listed[0]["width_bound"] == 2


def test_a_model_has_variables_values_and_groups(client: httpx.Client) -> None:
    model = client.get(GARDEN).json()
    assert model["list"][2] == {"name": "grass", "values": ["dry", "wet"]}
    assert model["groups"] == {"causes": ["rain"], "between": ["sprinkler"], "effects": ["grass"]}
    assert client.get("api/models/grid").json()["groups"] == {}


def test_a_variable_with_its_factors(client: httpx.Client) -> None:
    found = client.get(f"{GARDEN}/around", params={"variable": "sprinkler"}).json()
    factors = [["rain", "sprinkler"], ["rain", "sprinkler", "grass"]]
    assert found == {"name": "sprinkler", "num_factors": 2, "factors": factors}
    assert "name a variable" in client.get(f"{GARDEN}/around").json()["error"]


def test_solve_answers_as_the_command_line(server: Running, tmp_path: Path) -> None:
    path = tmp_path / "garden.bif"
    write_model(garden(), path)
    options = ["--alternatives", 2, "--margins", "--suppose", "rain=yes", "--json", "--quiet"]
    said = run("solve", path, "-e", "grass=wet", *options).json
    asked = {"alternatives": 2, "margins": True, "suppose": {"rain": "yes"}}
    answer = server.ask(evidence={"grass": "wet"}, **asked).json()
    assert answer["named_assignment"]["sprinkler"] == "on"
    assert answer["proof"] == "elimination"
    assert answer.keys() == said.keys()
    times = {"seconds", "total_seconds", "supposed"}
    for key in answer.keys() - times:
        assert answer[key] == (pytest.approx(said[key]) if isinstance(said[key], float) else said[key]), key


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("all", {"rain": "no", "sprinkler": "on", "grass": "wet"}),
        ("query", {"rain": "no", "sprinkler": "on"}),
        ("changed", {"sprinkler": "on"}),
        ("sprinkler", {"sprinkler": "on"}),
        (["grass", "rain"], {"grass": "wet", "rain": "no"}),
    ],
)
def test_show_chooses_variables(server: Running, show: str | list[str], expected: dict[str, str]) -> None:
    answer = server.ask(evidence={"grass": "wet"}, show=show, margins=True).json()
    assert answer["named_assignment"] == expected
    assert answer["margins"].keys() == expected.keys() - {"grass"}


def test_steps_decide_alone(server: Running) -> None:
    answer = server.ask("grid", evidence={"x_0_0": "1"}, steps=2000).json()
    alone = beacon.solve(GRID, {"x_0_0": "1"}, stop=beacon.MaxSteps(2000))
    assert (answer["steps"], answer["stop"]) == (alone.steps, "steps")
    assert answer["log_score"] == pytest.approx(alone.log_score)


def test_a_guide_has_its_say() -> None:
    guide = FastGuide(GRID, random_weights(GRID))
    served = ServedModel("guided", GRID, guide=guide)
    found = served.solve(Ask(steps=100).question(GRID), Deadline(20))
    alone = beacon.solve(GRID, guide=guide, stop=beacon.MaxSteps(100))
    assert found.assignment.tolist() == alone.assignment.tolist()
    unguided = beacon.solve(GRID, stop=beacon.MaxSteps(100))
    assert found.assignment.tolist() != unguided.assignment.tolist()


def test_a_cost_is_told() -> None:
    served = ServedModel("costs", garden(), costs=CostKind(is_whole=True))
    answer = served.as_json(served.solver.solve({}), Ask().question(served.model))
    assert answer["cost"] == round(-answer["log_score"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"evidence": {"gras": "wet"}}, "no variable is called 'gras'; did you mean 'grass'?"),
        ({"evidence": {"grass": "green"}}, "variable 'grass' has no value 'green'; its values are dry, wet"),
        ({"evidence": ["grass"]}, "evidence must be an object like {'fever': 'yes'}; found ['grass']"),
        ({"evidenc": {}}, "no field is called 'evidenc'; did you mean 'evidence'?"),
        ({"seconds": 1e9}, "seconds must be a number from 0.001 to 60; found 1000000000.0"),
        ({"seconds": "1"}, "seconds must be a number from 0.001 to 60; found '1'"),
        ({"steps": -1}, "steps must be a whole number of at least 0; found -1"),
        ({"gap": -1}, "gap must be a number of at least 0; found -1"),
        ({"alternatives": 101}, "alternatives must be a whole number from 1 to 100; found 101"),
        ({"margins": 1}, "margins must be true or false; found 1"),
        ({"show": [1]}, "show must be a text or a list of names; found [1]"),
        ({"show": ["gras"]}, "no variable is called 'gras'; did you mean 'grass'?"),
        (
            {"evidence": {"rain": "no"}, "suppose": {"rain": "yes"}},
            "'rain' is observed as 'no'; suppose a variable that is not, or leave it out of the evidence",
        ),
    ],
)
def test_what_a_client_can_put_right_is_one_line(
    server: Running, body: dict[str, object], message: str
) -> None:
    response = server.ask(**body)
    assert (response.status_code, response.json()) == (422, {"error": message})


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"{", 400, "expected JSON, found "),
        (b"[" * 100_000, 400, "expected JSON, found "),
        (b"[]", 422, "expected a JSON object, such as {'evidence': {}}; found []"),
        (b"9" * 10_000, 400, "expected JSON, found "),
    ],
)
def test_a_body_that_is_no_object(client: httpx.Client, sent: bytes, status: int, message: str) -> None:
    response = client.post(f"{GARDEN}/solve", content=sent, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert response.json()["error"].startswith(message)


def test_an_empty_body_asks_for_the_answer_without_evidence(client: httpx.Client) -> None:
    assert client.post(f"{GARDEN}/solve").json()["named_assignment"]["grass"] == "dry"


def test_unknown_models_and_routes(client: httpx.Client) -> None:
    missing = client.post("api/models/gardn/solve")
    assert (missing.status_code, missing.json()["error"]) == (
        404,
        "no model is called 'gardn'; did you mean 'garden'?",
    )
    assert client.get("api/nothing").status_code == 404
    assert client.delete("api/health").status_code == 405


def test_many_queries_are_lines_of_json(client: httpx.Client) -> None:
    queries = [{"grass": "wet"}, {"rain": "yes"}, {}] * 5
    with client.stream(
        "POST", f"{GARDEN}/solve-many", json={"queries": queries, "show": "query"}
    ) as response:
        lines = [json.loads(line) for line in response.iter_lines()]
    assert sorted(line["query"] for line in lines) == list(range(15))
    named = {line["query"]: line["named_assignment"] for line in lines}
    assert named[0] == {"rain": "no", "sprinkler": "on"}
    assert named[1] == {"sprinkler": "off", "grass": "wet"}


def test_many_queries_are_checked_first(client: httpx.Client) -> None:
    response = client.post(f"{GARDEN}/solve-many", json={"queries": [{}, {"gras": "wet"}]})
    assert (response.status_code, response.json()["error"]) == (
        422,
        "no variable is called 'gras'; did you mean 'grass'?",
    )
    response = client.post(f"{GARDEN}/solve-many", json={"queries": {}})
    assert response.json()["error"] == "queries must be a list, such as [{'fever': 'yes'}]; found {}"
    response = client.post(f"{GARDEN}/solve-many", json={"queries": [{}, {"evidence": {"grass": "wet"}}]})
    assert response.json()["error"] == (
        "each of queries is the evidence itself, such as {'fever': 'yes'}, and other fields stand beside "
        "queries; found {'evidence': {'grass': 'wet'}}"
    )
    response = client.post(f"{GARDEN}/solve-many", json={"queries": [{}] * 10_001})
    assert response.json()["error"].startswith("the number of queries must be a whole number from 0 to 10000")


def events_of(response: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    blocks = [block.splitlines() for block in response.read().decode().split("\n\n") if block]
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in blocks]


def test_a_stream_has_improvements_bounds_and_the_answer(client: httpx.Client) -> None:
    parameters = {"evidence": '{"x_0_0": "1"}', "seconds": "0.5", "show": "x_0_0"}
    with client.stream("GET", "api/models/grid/solve-stream", params=parameters) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = events_of(response)
    scores = [data["log_score"] for kind, data in events if kind == "improvement"]
    bounds = [data["upper_bound"] for kind, data in events if kind == "bound"]
    kind, answer = events[-1]
    assert kind == "answer"
    assert answer["named_assignment"] == {"x_0_0": "1"}
    assert scores == sorted(scores)
    assert len(bounds) > 1
    assert bounds == sorted(bounds, reverse=True)
    slack = 1e-6  # scores are added up in another order at the end
    assert scores[-1] - slack <= answer["log_score"] <= answer["upper_bound"] <= bounds[-1] + slack


def test_a_stream_may_be_posted_and_ends_with_a_proof(client: httpx.Client) -> None:
    with client.stream("POST", f"{GARDEN}/solve-stream", json={"evidence": {"grass": "wet"}}) as response:
        ((kind, answer),) = events_of(response)
    assert (kind, answer["proof"]) == ("answer", "elimination")


def test_a_session_keeps_its_evidence(client: httpx.Client) -> None:
    opened = client.post(f"{GARDEN}/sessions", json={"evidence": {"grass": "wet"}})
    assert opened.status_code == 201
    path = f"{GARDEN}/sessions/{opened.json()['id']}"
    assert client.get(path).json()["evidence"] == {"grass": "wet"}
    patched = client.patch(path, json={"evidence": {"rain": "yes"}, "margins": True}).json()
    assert patched["evidence"] == {"rain": "yes", "grass": "wet"}
    assert patched["answer"]["named_assignment"]["sprinkler"] == "off"
    assert "margins" in patched["answer"]
    taken_back = client.patch(path, json={"evidence": {"rain": None}}).json()
    assert taken_back["evidence"] == {"grass": "wet"}
    assert taken_back["answer"]["named_assignment"]["sprinkler"] == "on"
    wrong = client.patch(path, json={"evidence": {"rain": "no", "gras": "wet"}})
    assert wrong.status_code == 422
    assert client.get(path).json()["evidence"] == {"grass": "wet"}, "a wrong patch changes nothing"
    assert client.get(path.replace("garden", "grid")).status_code == 404, "a session belongs to its model"
    other = client.post(f"{GARDEN}/sessions", json={"margins": True})
    assert other.json()["error"] == "no field is called 'margins'; there are: evidence"
    assert client.delete(path).status_code == 204
    assert "may have expired" in client.get(path).json()["error"]


def test_openapi_describes_every_route_and_field(client: httpx.Client) -> None:
    document = client.get("api/openapi.json").json()
    described = {(method.upper(), path) for path, all in document["paths"].items() for method in all}
    assert described == {(one.method, one.path) for one in ENDPOINTS}
    operations = [one for methods in document["paths"].values() for one in methods.values()]
    assert all(one["summary"] for one in operations)
    assert len({one["operationId"] for one in operations}) == len(operations)
    ask = document["components"]["schemas"]["Ask"]["properties"]
    assert ask["margins"]["type"] == "boolean"
    assert ask["evidence"]["type"] == "object"
    assert {"type": "string"} in ask["show"]["anyOf"]
    body = {name: field.get("default") for name, field in ask.items() if "default" in field}
    answer = client.post(f"{GARDEN}/solve", json=body)
    assert answer.status_code == 200, "the defaults of the document can be sent"
    required = document["components"]["schemas"]["Answer"]["required"]
    assert set(required) <= answer.json().keys()
    text = json.dumps(document)
    refs = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert refs <= document["components"]["schemas"].keys()


def test_metrics_count_requests_proofs_and_times(server: Running, client: httpx.Client) -> None:
    def value(line: str) -> float:
        text = client.get("metrics").text
        return next((float(row.split()[-1]) for row in text.splitlines() if row.startswith(line)), 0.0)

    answers = 'beacon_answers_total{model="garden",proof="elimination"}'
    requests = 'beacon_requests_total{route="/api/models/{name}/solve",status="200"}'
    before = value(answers), value(requests)
    server.ask(evidence={"grass": "wet"})
    until(lambda: value(requests) == before[1] + 1)  # counted when the response has left
    assert value(answers) == before[0] + 1
    text = client.get("metrics").text
    assert 'beacon_request_seconds_bucket{route="/api/models/{name}/solve",le="+Inf"}' in text
    assert "# TYPE beacon_wait_seconds histogram" in text
    assert f"beacon_workers {server.service.workers.count}" in text
