"""How `beacon serve` does under load: throughput, overload, a worker that is killed, and a soak.

python benchmarks/serve_load.py --data DATA [--only throughput overload kill] [--soak MINUTES] [-o FILE]

The server is a process of its own on a free local port; 32 connections ask it from this one, each again as
soon as it has its answer. Each run is added to the results file; none replaces another.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from common import load, options

from beacon.formats import write_model
from beacon.model.families import demo_model
from beacon.model.families.diagnosis import findings_of
from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import sample_assignments
from beacon.serve.workers import MOST_RESERVE, MOST_TRIES

RESULTS = Path(__file__).resolve().parent.parent / "results" / "serve.json"
CONNECTIONS, SECONDS = 32, 10.0
QUERIES = 100
OK, BUSY = 200, 429
HEAD = (
    "POST /api/models/{model}/solve HTTP/1.1\r\nHost: localhost\r\n"
    "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
)
SAMPLE_SECONDS = 10.0  # between two looks at the memory of a soak
PARTS = ("throughput", "overload", "kill")


class Reply(NamedTuple):
    """What came back, and when."""

    status: int
    seconds: float


class Server(NamedTuple):
    """A server at work."""

    process: subprocess.Popen[str]
    host: str
    port: int

    @property
    def megabytes(self) -> float:
        """Memory that the server holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        (found,) = re.findall(r"VmRSS:\s+(\d+) kB", status)
        return int(found) / 1000

    @property
    def processor_seconds(self) -> float:
        """Processor time that the server has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(files: Sequence[Path], *more: str, program: Sequence[str] = ("-m", "beacon")) -> Iterator[Server]:
    """Serve some models; at the end the server must stop by itself."""
    command = [sys.executable, *program, "serve", *map(str, files), "--port", "0", "--json", "--quiet", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        host, port = address.removeprefix("http://").rstrip("/").split(":")
        try:
            yield Server(process, host, int(port))
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0, "the server did not end cleanly"


async def ask(server: Server, model: str, bodies: Sequence[bytes], ends: float, seed: int) -> list[Reply]:
    """One connection: ask, wait for the answer, ask again until the time is up."""
    rng, replies = random.Random(seed), list[Reply]()
    reader, writer = await asyncio.open_connection(server.host, server.port)
    while (began := perf_counter()) < ends:
        body = rng.choice(bodies)
        writer.write(HEAD.format(model=model, length=len(body)).encode() + body)
        status, retry = await _response(reader)
        replies.append(Reply(status, perf_counter() - began))
        if status == BUSY:  # a client of good will comes back later; this one is in a hurry
            await asyncio.sleep(min(retry, 0.05))
    writer.close()
    await writer.wait_closed()
    return replies


async def _response(reader: asyncio.StreamReader) -> tuple[int, float]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
    await reader.readexactly(int(headers["content-length"]))
    return int(head.split(" ", 2)[1]), float(headers.get("retry-after", 0))


async def asked(
    server: Server, model: str, bodies: Sequence[bytes], seconds: float, connections: int = CONNECTIONS
) -> list[Reply]:
    """All connections at once."""
    ends = perf_counter() + seconds
    each = (ask(server, model, bodies, ends, seed) for seed in range(connections))
    return [reply for replies in await asyncio.gather(*each) for reply in replies]


def measured(
    server: Server,
    model: str,
    bodies: Sequence[bytes],
    seconds: float = SECONDS,
    connections: int = CONNECTIONS,
) -> tuple[list[Reply], float]:
    """All replies, and how long they took."""
    began = perf_counter()
    replies = asyncio.run(asked(server, model, bodies, seconds, connections))
    return replies, perf_counter() - began


def figures(replies: Sequence[Reply], took: float) -> dict[str, Any]:
    """Requests a second and latencies of the answers; the rest by their status."""
    times = sorted(reply.seconds for reply in replies if reply.status == OK)
    others = [reply for reply in replies if reply.status != OK]
    return {
        "answers": len(times),
        "a_second": round(len(times) / took, 1),
        "p50_ms": round(1e3 * times[len(times) // 2], 1) if times else None,
        "p99_ms": round(1e3 * times[int(0.99 * len(times))], 1) if times else None,
        "max_ms": round(1e3 * times[-1], 1) if times else None,
        "refused": sum(reply.status == BUSY for reply in others),
        "failed": sum(reply.status != BUSY for reply in others),
    }


def bodies_of(model: GraphicalModel, evidences: Sequence[dict[int, int]], **asked: Any) -> list[bytes]:
    """Requests by name."""
    named = (
        {model.names[i]: model.labels[i][value] for i, value in evidence.items()} for evidence in evidences
    )
    return [json.dumps({"evidence": evidence, **asked}).encode() for evidence in named]


class Work(NamedTuple):
    """Models on disk, and evidence for them."""

    files: list[Path]
    bn_30: GraphicalModel
    bn_30_evidence: list[dict[int, int]]
    clinic: GraphicalModel
    clinic_evidence: list[dict[int, int]]


def prepared(data: Path, folder: Path, seed: int) -> Work:
    """BN_30 with sampled queries, and the clinic with patients of whom ten findings are known."""
    bn_30, evidences = load(data, "BN_30", QUERIES, seed)
    clinic = demo_model()
    rng, findings = random.Random(seed), findings_of(clinic)
    patients = sample_assignments(clinic, QUERIES, seed)
    seen = [{i: int(patient[i]) for i in sorted(rng.sample(findings, 10))} for patient in patients]
    write_model(clinic, folder / "clinic.bif")
    return Work([data / "paper" / "BN_30.uai.xz", folder / "clinic.bif"], bn_30, evidences, clinic, seen)


def throughput(work: Work) -> list[dict[str, Any]]:
    """As many answers as all connections together can get."""
    small = {"probability": False}
    few = {"show": list(work.bn_30.names[:10]), **small}
    bn_30, clinic = (work.bn_30, work.bn_30_evidence), (work.clinic, work.clinic_evidence)
    kinds = [
        ("BN_30", 1, "proved; ten variables shown", bodies_of(*bn_30, **few)),
        ("BN_30", CONNECTIONS, "proved; ten variables shown", bodies_of(*bn_30, **few)),
        ("BN_30", CONNECTIONS, "proved; all variables shown", bodies_of(*bn_30, **small)),
        ("BN_30", CONNECTIONS, "proved; with its probability", bodies_of(*bn_30)),
        ("clinic", 1, "until proved, at most 20 s", bodies_of(*clinic, seconds=20)),
        ("clinic", CONNECTIONS, "until proved, at most 20 s", bodies_of(*clinic, seconds=20)),
        ("clinic", CONNECTIONS, "until 3 nats from the best possible", bodies_of(*clinic, seconds=20, gap=3)),
    ]
    rows = []
    with served(work.files) as server:
        for model, connections, what, bodies in kinds:
            used = server.processor_seconds
            replies, took = measured(server, model, bodies, SECONDS, connections)
            each = (server.processor_seconds - used) / len(replies)
            row = {"model": model, "asked": what, "connections": connections, **figures(replies, took)}
            rows.append(row | {"processor_ms": round(1e3 * each, 1)})
            print(rows[-1], flush=True)
    return rows


def overload(work: Work) -> dict[str, Any]:
    """Questions that take their whole second, 32 at a time: who is answered, and when?"""
    bodies = bodies_of(work.clinic, work.clinic_evidence, seconds=1.0, margins=True, show=["influenza"])
    with served(work.files, "--queue", "4") as server:
        replies, took = measured(server, "clinic", bodies, 2 * SECONDS)
    refusals = sorted(reply.seconds for reply in replies if reply.status == BUSY)
    late = sum(reply.status == OK and reply.seconds > 1.1 for reply in replies)
    more = {"deadline_ms": 1000, "later_than_1100_ms": late}
    return figures(replies, took) | more | {"slowest_refusal_ms": round(1e3 * refusals[-1], 1)}


def kill(work: Work) -> dict[str, Any]:
    """A worker is killed twice a second: is any answer lost?"""
    bodies = bodies_of(work.bn_30, work.bn_30_evidence, show=["x0"], probability=False)
    killer = str(Path(__file__).with_name("serve_killer.py"))
    with served(work.files[:1], program=(killer,)) as server:
        replies, took = measured(server, "BN_30", bodies)
        lost = asyncio.run(_metric(server, "beacon_workers_lost"))
    return figures(replies, took) | {"workers_killed": int(lost)}


async def _metric(server: Server, name: str) -> float:
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = (await reader.read()).decode()
    writer.close()
    (found,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
    return float(found)


def soak(work: Work, minutes: float) -> dict[str, Any]:
    """The same load for long: does the server's memory grow?"""
    bodies = bodies_of(work.bn_30, work.bn_30_evidence, show=["x0"], margins=True, probability=False)
    replies, memory = list[Reply](), list[float]()
    with served(work.files) as server:
        began = perf_counter()
        while perf_counter() - began < 60 * minutes:
            replies += asyncio.run(asked(server, "BN_30", bodies, SAMPLE_SECONDS))
            memory.append(round(server.megabytes, 1))
        took = perf_counter() - began
    return figures(replies, took) | {"minutes": minutes, "megabytes": memory}


