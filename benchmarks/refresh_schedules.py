"""Scorings dense early and sparse later (``refresh_growth``), against as many at equal intervals.

A ``small`` attention guide is trained for each network on the CPU. GLS+ with λ = 0.5 among improving moves
then searches the test queries from random starts, without propagation; printed are the mean best score after
so many steps, the number of scorings of a query, and the share of the processor time that they take.
"""

from __future__ import annotations

from time import process_time
from typing import Any

import numpy as np
from beacon.learn.attention_training import train_attention
from beacon.learn.presets import PRESETS
from common import options
from numpy.typing import NDArray

from beacon.formats import read_model
from beacon.guided.guide import Guide, StateBatch
from beacon.guided.use import GuideUse
from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import TeacherSettings
from beacon.model.families import demo_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.runner.in_step import GuidedBatch
from beacon.runner.stop import MaxSteps

MODELS = ("demo", "grid20x20.f5.wrap", "pedigree18")
STEPS = (100, 200, 500, 1000, 2000)
SCHEDULES = ((0, 1.0), (100, 1.0), (10, 1.2), (50, 1.0), (4, 1.1), (1, 1.0))


class TimedGuide:
    """A guide, and how long it took."""

    def __init__(self, guide: Guide) -> None:
        self.guide, self.calls, self.seconds = guide, 0, 0.0

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """The guide's scores."""
        began = process_time()
        scores = self.guide.score(states)
        self.seconds += process_time() - began
        self.calls += 1
        return scores


def trained(model: GraphicalModel, arguments: Any) -> tuple[Guide, list[dict[int, int]]]:
    """A small attention guide, and the test queries."""
    queries = sample_queries(model, arguments.queries, arguments.seed, splits=(0.7, 0.1, 0.2))
    teacher = TeacherSettings(method="gls+", steps=arguments.reference_steps)
    trajectories = collect(model, queries, CollectSettings(teacher=teacher), seed=arguments.seed)
    guide = train_attention(model, queries, trajectories, PRESETS["small"], seed=arguments.seed)
    test = queries.split("test")
    return guide, [test.evidence(k) for k in range(len(test))]


def measure(name: str, model: GraphicalModel, arguments: Any) -> None:
    """One row per schedule."""
    guide, evidences = trained(model, arguments)
    for use in (GuideUse("random"), *(GuideUse("random", 0.5, "improving", *each) for each in SCHEDULES)):
        if use.refresh == 1 and not arguments.every_step:
            continue
        timed = TimedGuide(guide)
        batch = GuidedBatch(model, evidences, timed, use, "gls+", propagate=False, threads=1)
        began = process_time()
        batch.run_until(MaxSteps(STEPS[-1]))
        share = timed.seconds / max(1e-9, process_time() - began)
        best = np.mean([trace.best_at(STEPS) for trace in batch.traces], axis=0)
        label = f"every {use.refresh}, growth {use.refresh_growth:g}" if use.refresh else "once"
        cells = [f"{score:.2f}" for score in best] + [str(timed.calls), f"{100 * share:.1f} %"]
        print(f"| {name} | {label if use.weight else 'unguided'} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.set_defaults(queries=300)
    parser.add_argument("--reference-steps", type=int, default=20_000)
    parser.add_argument("--every-step", action="store_true", help="score before every step as well")
    arguments = parser.parse_args()
    head = ["network", "scored", *map(str, STEPS), "scorings", "share of time"]
    print(f"| {' | '.join(head)} |", "|---" * len(head) + "|", sep="\n", flush=True)
    for name in arguments.models:
        is_demo = name == "demo"
        model = demo_model() if is_demo else read_model(arguments.data / "paper" / f"{name}.uai.xz")
        measure(name, model, arguments)


if __name__ == "__main__":
    main()
