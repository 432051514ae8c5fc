"""Time per step of GLS+ on generated grids of growing size: it may grow with log n, not with n.

With --program (see yardstick.py) the same is measured for the C++ yardstick: what both show alike is the
memory of the machine, not the algorithm.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

from yardstick import ours, theirs

from beacon.formats import write_evidence, write_model
from beacon.model.families import ising_grid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", nargs="+", type=int, default=[10, 20, 40, 80, 160, 300])
    parser.add_argument("--program", type=Path, help="the compiled yardstick")
    arguments = parser.parse_args()
    print(
        f"{'grid':>9} {'µs per step':>12} {'relative':>9} {'log n':>6} {'yardstick µs':>13} {'relative':>9}"
    )
    first: list[float] = []
    for side in arguments.sides:
        times = measure(side, arguments.program)
        first = first or [side * side, *times]
        growth = math.log(side * side) / math.log(first[0])
        columns = [f"{times[0]:12.3f} {times[0] / first[1]:9.2f} {growth:6.2f}"]
        columns += [f"{times[1]:13.3f} {times[1] / first[2]:9.2f}"] if arguments.program else []
        print(f"{side:4}x{side:<4}", *columns, flush=True)


def measure(side: int, program: Path | None) -> list[float]:
    """Microseconds per step of both sides, the fastest of three runs each."""
    model = ising_grid(side, side, wrap=True, seed=0)
    steps = 200_000 + 4 * side * side  # past the first descent
    with tempfile.TemporaryDirectory() as folder:
        model_path, evidence_path = Path(folder) / "grid.uai", Path(folder) / "none.evid"
        write_model(model, model_path)
        write_evidence(evidence_path, {})
        times = [min(ours(model, {}, steps, seed) for seed in range(3))]
        if program:
            times.append(min(theirs(program, model_path, evidence_path, steps, seed) for seed in range(3)))
    return times


if __name__ == "__main__":
    main()
