"""Time per step of GLS+ against a plain C++ GLS+ with the same model, evidence, weight and number of seeds.

The program is called as ``PROGRAM MODEL.uai EVIDENCE STEPS SECONDS WEIGHT SEED`` and prints a JSON line with
``us_per_step``. Both sides use one thread and take turns, so that a noisy machine disturbs both alike.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

from common import SPEED_MODELS, load, options

from beacon.formats import write_evidence, write_model
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsPlus

WEIGHT = 10.0


def ours(model: GraphicalModel, evidence: dict[int, int], steps: int, seed: int) -> float:
    """Microseconds per step, penalty rounds included."""
    strategy = GlsPlus(penalty_weight=WEIGHT, smoothing=1.0, restart_idle=0)
    result = solve(model, evidence, strategy=strategy, stop=MaxSteps(steps), seed=seed, propagate=False)
    return 1e6 * result.seconds / max(1, result.steps)


def theirs(program: Path, model: Path, evidence: Path, steps: int, seed: int) -> float:
    """The same of the yardstick."""
    command = [program, model, evidence, steps, 600, WEIGHT, seed + 1]
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return float(json.loads(run.stdout)["us_per_step"])


def main() -> None:
    parser = options(__doc__, SPEED_MODELS)
    parser.add_argument("--program", type=Path, required=True, help="the compiled yardstick")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each side; the fastest counts")
    arguments = parser.parse_args()
    print(f"{'model':22} {'beacon µs':>10} {'yardstick µs':>13} {'ratio':>7}")
    ratios = []
    for name in arguments.models:
        model, (evidence,) = load(arguments.data, name, 1, arguments.seed)
        with tempfile.TemporaryDirectory() as folder:
            model_path, evidence_path = Path(folder) / "model.uai", Path(folder) / "query.evid"
            write_model(model, model_path)
            write_evidence(evidence_path, evidence)
            ours(model, evidence, 1000, 0)  # compile outside the clock
            pairs = [
                (
                    ours(model, evidence, arguments.steps, seed),
                    theirs(arguments.program, model_path, evidence_path, arguments.steps, seed),
                )
                for seed in range(arguments.seeds)
            ]
        beacon, yardstick = (min(column) for column in zip(*pairs, strict=True))
        ratios.append(beacon / yardstick)
        print(f"{name:22} {beacon:10.3f} {yardstick:13.3f} {ratios[-1]:7.2f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
