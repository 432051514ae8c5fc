"""``beacon train``: learn a guide."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.console import note, one_line, say, say_json
from beacon.cli.options import OUTPUT, Json, ModelFile, Quiet, Seed, at_least
from beacon.cli.outputs import check_named, check_no_input
from beacon.cli.progress import ProgressBar
from beacon.errors import BeaconError

if TYPE_CHECKING:
    from beacon.learn.trajectories import Trajectories
    from beacon.model.graphical_model import GraphicalModel
    from beacon.query.query_set import QuerySet

TRAINING = "Training"
UNFINISHED = ".unfinished"


def train(
    model_file: ModelFile,
    queries_file: Annotated[str, typer.Argument(metavar="Q", help="Query set of `beacon queries`.")],
    *,
    out: Annotated[str, typer.Option("-o", "--out", metavar="GUIDE", help="Folder to write the guide to.")],
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            metavar="fast|small|paper",
            rich_help_panel=TRAINING,
            help="fast: sees the evidence alone; small, paper: the attention network, which sees states.",
        ),
    ] = "small",
    trajectories_file: Annotated[
        str | None,
        typer.Option(
            "--trajectories",
            metavar="T",
            rich_help_panel=TRAINING,
            help="File of `beacon collect`; without it, they are collected first.",
        ),
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="auto|cpu|cuda",
            rich_help_panel=TRAINING,
            help="Where the attention network is trained; auto: on the GPU where there is one.",
        ),
    ] = "auto",
    epochs: Annotated[
        int | None,
        typer.Option(
            "--epochs",
            metavar="N",
            callback=at_least(1),
            rich_help_panel=TRAINING,
            help="Most epochs, in place of the preset's.",
        ),
    ] = None,
    states_per_query: Annotated[
        int | None,
        typer.Option(
            "--states-per-query",
            metavar="N",
            callback=at_least(1),
            rich_help_panel=TRAINING,
            help="States of each query in an epoch, in place of the preset's.",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            metavar="N",
            callback=at_least(1),
            rich_help_panel=TRAINING,
            help="States (fast: queries) per update, in place of the preset's.",
        ),
    ] = None,
    seed: Seed = 0,
    tensorboard: Annotated[
        str | None,
        typer.Option(
            "--tensorboard",
            metavar="DIR",
            rich_help_panel=OUTPUT,
            help="Folder for logs that TensorBoard shows.",
        ),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a guide on a query set. Ctrl-C keeps the best epoch so far; the same command then goes on.

    Example:  beacon train alarm.bif alarm.parquet -o alarm.guide --preset fast
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.learn.train import check_preset, check_torch  # noqa: PLC0415
    from beacon.learn.train import train as train_guide  # noqa: PLC0415
    from beacon.query.query_set import QuerySet  # noqa: PLC0415

    check_preset(preset)
    _check_folder(out)
    check_no_input(f"{out}{UNFINISHED}", [model_file, queries_file, trajectories_file])
    model = read_model(model_file)
    queries = QuerySet.load(queries_file, model)
    check_torch()
    if preset != "fast":
        check_device(device)
    from beacon.learn.train import is_leader  # noqa: PLC0415

    quiet = quiet or not is_leader()  # of several processes one speaks
    trajectories = _trajectories(model, queries, trajectories_file, seed, quiet)
    started = perf_counter()
    most = epochs or most_epochs(preset_settings(preset))

    def show(record: dict[str, Any]) -> None:
        bar.note(epoch_line(record))
        bar.reach(record["epoch"])

    work = f"training, preset {preset}, at most {most} epochs (Ctrl-C keeps the best)"
    with ProgressBar(work, most, quiet) as bar:
        guide = train_guide(
            model,
            queries,
            preset,
            trajectories,
            seed=seed,
            device=device,
            epochs=epochs,
            states_per_query=states_per_query,
            batch=batch,
            state_file=f"{out}{UNFINISHED}",
            tensorboard=tensorboard,
            on_epoch=show,
        )
    if is_leader():
        guide.save(out)
        _report(out, preset, guide.facts, perf_counter() - started, json, quiet)


def preset_settings(preset: str) -> Any:
    """The settings of a preset, of whatever kind."""
    from beacon.learn.train import load_preset  # noqa: PLC0415

    return load_preset(preset)


def most_epochs(settings: Any) -> int:
    """Where training ends at the latest."""
    return int(settings.most_epochs)


def check_device(device: str) -> None:
    """A GPU that is not there must not be found missing after hours of collecting."""
    from beacon.guide.device import choose_device  # noqa: PLC0415

    choose_device(device)


def _check_folder(out: str) -> None:
    """Raise before the work if a guide cannot be written there."""
    from beacon.guide.checkpoint import check_replaceable  # noqa: PLC0415

    check_named(out)
    place = Path(out)
    folder = place.parent
    if not folder.is_dir():
        raise BeaconError(f"cannot write {out}: there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise BeaconError(f"cannot write {out}: permission denied")
    check_replaceable(Path(os.path.realpath(place)))


def _trajectories(
    model: GraphicalModel, queries: QuerySet, file: str | None, seed: int, quiet: bool
) -> Trajectories:
    from beacon.learn.train import collected  # noqa: PLC0415
    from beacon.learn.trajectories import Trajectories  # noqa: PLC0415

    if file is not None:
        return Trajectories.load(file, model, queries)
    with ProgressBar("collecting trajectories", len(queries), quiet) as bar:
        return collected(model, queries, seed, lambda done, _: bar.reach(done))


def epoch_line(record: dict[str, Any]) -> str:
    """An epoch in words."""
    parts = [
        f"epoch {record['epoch']}: loss {record['train_loss']:.4f}",
        f"on validation queries {record['validation_loss']:.4f}",
    ]
    if "top_move_accuracy" in record:
        parts.append(f"best move right {record['top_move_accuracy']:.1%}")
    return ", ".join([*parts, f"{record['seconds']:.1f} s"])


def _report(out: str, preset: str, facts: dict[str, Any], seconds: float, json: bool, quiet: bool) -> None:
    history = facts["history"]
    best = next(record for record in history if record["epoch"] == facts["best_epoch"])
    is_complete = facts.get("is_complete", True)
    if json:
        known = {"guide": out, "preset": preset, "epochs": len(history), "best_epoch": best["epoch"]}
        loss = {"validation_loss": best["validation_loss"], "complete": is_complete, "seconds": seconds}
        say_json({**known, **loss, "history": history})
    else:
        say(
            one_line(
                f"wrote {out}: epoch {best['epoch']}, the best of {len(history)}, "
                f"with validation loss {best['validation_loss']:.4f}"
            )
        )
    if not is_complete and not quiet:
        note("training was interrupted; the same command goes on from where it stopped")
