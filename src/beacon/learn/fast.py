"""Training the fast guide: references of the training queries, seconds on a CPU."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from beacon.guide.fast_guide import FastGuide, FastWeights
from beacon.guide.trivial import value_frequencies
from beacon.guided.moves import Moves
from beacon.learn.examples import Examples, measured
from beacon.learn.train import FastSettings, OnEpoch, Record
from beacon.learn.trajectories import Trajectories, check_data
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet


def train_fast(
    model: GraphicalModel,
    queries: QuerySet,
    trajectories: Trajectories,
    settings: FastSettings | None = None,
    seed: int = 0,
    on_epoch: OnEpoch | None = None,
) -> FastGuide:
    """Train until the validation loss no longer falls, and keep the best epoch.

    Epoch 0 is the network before training: it predicts the frequencies. The same seed gives the same
    weights. ``on_epoch`` hears of each epoch's losses.
    """
    check_data(model, queries, trajectories)
    settings = settings or FastSettings()
    train, validation = (Examples.of_split(queries, trajectories, name) for name in ("train", "validation"))
    began, history = perf_counter(), list[Record]()
    best, best_loss = None, math.inf
    for epoch, (train_loss, weights) in enumerate(_epochs(model, train, settings, seed)):
        guide = FastGuide(model, weights)
        quality = measured(guide, validation)
        record = {
            "epoch": epoch,
            "train_loss": train_loss,
            "validation_loss": quality.loss,
            "validation_accuracy": quality.accuracy,
            "seconds": perf_counter() - began,
        }
        history.append(record)
        if on_epoch is not None:
            on_epoch(record)
        if quality.loss < best_loss:
            best, best_loss, best_epoch = guide, quality.loss, epoch
        if epoch - best_epoch >= settings.patience:
            break
    assert best is not None
    facts = {"settings": asdict(settings), "seed": seed, "history": history, "best_epoch": best_epoch}
    return FastGuide(model, best.weights, facts)


def _epochs(
    model: GraphicalModel, train: Examples, settings: FastSettings, seed: int
) -> Iterator[tuple[float, FastWeights]]:
    """Mean training loss and weights: before training, then after each epoch."""
    moves = Moves.of(model)
    frequencies = value_frequencies(moves, train.references, train.observed, settings.smoothing)
    network = FastNetwork(moves, frequencies, settings.width, seed)
    yield measured(FastGuide(model, network.weights()), train).loss, network.weights()
    yield from train_epochs(network, _evidence(moves, train), _targets(moves, train), settings)


def _evidence(moves: Moves, examples: Examples) -> NDArray[np.uint8]:
    """[queries, moves] 1 for the observed values."""
    tokens = np.zeros((len(examples.references), len(moves)), dtype=np.uint8)
    np.put_along_axis(
        tokens, moves.of_assignments(examples.references), examples.observed.astype(np.uint8), axis=1
    )
    return tokens


def _targets(moves: Moves, examples: Examples) -> NDArray[np.int64]:
    """[queries, variables] the reference's values; -100, torch's own mark, where they do not count."""
    counts = ~examples.observed & (moves.domain_sizes > 1)
    return np.where(counts, examples.references, -100)


class FastNetwork:
    """Parameters, and the loss of a batch of queries. All randomness comes from one generator."""

    def __init__(self, moves: Moves, frequencies: NDArray[np.float64], width: int, seed: int) -> None:
        """Begin as the frequencies: embeddings are zero, so that evidence never seen says nothing."""
        self.generator = torch.Generator().manual_seed(seed)
        self.parameters = {
            "embeddings": torch.zeros(len(moves), width),
            "hidden_weights": self._normal(width, width, scale=width**-0.5),
            "hidden_bias": torch.zeros(width),
            "output_weights": self._normal(width, len(moves), scale=width**-0.5),
            "output_bias": torch.from_numpy(np.log(frequencies)).float(),
        }
        for parameter in self.parameters.values():
            parameter.requires_grad_()
        self._places = torch.from_numpy(_padded_places(moves).ravel())

    def loss(self, evidence: Tensor, targets: Tensor, settings: FastSettings) -> Tensor:
        """Mean cross-entropy over the variables whose target is not -100; evidence is multi-hot."""
        p = self.parameters
        rows = self._dropped(evidence, settings.evidence_dropout, rescale=False) @ p["embeddings"]
        hidden = rows + torch.relu(rows @ p["hidden_weights"] + p["hidden_bias"])
        # a row per move and a column per query: picking rows is much quicker than picking columns
        logits = p["output_weights"].T @ self._dropped(hidden, settings.dropout).T + p["output_bias"][:, None]
        padded = functional.pad(logits, (0, 0, 0, 1), value=-torch.inf).index_select(0, self._places)
        by_variable = padded.view(targets.shape[1], -1, len(targets))
        total = functional.cross_entropy(by_variable, targets.T, reduction="sum")
        return total / (targets >= 0).sum().clamp(min=1)

    def weights(self) -> FastWeights:
        """A copy of the parameters as they are."""
        return FastWeights(**{name: p.detach().numpy().copy() for name, p in self.parameters.items()})

    def shuffled(self, count: int) -> Tensor:
        """The numbers below ``count`` in random order."""
        return torch.randperm(count, generator=self.generator)

    def _normal(self, *shape: int, scale: float) -> Tensor:
        return torch.randn(*shape, generator=self.generator) * scale

    def _dropped(self, values: Tensor, share: float, rescale: bool = True) -> Tensor:
        """Some values at zero, the others scaled up to keep the mean."""
        if not share:
            return values
        kept = torch.rand(values.shape, generator=self.generator) >= share
        return values * kept / (1 - share if rescale else 1)


def _padded_places(moves: Moves) -> NDArray[np.int64]:
    """[variables, largest domain] each variable's moves; one past the last move where it has no more."""
    values = np.arange(moves.domain_sizes.max(initial=0))
    return np.where(values < moves.domain_sizes[:, None], moves.starts[:, None] + values, len(moves))


def train_epochs(
    network: FastNetwork, evidence: NDArray[np.uint8], targets: NDArray[np.int64], settings: FastSettings
) -> Iterator[tuple[float, FastWeights]]:
    """Mean training loss and weights after each epoch.

    On one thread: the products are small, and the weights do not depend on the number of cores.
    """
    optimiser = torch.optim.AdamW(_groups(network, settings.weight_decay), settings.learning_rate)
    inputs, outputs = torch.from_numpy(evidence), torch.from_numpy(targets)
    for _ in range(settings.max_epochs):
        with _one_thread():
            losses = []
            for rows in torch.split(network.shuffled(len(inputs)), settings.batch_size):
                loss = network.loss(inputs[rows].float(), outputs[rows], settings)
                optimiser.zero_grad()
                torch.autograd.backward(loss)
                optimiser.step()
                losses.append(loss.item())
        yield float(np.mean(losses)), network.weights()


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _groups(network: FastNetwork, weight_decay: float) -> list[dict[str, object]]:
    """Biases do not decay: those of the output hold the frequencies."""
    biases = [p for name, p in network.parameters.items() if name.endswith("bias")]
    others = [p for name, p in network.parameters.items() if not name.endswith("bias")]
    return [{"params": biases, "weight_decay": 0.0}, {"params": others, "weight_decay": weight_decay}]
