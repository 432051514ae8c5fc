"""``beacon serve`` as a process of its own: it says where it is, answers, and ends cleanly."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.helpers import run, start_process

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@contextmanager
def serving(*args: object) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, the line that it prints, and its address."""
    with start_process("serve", *args, "--port", 0) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        try:
            assert address is not None, process.stderr and process.stderr.read()
            yield process, line, address[0]
        finally:
            process.kill()


def asked(address: str, model: str, **body: object) -> dict[str, object]:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}api/models/{model}/solve", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        made: dict[str, object] = json.load(response)
    return made


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_cleanly(sprinkler: Path, equal_pair: Path, number: signal.Signals) -> None:
    with serving(sprinkler, equal_pair) as (process, line, address):
        assert line.startswith("serving sprinkler, pair at http://127.0.0.1:")
        assert asked(address, "sprinkler", evidence={"grass": "wet"})["assignment"] == [0, 1, 1]
        assert asked(address, "pair")["assignment"] == [1, 1]
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    lines = [json.loads(text) for text in err.splitlines()]
    assert [one["model"] for one in lines] == ["sprinkler", "pair"]
    assert "grass" not in err


def test_two_models_need_two_names(sprinkler: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "sprinkler.bif").write_text(sprinkler.read_text())
    error = run("serve", sprinkler, other / "sprinkler.bif", "--port", 0).error
    assert error.startswith("models are served by the names of their files, which must differ; found ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--guide", "somewhere"], "--guide belongs to one model; give exactly one model file (found 0)"),
        (["--queue", "0"], "--queue must be a whole number of at least 1; found 0"),
        (["--max-seconds", "-1"], "--max-seconds must be a positive number; found -1.0"),
        (["--port", "65536"], "--port must be a whole number from 0 to 65535; found 65536"),
        (["--port", "-1"], "--port must be a whole number from 0 to 65535; found -1"),
        (["missing.uai"], "cannot read missing.uai: no such file or directory"),
    ],
)
def test_wrong_use_is_one_line(options: list[str], message: str) -> None:
    assert run("serve", "--port", 0, *options).error == message


def test_an_address_that_is_taken_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = run("serve", "--port", port).error
    assert error == (
        f"cannot listen on 127.0.0.1 port {port}: Address already in use; choose another --host or --port"
    )
    unknown = run("serve", "--host", "no.such.host.invalid", "--token", "x").error
    assert unknown.startswith("cannot listen on no.such.host.invalid port 8080: ")


def test_without_the_web_framework_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "beacon.serve.app", raising=False)
    monkeypatch.delattr("beacon.serve.app", raising=False)
    assert run("serve").error == (
        "the server needs starlette and uvicorn; install it with: pip install 'beacon-mpe[serve]'"
    )