def machine() -> dict[str, Any]:
    """Cores and versions."""
    versions = {name: version(name) for name in ("starlette", "uvicorn")}
    return {"cores": os.cpu_count(), "python": platform.python_version(), **versions}


def main() -> None:
    parser = options(__doc__, ("BN_30",))
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS), help="what to measure")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="soak, too")
    parser.add_argument("-o", "--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    runs = json.loads(chosen.out.read_text(encoding="utf-8")) if chosen.out.exists() else []
    parts: dict[str, Callable[[Work], Any]]
    parts = {"throughput": throughput, "overload": overload, "kill": kill}
    if chosen.soak:
        parts["soak"] = partial(soak, minutes=chosen.soak)
    run: dict[str, Any] = {
        "began": datetime.now(UTC).isoformat(timespec="minutes"),
        "settings": {"tries": MOST_TRIES, "reserve_seconds": MOST_RESERVE},
        "load_average": [round(os.getloadavg()[0], 1)],
        "machine": machine(),
    }
    with tempfile.TemporaryDirectory() as folder:
        work = prepared(chosen.data, Path(folder), chosen.seed)
        for name in [*chosen.only, *(["soak"] if chosen.soak else [])]:
            run[name] = parts[name](work)
            run["load_average"].append(round(os.getloadavg()[0], 1))
            print(name, run[name], flush=True)
            chosen.out.write_text(json.dumps([*runs, run], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
