"""Two versions of Beacon side by side: do they make the same searches, how fast, how long do they compile?

    python benchmarks/versions.py OLD/src NEW/src --data DATA --out results/versions.json
    python benchmarks/versions.py OLD/src NEW/src --data DATA --out results/versions.json --only scores

Each version runs in processes of its own, and they take turns, so that a noisy machine disturbs both alike.
Only public functions are called, so that versions may differ inside. Times are of the processor, the fewest
of all rounds. A step's time is what more steps take, divided by their number; a query's is that of one step.
Scores are the best after equal times, on queries sampled by the new version. With ``--only``, what else is in
the file stays.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

MODELS = {
    "BN_30": 4_000,
    "BN_32": 4_000,
    "BN_65": 4_000,
    "Promedas_60": 4_000,
    "or_chain_89.fg": 4_000,
    "pedigree18": 6_000,
    "grid20x20.f5.wrap": 60_000,
    "grid40x40.f10": 60_000,
    "1405.wcsp": 20_000,
    "le450_5a_3.wcsp": 20_000,
    "rus_20_40_9_3": 20_000,
    "wcsp_14": 30_000,
    "rus_50_100_4_1": 10_000,
}
"""Networks, and the steps of the searches that are compared."""
SEARCHED = (
    "grid20x20.f5.wrap",
    "grid40x40.f10",
    "grid40x40.f15.wrap",
    "grid80x80.f10",
    "1405.wcsp",
    "1407.wcsp",
    "le450_5a_2.wcsp",
    "le450_5a_3.wcsp",
    "le450_5a_4.wcsp",
    "rus_20_40_9_3",
    "rus_50_100_4_1",
    "rus_100_200_1_1",
    "wcsp_14",
)
"""Networks that elimination cannot solve: scores are compared on these."""
STRATEGIES = ("greedy", "gls+", "tree", "auto")
SCORED = ("tree", "auto", "auto, search alone")
MARKS = (0.1, 1.0)
QUERIES = 3
PARTS = ("searches", "times", "compilation", "scores")
Sources = tuple[Path, Path]
TIMED_STEPS = 50_000
LAST_EVENTS = 20


def evidence_of(model: Any) -> dict[int, int]:
    """A tenth of the variables, at the values of a good assignment."""
    import numpy as np  # noqa: PLC0415

    import beacon  # noqa: PLC0415

    best = beacon.solve(model, strategy="gls+", stop=beacon.MaxSteps(20_000), seed=1).assignment
    rng = np.random.default_rng(1)
    chosen = rng.choice(model.num_variables, max(1, model.num_variables // 10), replace=False)
    return {int(i): int(best[i]) for i in chosen}


def digest(result: Any) -> dict[str, Any]:
    """What must be equal: the answer, and the last improvements."""
    trace = result.trace
    return {
        "score": result.floored_log_score,
        "zeros": result.zero_factors,
        "assignment": hashlib.sha256(result.assignment.astype("<i8").tobytes()).hexdigest()[:16],
        "steps": trace.steps[-LAST_EVENTS:].tolist(),
        "scores": trace.scores[-LAST_EVENTS:].tolist(),
    }


def traces(data: Path) -> dict[str, Any]:
    """Every strategy, alone and with random scores as a guide, on every network."""
    import numpy as np  # noqa: PLC0415

    import beacon  # noqa: PLC0415

    found: dict[str, Any] = {}
    for name, steps in MODELS.items():
        model = beacon.read_model(data / "paper" / f"{name}.uai.xz")
        evidence = evidence_of(model)
        for strategy in STRATEGIES:
            result = beacon.solve(model, evidence, strategy=strategy, stop=beacon.MaxSteps(steps), seed=3)
            found[f"{name} {strategy}"] = digest(result)
        scores = np.random.default_rng(7).random((1, int(sum(model.domain_sizes))), dtype=np.float32)
        for strategy in ("greedy", "gls+"):
            for candidates in ("all", "improving"):
                guidance = beacon.Guidance(weight=0.5, candidates=candidates, restart_from="guide")
                batch = beacon.SearchBatch(model, [evidence], strategy=strategy, seed=6)
                for _ in range(3):
                    batch.run(steps // 10, scores=scores, weight=guidance)
                found[f"{name} {strategy} guided, {candidates}"] = digest(batch.results[0])
    return found


def seconds_of(model: Any, evidence: dict[int, int], strategy: str, steps: int) -> float:
    """Processor time of one query."""
    import beacon  # noqa: PLC0415

    began = process_time()
    beacon.solve(model, evidence, strategy=strategy, stop=beacon.MaxSteps(steps), seed=2)
    return process_time() - began


def sample(data: Path, networks: Sequence[str]) -> dict[str, list[dict[int, int]]]:
    """Queries on networks."""
    import beacon  # noqa: PLC0415

    found = {}
    for name in networks:
        queries = beacon.sample_queries(beacon.read_model(data / "paper" / f"{name}.uai.xz"), QUERIES, 3)
        found[name] = [{int(k): int(v) for k, v in queries.evidence(q).items()} for q in range(QUERIES)]
    return found


def scores(data: Path, queries: dict[str, list[dict[str, int]]]) -> dict[str, Any]:
    """The best scores at each mark, by network and strategy: a row for each query."""
    import beacon  # noqa: PLC0415

    found: dict[str, Any] = {}
    for name, evidences in queries.items():
        model = beacon.read_model(data / "paper" / f"{name}.uai.xz")
        for strategy in SCORED:
            found[f"{name}: {strategy}"] = [
                [score_of(model, evidence, strategy, mark) for mark in MARKS] for evidence in evidences
            ]
    return found


def score_of(model: Any, evidence: dict[str, int], strategy: str, seconds: float) -> float:
    """The best score of one query after a time."""
    import beacon  # noqa: PLC0415

    chosen: Any = strategy.partition(",")[0]
    if chosen != strategy and "exact" in beacon.Auto.__dataclass_fields__:
        chosen = beacon.Auto(exact=False)
    known = {int(variable): value for variable, value in evidence.items()}
    stop = beacon.MaxRuntime(seconds)
    return float(beacon.solve(model, known, strategy=chosen, stop=stop, seed=1).floored_log_score)


def times(data: Path, strategies: Sequence[str]) -> dict[str, Any]:
    """Microseconds of a step and milliseconds of a query of one step, by network and strategy."""
    import beacon  # noqa: PLC0415

    found: dict[str, Any] = {}
    for name in MODELS:
        model = beacon.read_model(data / "paper" / f"{name}.uai.xz")
        evidence = evidence_of(model)
        for strategy in strategies:
            seconds_of(model, evidence, strategy, 1)
            query = min(seconds_of(model, evidence, strategy, 1) for _ in range(5))
            step = min(seconds_of(model, evidence, strategy, TIMED_STEPS) for _ in range(2)) - query
            found[f"{name} {strategy}"] = [1e6 * step / TIMED_STEPS, 1e3 * query]
    return found


def compilation(strategy: str) -> float:
    """Processor seconds of the first search, kernels compiled."""
    import beacon  # noqa: PLC0415
    from beacon.model.families import ising_grid  # noqa: PLC0415

    model = ising_grid(4, 4)
    began = process_time()
    beacon.solve(model, strategy=strategy, stop=beacon.MaxSteps(100))
    return process_time() - began


def run_child(source: Path, data: Path, task: str, cold: bool = False) -> Any:
    """A task in a process of a version's own; ``cold``: without kernels on disk."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "PYTHONPATH": str(source)} | ({"NUMBA_CACHE_DIR": cache} if cold else {})
        command = [sys.executable, __file__, "--child", task, "--data", str(data), "--out", os.devnull]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{task} failed with {source}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def is_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Equal but for the last digits of scores."""
    near = all(
        abs(a - b) <= 1e-9 * (1 + abs(a)) for a, b in zip(one["scores"], other["scores"], strict=False)
    )
    return near and {**one, "scores": 0, "score": 0} == {**other, "scores": 0, "score": 0}


def compare_searches(sources: Sources, data: Path) -> dict[str, Any]:
    """Do both make the same searches?"""
    old, new = (run_child(source, data, "traces") for source in sources)
    different = sorted(name for name in old if not is_same(old[name], new[name]))
    other_answers = [name for name in different if old[name]["assignment"] != new[name]["assignment"]]
    print(f"{len(old)} searches; other improvements: {different}; other answers: {other_answers}")
    return {"different": different, "other_answers": other_answers, "searches": len(old)}


def compare_times(sources: Sources, data: Path, strategies: Sequence[str], rounds: int) -> dict[str, Any]:
    """The fewest of all rounds, old and new in turns."""
    timed: list[list[dict[str, list[float]]]] = [[], []]
    for _ in range(rounds):
        for which, source in enumerate(sources):
            timed[which].append(run_child(source, data, f"times {' '.join(strategies)}"))
    fewest = [{name: [min(r[name][k] for r in runs) for k in (0, 1)] for name in runs[0]} for runs in timed]
    return {"times": {name: [*fewest[0][name], *fewest[1][name]] for name in fewest[0]}}


def compare_compilation(sources: Sources, data: Path, strategies: Sequence[str]) -> dict[str, Any]:
    """How long both compile."""
    return {
        "compilation": {
            strategy: [run_child(source, data, f"compile {strategy}", cold=True) for source in sources]
            for strategy in strategies
        }
    }


def compare_scores(sources: Sources, data: Path, networks: Sequence[str]) -> dict[str, Any]:
    """The best scores of both after equal times, on the same queries, network by network in turns."""
    found: dict[str, list[Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, evidences in run_child(sources[1], data, f"sample {' '.join(networks)}").items():
            path = Path(folder) / "queries.json"
            path.write_text(json.dumps({name: evidences}), encoding="utf-8")
            for source in sources:
                for key, rows in run_child(source, data, f"scores {path}").items():
                    found.setdefault(key, []).append(rows)
    return {"scores": found}


def report(found: dict[str, Any]) -> None:
    """The ratios, new over old, and the scores."""
    for strategy in STRATEGIES:
        rows = [row for name, row in found["times"].items() if name.endswith(f" {strategy}")]
        steps, queries = [new / old for old, _, new, _ in rows], [new / old for _, old, _, new in rows]
        old, new = found["compilation"][strategy]
        print(
            f"{strategy:7} a step {statistics.median(steps):.2f} (largest {max(steps):.2f}), "
            f"a query {statistics.median(queries):.2f} (largest {max(queries):.2f}), "
            f"compiling {new / old:.2f} ({old:.1f} s -> {new:.1f} s)"
        )
    print(score_table(found.get("scores", {})))


def score_table(found: dict[str, Any]) -> str:
    """Mean best scores, old and new, in Markdown."""
    heads = [f"{mark:g} s, {which}" for mark in MARKS for which in ("old", "new")]
    lines = [f"| network | strategy | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for name, (old, new) in found.items():
        means = [[statistics.fmean(row[k] for row in rows) for rows in (old, new)] for k in range(len(MARKS))]
        cells = [f"{mean:.3f}" for pair in means for mean in pair]
        lines.append(f"| {' | '.join([*name.split(': '), *cells])} |")
    return "\n".join(lines)


def run_task(task: str, data: Path) -> Any:
    """What a child process does."""
    name, *words = task.split()
    if name == "compile":
        return compilation(words[0])
    if name == "times":
        return times(data, words)
    if name == "scores":
        return scores(data, json.loads(Path(words[0]).read_text(encoding="utf-8")))
    return sample(data, words) if name == "sample" else traces(data)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="*", type=Path, help="OLD/src NEW/src")
    parser.add_argument("--data", type=Path, default=os.environ.get("BEACON_BENCHMARKS"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES, choices=STRATEGIES)
    parser.add_argument("--networks", nargs="+", default=SEARCHED, help="whose scores are compared")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(run_task(arguments.child, arguments.data)))
        return
    old, new = (source.resolve() for source in arguments.sources)
    sources, data, strategies = (old, new), arguments.data, arguments.strategies
    parts = {
        "searches": lambda: compare_searches(sources, data),
        "times": lambda: compare_times(sources, data, strategies, arguments.rounds),
        "compilation": lambda: compare_compilation(sources, data, strategies),
        "scores": lambda: compare_scores(sources, data, arguments.networks),
    }
    found = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.out.exists() else {}
    for part in arguments.only:
        for key, value in parts[part]().items():
            found[key] = {**found.get(key, {}), **value} if isinstance(value, dict) else value
        arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    report(found)


if __name__ == "__main__":
    main()
