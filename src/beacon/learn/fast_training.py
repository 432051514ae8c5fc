"""Training the fast guide: references of the training queries, seconds on a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import MissingDependencyError, ModelError, UsageError
from beacon.guide.fast_guide import FastGuide, FastWeights
from beacon.guide.measure import Quality, prediction_quality
from beacon.guide.trivial import value_frequencies
from beacon.guided.evidence_guide import EvidenceGuide
from beacon.guided.moves import Moves
from beacon.learn.fast_settings import FastSettings
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import SPLITS, QuerySet

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Examples:
    """Queries with their references."""

    references: NDArray[np.int64]
    """[queries, variables] evidence included."""
    observed: NDArray[np.bool_]
    """[queries, variables]"""

    @classmethod
    def of_split(cls, queries: QuerySet, trajectories: Trajectories, split: str) -> Examples:
        """The queries of a split and what was found for them."""
        chosen = queries.split_of_queries == SPLITS.index(split)
        if not chosen.any():
            raise UsageError(
                f"training needs queries of the splits train and validation; found no {split} query: "
                "sample more queries, or change the splits"
            )
        return cls(trajectories.references[chosen].astype(np.int64), queries.observed[chosen])


def train_fast(
    model: GraphicalModel,
    queries: QuerySet,
    trajectories: Trajectories,
    settings: FastSettings | None = None,
    seed: int = 0,
    on_epoch: Callable[[Record], None] | None = None,
) -> FastGuide:
    """Train until the validation loss no longer falls, and keep the best epoch.

    Epoch 0 is the network before training: it predicts the frequencies. The same seed gives the same
    weights. ``on_epoch`` hears of each epoch's losses.
    """
    _check(model, queries, trajectories)
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


def measured(guide: EvidenceGuide, examples: Examples) -> Quality:
    """Loss and accuracy of a guide on some queries."""
    probabilities = guide.probabilities(examples.references, examples.observed)
    return prediction_quality(guide.moves, probabilities, examples.observed, examples.references)


def _check(model: GraphicalModel, queries: QuerySet, trajectories: Trajectories) -> None:
    queries.check_model(model)
    if trajectories.fingerprint != model.fingerprint:
        raise ModelError(
            f"these trajectories are for another model: its fingerprint is {trajectories.fingerprint}, "
            f"the model's is {model.fingerprint}; collect new ones"
        )
    if len(trajectories.references) != len(queries):
        raise UsageError(
            f"expected trajectories of {len(queries)} queries; found those of "
            f"{len(trajectories.references)}: collect new ones"
        )


def _epochs(
    model: GraphicalModel, train: Examples, settings: FastSettings, seed: int
) -> Iterator[tuple[float, FastWeights]]:
    """Mean training loss and weights: before training, then after each epoch."""
    try:
        from beacon.learn.fast_network import FastNetwork, train_epochs  # noqa: PLC0415  (torch is slow to import)
    except ImportError:
        raise MissingDependencyError("torch", "training a guide", "learn") from None
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
