"""How long `beacon solve` takes on a small network, from start to end of the process: results/start.json.

    python benchmarks/start.py --data DATA

Each command is run once to write bytecode and kernels, then in turn; times are of the clock and of the
processor. Beside it `import numba`, which every search needs.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

from common import options

RESULTS = Path(__file__).resolve().parent.parent / "results" / "start.json"
ROUNDS = 20


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    began = perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} ended with status {status}")
    return perf_counter() - began, usage.ru_utime + usage.ru_stime


def main() -> None:
    args = options(__doc__, ()).parse_args()
    model = str(args.data / "bif" / "alarm.bif.xz")
    commands = {
        "beacon solve alarm": ["-m", "beacon", "solve", model, "-e", "HYPOVOLEMIA=TRUE"],
        "import numba": ["-c", "import numba"],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for number in range(ROUNDS + 1):
            for name, command in commands.items():
                seconds = measured([sys.executable, *command], environment)
                if number:
                    times[name].append(seconds)
    rows = {
        name: {
            "seconds": round(median(clock for clock, _ in own), 3),
            "least_seconds": round(min(clock for clock, _ in own), 3),
            "processor_seconds": round(median(used for _, used in own), 3),
        }
        for name, own in times.items()
    }
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numba": version("numba")}
    load = [round(one, 1) for one in os.getloadavg()[:2]]
    report = {"rounds": ROUNDS, "load_average": load, "machine": machine, "commands": rows}
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
