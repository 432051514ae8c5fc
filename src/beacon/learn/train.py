"""``beacon.train``: from queries to a guide, by one of the presets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from beacon.errors import (
    MissingDependencyError,
    UsageError,
    check_count,
    check_dropout,
    check_is_number,
    check_number,
    check_positive,
)
from beacon.learn.trajectories import Trajectories, check_data
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, AnyQueries, QuerySet, as_query_set

if TYPE_CHECKING:
    from beacon.guide.attention import AttentionGuide
    from beacon.guide.fast_guide import FastGuide
    from beacon.guide.solved import SolvedGuide

    AnyGuide: TypeAlias = SolvedGuide | FastGuide | AttentionGuide

PRESET_NAMES = ("solved", "fast", "small", "paper")
ON_CPU = ("solved", "fast")  # whatever the device

Record = dict[str, Any]
OnEpoch = Callable[[Record], None]


class Preset(Protocol):
    """A kind of guide with the settings of its training."""

    @property
    def most_epochs(self) -> int:
        """Where training ends at the latest."""

    def changed(self, **changes: int) -> Preset:
        """With other ``epochs``, ``states_per_query`` or ``batch``."""

    def train(
        self,
        model: GraphicalModel,
        queries: QuerySet,
        trajectories: Trajectories,
        *,
        seed: int,
        device: str,
        state_file: Path | None,
        on_epoch: OnEpoch | None,
    ) -> AnyGuide:
        """Train a guide; see :func:`train`."""


@dataclass(frozen=True)
class TrainingSettings:
    """How the attention network is trained; the defaults are the paper's, where it says."""

    learning_rate: float = 2e-4
    """Step size of Adam in the first epoch."""
    decay: float = 0.99
    """What the learning rate is multiplied with after every epoch."""
    batch: int = 256
    """States per update."""
    epochs: int = 50
    """Most epochs."""
    patience: int = 5
    """Epochs without a better validation loss after which training ends."""
    states_per_query: int = 50
    """States of each training query in an epoch, drawn anew every time."""
    validation_states_per_query: int = 10
    """States of each validation query, the same in every epoch."""
    max_moves: int | None = 128
    """Moves of a state that are trained on at most, spread evenly; None: all. Validation takes all."""
    compile: bool = False
    """On a GPU, let torch compile the network, if it finds a compiler."""

    def __post_init__(self) -> None:
        for name in ("batch", "epochs", "patience", "states_per_query", "validation_states_per_query"):
            check_count(name, getattr(self, name), 1)
        if self.max_moves is not None:
            check_count("max_moves", self.max_moves, 1)
        check_positive("learning_rate", self.learning_rate)
        check_is_number("decay", self.decay)
        if not 0 < self.decay <= 1:
            raise UsageError(f"decay must be a share, 0 < decay ≤ 1; found {self.decay}")


