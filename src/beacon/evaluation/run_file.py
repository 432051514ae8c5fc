"""``run.json``: all that is needed to understand an evaluation's numbers and to make them again."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from beacon import __version__
from beacon.errors import BeaconError, FormatError, UsageError
from beacon.io.files import parse_json, read_parsed, write_bytes
from beacon.io.structure import NOTHING, NUMBER, misfit

FILE = "run.json"
FORMAT = "beacon evaluation"
VERSION = 1
FIXED = ("steps", "seconds", "split", "propagate")  # one folder, one kind of measurement

SHAPE = {
    "settings": {"steps": [NUMBER], "seconds": [NUMBER]},
    "networks": {
        ...: {
            **dict.fromkeys(("short_name?", "stands_in_for?"), (str, NOTHING)),
            **dict.fromkeys(("variables?", "factors?", "max_domain?", "zero_fraction?", "log_zero?"), NUMBER),
            "guide?": (dict, NOTHING),
        }
    },
    "methods": {...: dict},
    "missing": [{"name": str, "source": str}],
    "sessions": [
        {
            **dict.fromkeys(("began", "command", "beacon", "python", "processor"), str),
            **{"cores": (int, NOTHING), "threads": int, "load": [(int, float, NOTHING)]},
            **{"methods": [str], "runs": int, "seconds": NUMBER},
        }
    ],
    "pipeline?": {
        "stages": {...: {"digest": str, "is_complete": bool, "seconds": NUMBER, "summary": str}},
        **{"sessions": [dict], "configuration?": {...: dict}, "seed?": int, "fingerprint?": str},
    },
}

Facts = dict[str, Any]


def new_run(settings: Facts) -> Facts:
    """The record of an evaluation that has not begun."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "settings": settings,
        "networks": {},
        "methods": {},
        "missing": [],
        "sessions": [],
    }


def load_run(folder: Path) -> Facts:
    """Read ``run.json``."""
    path = folder / FILE
    if not path.exists():
        raise BeaconError(
            f"{folder} holds no evaluation ({FILE} is missing); make one with `beacon evaluate`"
        )
    facts: Facts = read_parsed(path, parse_json, "the record of an evaluation")
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or facts.get("version") != VERSION:
        raise FormatError(path, "", f"expected a {FORMAT} of version {VERSION}")
    if problem := misfit(facts, SHAPE):
        raise FormatError(path, "", f"the record is damaged: {problem}")
    return facts


def open_run(folder: Path | None, settings: Facts) -> Facts:
    """The folder's record if it has one that fits these settings, else a new one."""
    if folder is None or not (folder / FILE).exists():
        return new_run(settings)
    facts = load_run(folder)
    for name in FIXED:
        before, now = facts["settings"].get(name), settings[name]
        if before != now:
            raise UsageError(
                f"{folder} holds an evaluation with other settings: {name} was {before}, now {now}; "
                "use the same settings to go on with it, or another folder"
            )
    facts["settings"] = settings
    return facts


def note_once(facts: Facts, kind: str, name: str, entry: Facts, folder: Path | None) -> None:
    """Enter a network or a method; another one of the same name is an error."""
    plain = json.loads(json.dumps(entry))
    known = facts[kind].setdefault(name, plain)
    if known != plain:
        differing = [key for key in {**known, **plain} if known.get(key) != plain.get(key)]
        raise UsageError(
            f"{folder} holds results of {name!r} with another {', '.join(sorted(differing))}; "
            "use another folder"
        )


def save_run(folder: Path | None, facts: Facts) -> None:
    """Write ``run.json``; without a folder, nothing."""
    if folder is not None:
        text = json.dumps(facts, indent=1, allow_nan=False) + "\n"
        write_bytes(folder / FILE, text.encode())


def new_session(command: str, threads: int) -> Facts:
    """Where and when the work is done, and by what versions."""
    packages = ("numpy", "numba", "torch", "pytoulbar2")
    return {
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "beacon": __version__,
        "python": platform.python_version(),
        "packages": {name: found for name in packages if (found := _version_of(name))},
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "load": [load_average()],
        "methods": [],
        "runs": 0,
        "seconds": 0.0,
    }


def load_average() -> float | None:
    """Programs that wanted a core in the last minute; with more of them than cores, times are unreliable."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def session_facts(run: Facts, out: str, networks: list[str]) -> Facts:
    """The last session at a glance: what ``beacon evaluate --json`` prints."""
    session = run["sessions"][-1]
    return {
        "out": out,
        "networks": networks,
        "missing": [entry["name"] for entry in run["missing"]],
        "methods": session["methods"],
        "runs": session["runs"],
        "seconds": session["seconds"],
    }


def facts_in_words(facts: Facts) -> str:
    """The same in one line."""
    missing, counts = facts["missing"], {"network": len(facts["networks"]), "method": len(facts["methods"])}
    networks, methods = (f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
    absent = f", {len(missing)} missing ({', '.join(missing)})" if missing else ""
    return (
        f"{facts['out']}: {networks}{absent}, {methods}, {facts['runs']:,} new runs in "
        f"{facts['seconds']:.1f} s; see them with: beacon report {facts['out']}"
    )
