"""``beacon train``: learn a guide."""

from __future__ import annotations

from time import perf_counter
from typing import Annotated, Any

from beacon.cli.console import ProgressBar, note, one_line, say, say_json
from beacon.cli.options import OUTPUT, Device, Json, ModelFile, QueryFile, Quiet, Seed, flags, option
from beacon.io.files import check_no_input
from beacon.io.settings import default_of
from beacon.learn.train import TrainingSettings
from beacon.learn.train import train as train_guide

TRAINING = "Training"
PRESET: str = default_of(train_guide, "preset")
Preset = Annotated[
    str,
    option(
        "--preset fast|small|paper",
        "fast: sees the evidence alone; small, paper: the attention network, which sees states.",
        TRAINING,
    ),
]
TrajectoriesFile = Annotated[
    str | None,
    option("--trajectories T", "File of `beacon collect`; without it, they are collected first.", TRAINING),
]
LogFolder = Annotated[
    str | None,
    option("--tensorboard DIR", "Folder for logs that TensorBoard shows.", OUTPUT),
]


@flags(
    "changes",
    TrainingSettings,
    TRAINING,
    *("--epochs N", "--states-per-query N", "--batch N"),
    unset="the preset's",
)
def train(
    model_file: ModelFile,
    queries_file: QueryFile,
    *,
    out: Annotated[str, option("-o --out GUIDE", "Folder to write the guide to.")],
    preset: Preset = PRESET,
    trajectories_file: TrajectoriesFile = None,
    device: Device = "auto",
    changes: dict[str, Any],
    seed: Seed = 0,
    tensorboard: LogFolder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a guide on a query set. Ctrl-C keeps the best epoch so far; the same command then goes on.

    Example:  beacon train alarm.bif alarm.parquet -o alarm.guide --preset fast
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.guide.checkpoint import check_guide_folder  # noqa: PLC0415
    from beacon.learn.train import check_preset, check_torch, collected, load_preset  # noqa: PLC0415
    from beacon.learn.trajectories import Trajectories  # noqa: PLC0415
    from beacon.pipeline.stages import UNFINISHED, epoch_line  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415

    check_preset(preset)
    check_guide_folder(out)
    check_no_input(f"{out}{UNFINISHED}", [model_file, queries_file, trajectories_file])
    model = read_model(model_file)
    queries = QuerySet.load(queries_file, model)
    check_torch()
    from beacon.guide.device import choose_device  # noqa: PLC0415  (needs torch)
    from beacon.learn.train import is_leader  # noqa: PLC0415

    if preset != "fast":
        choose_device(device)  # that there is no GPU must not be found out after hours of collecting
    quiet = quiet or not is_leader()  # of several processes one speaks
    if trajectories_file is not None:
        trajectories = Trajectories.load(trajectories_file, model, queries)
    else:
        with ProgressBar("collecting trajectories", len(queries), quiet) as bar:
            trajectories = collected(model, queries, seed, lambda done, _: bar.reach(done))
    began = perf_counter()
    most = changes.get("epochs") or load_preset(preset).most_epochs
    work = f"training, preset {preset}, at most {most} epochs (Ctrl-C keeps the best)"
    with ProgressBar(work, most, quiet) as bar:

        def show(record: dict[str, Any]) -> None:
            bar.note(epoch_line(record))
            bar.reach(record["epoch"])

        guide = train_guide(
            model,
            queries,
            preset,
            trajectories,
            seed=seed,
            device=device,
            **changes,
            state_file=f"{out}{UNFINISHED}",
            tensorboard=tensorboard,
            on_epoch=show,
        )
    if is_leader():
        guide.save(out)
        _report(out, preset, guide.facts, perf_counter() - began, json, quiet)


def _report(out: str, preset: str, facts: dict[str, Any], seconds: float, json: bool, quiet: bool) -> None:
    history = facts["history"]
    best = next(record for record in history if record["epoch"] == facts["best_epoch"])
    is_complete = facts.get("is_complete", True)
    if json:
        known = {"guide": out, "preset": preset, "epochs": len(history), "best_epoch": best["epoch"]}
        loss = {"validation_loss": best["validation_loss"], "complete": is_complete, "seconds": seconds}
        say_json({**known, **loss, "history": history})
    else:
        loss_text = f"with validation loss {best['validation_loss']:.4f}"
        say(one_line(f"wrote {out}: epoch {best['epoch']}, the best of {len(history)}, {loss_text}"))
    if not is_complete and not quiet:
        note("training was interrupted; the same command goes on from where it stopped")