@dataclass(frozen=True)
class SolvedSettings:
    """How the guide of solved queries is asked."""

    neighbours: int = 15
    """References that vote: those with most of the observed values."""

    def __post_init__(self) -> None:
        check_count("neighbours", self.neighbours, 1)

    @property
    def most_epochs(self) -> int:
        """None: nothing is trained."""
        return 0

    def changed(self, **changes: int) -> SolvedSettings:
        """None of the names that all presets share has a meaning here."""
        for name in changes:
            raise UsageError(f"{name} has no meaning for the guide of solved queries: nothing is trained")
        return self

    def train(
        self,
        model: GraphicalModel,
        queries: QuerySet,
        trajectories: Trajectories,
        *,
        seed: int = 0,
        device: str = "cpu",
        state_file: Path | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> SolvedGuide:
        """Keep the references of the training queries, and measure the guide on the validation queries."""
        from beacon.guide.solved import SolvedGuide  # noqa: PLC0415
        from beacon.learn.examples import Examples, measured  # noqa: PLC0415

        check_data(model, queries, trajectories)
        began = perf_counter()
        train, validation = (Examples.of_split(queries, trajectories, name) for name in SPLITS[:2])
        guide = SolvedGuide(model, train.references, self.neighbours)
        quality = measured(guide, validation)
        record = {
            "epoch": 0,
            "train_loss": quality.loss,  # of queries that it does not remember: it knows the others by heart
            "validation_loss": quality.loss,
            "validation_accuracy": quality.accuracy,
            "seconds": perf_counter() - began,
        }
        return SolvedGuide(model, train.references, self.neighbours, {"history": [record], "best_epoch": 0})


@dataclass(frozen=True)
class FastSettings:
    """How the fast guide is built and trained."""

    width: int = 64
    """Dimensions of the embeddings and of the hidden layer."""
    dropout: float = 0.1
    """Share of the hidden layer left out in training."""
    evidence_dropout: float = 0.2
    """Share of the evidence left out in training."""
    learning_rate: float = 0.003
    weight_decay: float = 3.0
    """AdamW's, times the learning rate in every step; biases do not decay."""
    batch_size: int = 32
    """Queries per step of the optimiser."""
    max_epochs: int = 100
    patience: int = 8
    """Epochs without a better validation loss before training ends."""
    smoothing: float = 1.0
    """Occurrences that each value begins with when frequencies are counted."""

    def __post_init__(self) -> None:
        for name in ("width", "batch_size", "max_epochs", "patience"):
            check_count(name, getattr(self, name), 1)
        for name in ("dropout", "evidence_dropout"):
            check_dropout(name, getattr(self, name))
        for name in ("learning_rate", "smoothing"):
            check_positive(name, getattr(self, name))
        check_number("weight_decay", self.weight_decay, 0)

    @property
    def most_epochs(self) -> int:
        """Where training ends at the latest."""
        return self.max_epochs

    def changed(self, **changes: int) -> FastSettings:
        """With other settings, by the names that all presets share."""
        if "states_per_query" in changes:
            raise UsageError("states_per_query has no meaning for the fast guide: it does not look at states")
        names = {"epochs": "max_epochs", "batch": "batch_size"}
        return replace(self, **{names[name]: value for name, value in changes.items()})

    def train(
        self,
        model: GraphicalModel,
        queries: QuerySet,
        trajectories: Trajectories,
        *,
        seed: int = 0,
        device: str = "cpu",
        state_file: Path | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> FastGuide:
        """Train the fast guide, in seconds on a CPU: there is no device to choose and no state to save."""
        check_torch()
        from beacon.learn.fast import train_fast  # noqa: PLC0415  (torch is slow to import)

        return train_fast(model, queries, trajectories, self, seed, on_epoch)


def train(
    model: GraphicalModel,
    queries: AnyQueries,
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
    on_epoch: OnEpoch | None = None,
) -> AnyGuide:
    """Train a guide on the training queries; the validation queries decide when it is done.

    Parameters
    ----------
    preset
        ``solved`` (a vote of remembered references, without a network), ``fast`` (a network of the evidence
        alone), both for starts, or the attention network: ``small`` (for two cores) or ``paper``.
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
    >>> beacon.solve(model, guide="grid.guide", strategy="gls+", stop=beacon.MaxSteps(100)).steps
    100
    """
    asked = as_query_set(model, queries)
    given = {"epochs": epochs, "states_per_query": states_per_query, "batch": batch}
    chosen = load_preset(preset).changed(**{name: n for name, n in given.items() if n is not None})
    check_can_train(preset, device, tensorboard)
    if trajectories is None:
        trajectories = collected(model, asked, seed)
    with _logged(tensorboard, on_epoch) as hear:
        return chosen.train(
            model,
            asked,
            trajectories,
            seed=seed,
            device=device,
            state_file=None if state_file is None else Path(state_file),
            on_epoch=hear,
        )


def load_preset(name: str) -> Preset:
    """The preset of that name."""
    check_preset(name)
    if name in ON_CPU:
        return SolvedSettings() if name == "solved" else FastSettings()
    check_torch()
    from beacon.learn.attention import PRESETS  # noqa: PLC0415  (torch is slow to import)

    return PRESETS[name]


def check_preset(preset: str) -> None:
    """Raise unless there is such a preset."""
    if preset not in PRESET_NAMES:
        raise UsageError(f"presets are {', '.join(PRESET_NAMES)}; found {preset!r}")


def check_can_train(preset: str, device: str, tensorboard: object = None) -> None:
    """Raise if the preset is unknown or cannot be logged, or torch or the device is missing.

    That is told before hours of collecting.
    """
    check_preset(preset)
    if preset == "solved" and tensorboard is not None:
        raise UsageError("tensorboard has no meaning for the guide of solved queries: nothing is trained")
    if preset == "solved":
        return
    check_torch()
    from beacon.guide.device import choose_device  # noqa: PLC0415  (needs torch)

    if preset != "fast":
        choose_device(device)


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
    file: str | None = None,
) -> Trajectories:
    """Trajectories of a file; without one they are made for this training alone."""
    from beacon.learn.collect import collect  # noqa: PLC0415

    if file is not None:
        return Trajectories.load(file, model, queries)
    if num_processes() > 1:
        raise UsageError("training in several processes needs trajectories; make them with `beacon collect`")
    return collect(model, queries, seed=seed, on_progress=on_progress)


def best_epoch(facts: Record) -> Record:
    """The epoch of a guide's history whose weights it has."""
    best: Record = next(record for record in facts["history"] if record["epoch"] == facts["best_epoch"])
    return best


def training_facts(facts: Record) -> Record:
    """How a guide's training went: what ``beacon train --json`` prints."""
    best = best_epoch(facts)
    return {
        "epochs": len(facts["history"]),
        "best_epoch": best["epoch"],
        "validation_loss": best["validation_loss"],
        "complete": facts.get("is_complete", True),
        "history": facts["history"],
    }


def facts_in_words(facts: Record) -> str:
    """The same in one line."""
    loss = f"with validation loss {facts['validation_loss']:.4f}"
    if facts["best_epoch"] == 0:  # nothing was trained
        return f"wrote {facts['guide']} {loss}"
    return f"wrote {facts['guide']}: epoch {facts['best_epoch']}, the best of {facts['epochs']}, {loss}"


def num_processes() -> int:
    """Processes that torchrun started for this training."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_leader() -> bool:
    """Is this process to write files and tell people? True of a process on its own."""
    return int(os.environ.get("RANK", "0")) == 0


@contextmanager
def _logged(folder: str | os.PathLike[str] | None, on_epoch: OnEpoch | None) -> Iterator[OnEpoch | None]:
    """Write every epoch's numbers where TensorBoard finds them, and pass them on."""
    if folder is None or not is_leader():
        yield on_epoch
        return
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415
    except ImportError:
        raise MissingDependencyError("tensorboard", "logging for TensorBoard", "tensorboard") from None
    with SummaryWriter(os.fspath(folder)) as writer:

        def hear(record: Record) -> None:
            for name, value in record.items():
                if name != "epoch" and isinstance(value, int | float):
                    writer.add_scalar(name, value, record["epoch"])
            writer.flush()
            if on_epoch is not None:
                on_epoch(record)

        yield hear
