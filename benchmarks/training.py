"""Training the attention network: seconds, TFLOP/s, memory, and how well it and simpler guides predict.

Two steps, so that a machine with a GPU needs nothing but torch: ``--prepare`` samples queries and collects
trajectories into --folder (NAME.uai.xz, NAME.queries.parquet, NAME.trajectories.parquet); without it, every
model found there is trained, and one JSON line per model and guide is appended to --out.

    PYTHONPATH=src:. python3 benchmarks/training.py --prepare --data DATA --models BN_30 --folder F
    PYTHONPATH=src:. python3 benchmarks/training.py --folder F --preset paper --epochs 10 --out training.jsonl
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch

import beacon
from beacon.formats import read_model
from beacon.guide.attention import NetworkSettings
from beacon.guide.device import choose_device
from beacon.guide.measure import move_loss, top_move_accuracy
from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guide import Guide, States
from beacon.guided.moves import Moves
from beacon.learn.attention import PRESETS, AttentionPreset
from beacon.learn.fast import train_fast
from beacon.learn.states import TrajectoryStates
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries

CPU = torch.device("cpu")


class Task(NamedTuple):
    """A model with what is known of its queries."""

    name: str
    model: GraphicalModel
    queries: QuerySet
    trajectories: Trajectories


def prepare(args: argparse.Namespace) -> None:
    """Make what training needs, model by model; what is there already is kept."""
    from beacon.learn.collect import CollectSettings, collect  # noqa: PLC0415  (not needed to train)

    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.models:
        source, place = args.data / "paper" / f"{name}.uai.xz", args.folder / f"{name}.uai.xz"
        queries_file, trajectories_file = paths(args.folder, name)
        if not place.exists():
            shutil.copyfile(source, place)
        model = read_model(place)
        if not queries_file.exists():
            sample_queries(model, args.queries, args.seed).save(queries_file)
        if not trajectories_file.exists():
            started = perf_counter()
            collect(
                model,
                QuerySet.load(queries_file, model),
                CollectSettings(steps=args.steps),
                seed=args.seed,
                path=trajectories_file,
            )
            print(f"{name}: {perf_counter() - started:.1f} s", flush=True)


def paths(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.queries.parquet", folder / f"{name}.trajectories.parquet"


def tasks(folder: Path, names: list[str] | None) -> Iterator[Task]:
    found = sorted(path.name.removesuffix(".uai.xz") for path in folder.glob("*.uai.xz"))
    for name in names or found:
        queries_file, trajectories_file = paths(folder, name)
        model = read_model(folder / f"{name}.uai.xz")
        queries = QuerySet.load(queries_file, model)
        yield Task(name, model, queries, Trajectories.load(trajectories_file, model, queries))


def forward_flops(settings: NetworkSettings, num_moves: float, num_variables: int) -> float:
    """Multiplications and additions that one state costs, counted twice over; lookups are free."""
    size, width = settings.embedding, settings.width
    attention = settings.attention_layers * 2 * num_variables * size + size * size * (
        2 * settings.attention_layers - 1
    )
    encoder = 2 * size * width + settings.blocks * width * width + width
    return 2 * num_moves * (attention + encoder)


def training_flops(
    preset: AttentionPreset, model: GraphicalModel, queries: QuerySet, trajectories: Trajectories
) -> float:
    """Of an epoch: three times the forward pass of its states."""
    data = TrajectoryStates(model, queries, trajectories, "train", CPU)
    moves = np.minimum(data.num_moves, preset.training.max_moves or data.num_moves.max()).mean()
    states = data.num_queries * min(preset.training.states_per_query, data.states_per_query)
    return 3 * states * forward_flops(preset.network, float(moves), model.num_variables)


def validation_states(task: Task, per_query: int, seed: int) -> tuple[States, np.ndarray]:
    """The same states for every guide, and their references."""
    data = TrajectoryStates(task.model, task.queries, task.trajectories, "validation", CPU)
    picks = data.draw(per_query, np.random.default_rng([seed, 77]))
    rows = picks.queries
    states = States(data.replay(picks).numpy(), data.observed[rows].numpy())
    return states, data.references[rows].long().numpy()


def quality(task: Task, guide: Guide, states: States, references: np.ndarray) -> dict[str, float]:
    started = perf_counter()
    scores = guide.score(states)
    seconds = perf_counter() - started
    moves = Moves.of(task.model)
    return {
        "validation_loss": move_loss(moves, scores, states, references),
        "alpha": top_move_accuracy(moves, scores, states, references),
        "states_per_second": len(scores) / seconds,
    }


def attention_row(
    task: Task, preset: AttentionPreset, device: torch.device, seed: int
) -> tuple[Guide, dict[str, Any]]:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    started = perf_counter()
    guide = preset.train(
        task.model,
        task.queries,
        task.trajectories,
        seed=seed,
        device=device,
        on_epoch=lambda epoch: print(task.name, epoch, flush=True),
    )
    total = perf_counter() - started
    flops = training_flops(preset, task.model, task.queries, task.trajectories)
    seconds = [epoch["seconds"] for epoch in guide.history]
    later = seconds[1:] or seconds  # the first epoch also warms up the device
    row = {
        "epochs": len(seconds),
        "best_epoch": guide.facts["best_epoch"],
        "seconds": total,
        "seconds_per_epoch": float(np.mean(later)),
        "tflops_per_second": float(flops / np.mean(later) / 1e12),
        "peak_memory_gib": torch.cuda.max_memory_allocated(device) / 2**30 if device.type == "cuda" else None,
        "history": guide.history,
        "settings": {"network": asdict(preset.network), "training": asdict(preset.training)},
    }
    return guide, row


def rows_of(task: Task, args: argparse.Namespace, device: torch.device) -> Iterator[dict[str, Any]]:
    """One row for each guide: frequencies, the fast guide, the attention network."""
    states, references = validation_states(task, 10, args.seed)
    is_training = task.queries.split_of_queries == 0
    frequencies = FrequencyGuide.from_references(
        task.model, task.trajectories.references[is_training], task.queries.observed[is_training]
    )
    yield {"guide": "frequency", **quality(task, frequencies, states, references)}
    started = perf_counter()
    fast = train_fast(task.model, task.queries, task.trajectories, seed=args.seed)
    facts = {"seconds": perf_counter() - started, "epochs": len(fast.facts["history"])}
    yield {"guide": "fast", **facts, **quality(task, fast, states, references)}
    guide, facts = attention_row(task, chosen_preset(args), device, args.seed)
    quality(task, guide, states, references)  # once for the device to warm up
    yield {"guide": args.preset, **facts, **quality(task, guide, states, references)}
    if args.save:
        guide.save(args.folder / f"{task.name}.{args.preset}.guide")  # type: ignore[attr-defined]


def chosen_preset(args: argparse.Namespace) -> AttentionPreset:
    network, training = PRESETS[args.preset]
    names = ("epochs", "patience", "states_per_query", "batch", "max_moves", "compile")
    changes = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    return AttentionPreset(
        replace(network, evidence_flag=not args.no_evidence_flag), replace(training, **changes)
    )


def run(args: argparse.Namespace) -> None:
    device = choose_device(args.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    machine = {"device": name, "torch": torch.__version__, "beacon": beacon.__version__, "seed": args.seed}
    for task in tasks(args.folder, args.models):
        size = {"model": task.name, "variables": task.model.num_variables, "queries": len(task.queries)}
        for row in rows_of(task, args, device):
            line = json.dumps({**size, **row, **machine})
            with args.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            print({key: value for key, value in row.items() if key != "history"}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="prepared models, queries, trajectories")
    parser.add_argument("--models", nargs="+", help="names; default: all that are in the folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--data", type=Path, help="folder with paper/NAME.uai.xz, to prepare from")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=2000, help="recorded steps per query")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="paper")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--patience", type=int)
    parser.add_argument("--states-per-query", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--max-moves", type=int)
    parser.add_argument("--compile", action="store_true", default=None)
    parser.add_argument("--no-evidence-flag", action="store_true")
    parser.add_argument("--save", action="store_true", help="keep the guides in the folder")
    parser.add_argument("--out", type=Path, default=Path("training.jsonl"))
    args = parser.parse_args()
    if args.prepare and (args.data is None or not args.models):
        parser.error("--prepare needs --data and --models")
    prepare(args) if args.prepare else run(args)


if __name__ == "__main__":
    main()
