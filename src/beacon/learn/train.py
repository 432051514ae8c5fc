"""``beacon.train``: from queries to a guide."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beacon.errors import MissingDependencyError, UsageError
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet

if TYPE_CHECKING:
    from beacon.guide.attention_guide import AttentionGuide
    from beacon.guide.fast_guide import FastGuide

PRESET_NAMES = ("fast", "small", "paper")

Record = dict[str, Any]


def train(
    model: GraphicalModel,
    queries: QuerySet,
    preset: str = "small",
    trajectories: Trajectories | None = None,
    *,
    seed: int = 0,
    device: str = "auto",
    epochs: int | None = None,
    states_per_query: int | None = None,
    batch: int | None = None,
    state_file: str | os.PathLike[str] | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    on_epoch: Callable[[Record], None] | None = None,
) -> FastGuide | AttentionGuide:
    """Train a guide on the training queries; the validation queries decide when it is done.

    Parameters
    ----------
    preset
        ``fast`` (a network of the evidence alone, for starts), or the attention network: ``small`` (for two
        cores) or ``paper``.
    trajectories
        References and walks; collected first unless given.
    device
        ``cpu``, ``cuda``, or ``auto``: the GPU where there is one. The fast guide is trained on the CPU.
    epochs, states_per_query, batch
        In place of the preset's.
    state_file
        Where the attention network's training is saved after every epoch, and goes on from if it was
        interrupted.
    tensorboard
        Folder for logs that TensorBoard shows.
    on_epoch
        Hears of every epoch: a dictionary with its ``train_loss``, ``validation_loss`` and more.

    Examples
    --------
    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> queries = beacon.sample_queries(model, count=30)
    >>> teacher = beacon.TeacherSettings(method="gls+", steps=500)
    >>> solved = beacon.collect(model, queries, beacon.CollectSettings(teacher, steps=0))
    >>> guide = beacon.train(model, queries, "fast", solved, epochs=2)
    >>> guide.save("grid.guide")
    >>> beacon.solve(model, guide="grid.guide", stop=beacon.MaxSteps(100)).steps
    100
    """
    check_preset(preset)
    changes = _without_none(epochs=epochs, states_per_query=states_per_query, batch=batch)
    check_torch()
    if trajectories is None:
        trajectories = collected(model, queries, seed)
    with _logged(tensorboard, on_epoch) as hear:
        if preset == "fast":
            return _train_fast(model, queries, trajectories, seed, changes, hear)
        return _train_attention(model, queries, trajectories, preset, seed, device, changes, state_file, hear)


def check_preset(preset: str) -> None:
    """Raise unless there is such a preset."""
    if preset not in PRESET_NAMES:
        raise UsageError(f"presets are {', '.join(PRESET_NAMES)}; found {preset!r}")


def check_torch() -> None:
    """Raise with the command that installs it if torch is missing."""
    try:
        import torch  # noqa: F401, PLC0415
    except ImportError:
        raise MissingDependencyError("torch", "training a guide", "learn") from None


def collected(
    model: GraphicalModel,
    queries: QuerySet,
    seed: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """Trajectories made for this training alone."""
    from beacon.learn.collect import collect  # noqa: PLC0415
    from beacon.learn.ranks import num_processes  # noqa: PLC0415

    if num_processes() > 1:
        raise UsageError("training in several processes needs trajectories; make them with `beacon collect`")
    return collect(model, queries, seed=seed, on_progress=on_progress)


def _train_fast(
    model: GraphicalModel,
    queries: QuerySet,
    trajectories: Trajectories,
    seed: int,
    changes: dict[str, int],
    on_epoch: Callable[[Record], None] | None,
) -> FastGuide:
    from beacon.learn.fast_settings import FastSettings  # noqa: PLC0415
    from beacon.learn.fast_training import train_fast  # noqa: PLC0415

    if "states_per_query" in changes:
        raise UsageError("states_per_query has no meaning for the fast guide: it does not look at states")
    names = {"epochs": "max_epochs", "batch": "batch_size"}
    settings = FastSettings(**{names[name]: value for name, value in changes.items()})
    return train_fast(model, queries, trajectories, settings, seed, on_epoch)


def _train_attention(
    model: GraphicalModel,
    queries: QuerySet,
    trajectories: Trajectories,
    preset: str,
    seed: int,
    device: str,
    changes: dict[str, Any],
    state_file: str | os.PathLike[str] | None,
    on_epoch: Callable[[Record], None] | None,
) -> AttentionGuide:
    from beacon.learn.attention_training import train_attention  # noqa: PLC0415
    from beacon.learn.presets import PRESETS  # noqa: PLC0415

    network, training = PRESETS[preset]
    return train_attention(
        model,
        queries,
        trajectories,
        PRESETS[preset]._replace(network=network, training=replace(training, **changes)),
        seed=seed,
        device=device,
        state_file=None if state_file is None else Path(state_file),
        on_epoch=on_epoch,
    )


@contextmanager
def _logged(
    folder: str | os.PathLike[str] | None, on_epoch: Callable[[Record], None] | None
) -> Iterator[Callable[[Record], None] | None]:
    """Write every epoch's numbers where TensorBoard finds them, and pass them on."""
    from beacon.learn.ranks import is_leader  # noqa: PLC0415

    if folder is None or not is_leader():
        yield on_epoch
        return
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415
    except ImportError:
        raise MissingDependencyError("tensorboard", "logging for TensorBoard", "tensorboard") from None
    with SummaryWriter(os.fspath(folder)) as writer:

        def hear(record: Record) -> None:
            for name in record.keys() - {"epoch"}:
                writer.add_scalar(name, record[name], record["epoch"])
            writer.flush()
            if on_epoch is not None:
                on_epoch(record)

        yield hear


def _without_none(**changes: int | None) -> dict[str, int]:
    return {name: value for name, value in changes.items() if value is not None}
