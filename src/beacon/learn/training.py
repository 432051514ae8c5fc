"""Training the attention network: a plain loop over epochs, batches and the parts of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (its name everywhere)
from torch.nn.parallel import DistributedDataParallel

from beacon.guide.device import autocast, can_fuse, number_bytes
from beacon.guide.network import AttentionNetwork
from beacon.learn.dataset import Batch, Picks, TrajectoryStates
from beacon.learn.ranks import Ranks
from beacon.learn.training_settings import TrainingSettings
from beacon.learn.training_state import Epoch, TrainingState

EPOCH_STREAM, DROPOUT_STREAM, VALIDATION_STREAM = range(3)


@dataclass(frozen=True)
class Trainer:
    """Everything that stays the same from epoch to epoch."""

    network: AttentionNetwork
    training: TrajectoryStates
    validation: TrajectoryStates
    settings: TrainingSettings
    seed: int
    ranks: Ranks
    memory: int
    """Bytes that the activations of a part of a batch may take."""

    def fit(self, state: TrainingState, after_epoch: Callable[[TrainingState], None]) -> bool:
        """Train until the last epoch, or until patience runs out; False if Ctrl-C came first.

        Whatever is random in an epoch depends on the seed and the epoch's number alone: training that goes
        on from a saved state gives the same network as training that never stopped.
        """
        if self.settings.compile and can_fuse(self.ranks.device):
            self.network.fuse()
        forward = self.ranks.joined(self.network)
        try:
            while not state.is_finished(self.settings.epochs, self.settings.patience):
                state.add(self.epoch(forward, state))
                after_epoch(state)
        except KeyboardInterrupt:
            if state.best is None:
                raise
            return False
        return True

    def epoch(self, forward: nn.Module, state: TrainingState) -> Epoch:
        """One pass over freshly drawn states of every training query, and a look at the validation states."""
        started = perf_counter()
        number = len(state.history) + 1
        rate = self.settings.learning_rate * self.settings.decay ** (number - 1)
        for group in state.optimizer.param_groups:
            group["lr"] = rate
        rng = np.random.default_rng([self.seed, EPOCH_STREAM, number])
        picks = self.training.draw(self.settings.states_per_query, rng, self.settings.batch)
        loss = torch.zeros((), device=self.ranks.device)
        self.network.train()
        with self.seeded_dropout(number):
            for first in range(0, len(picks), self.settings.batch):
                loss += self.update(
                    forward, state.optimizer, picks.take(slice(first, first + self.settings.batch))
                )
        train_loss = float(self.ranks.total(loss)) / len(picks)
        validation_loss, accuracy = self.validate()
        return Epoch(number, train_loss, validation_loss, accuracy, perf_counter() - started, rate)

    def update(self, forward: nn.Module, optimizer: torch.optim.Optimizer, picks: Picks) -> Tensor:
        """One step of Adam on a batch; returns this process's sum of losses."""
        own = picks.take(self.ranks.share)
        counted = float(len(own) > 0)  # with nothing to do in a short batch, take part with weight 0
        parts = list(self.parts(own if counted else picks.take(slice(1)), self.settings.max_moves))
        total = torch.zeros((), device=self.ranks.device)
        optimizer.zero_grad(set_to_none=True)
        for number, part in enumerate(parts, 1):
            batch = self.training.batch(part, self.settings.max_moves)
            with gradients_exchanged(forward, number == len(parts)):
                with autocast(self.ranks.device):
                    logits = forward(batch.state_tokens, batch.move_tokens)
                loss = counted * state_losses(logits, batch).sum()
                mean = loss * (self.ranks.world / len(picks))  # the processes' gradients are averaged
                mean.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        optimizer.step()
        return total

    @torch.no_grad()
    def validate(self) -> tuple[float, float]:
        """Mean loss of the validation states, and the share of those off their reference whose best-scored
        move brings them closer."""
        rng = np.random.default_rng([self.seed, VALIDATION_STREAM])
        picks = self.validation.draw(self.settings.validation_states_per_query, rng)
        sums = torch.zeros(3, dtype=torch.float64, device=self.ranks.device)
        self.network.eval()
        for part in self.parts(picks.take(self.ranks.share), None):
            batch = self.validation.batch(part)
            with autocast(self.ranks.device):
                logits = self.network(batch.state_tokens, batch.move_tokens).float()
            sums += torch.stack([state_losses(logits, batch).sum(), *hits(logits, batch)])
        loss, closer, away = self.ranks.total(sums).tolist()
        return loss / len(picks), closer / max(away, 1.0)

    def parts(self, picks: Picks, max_moves: int | None) -> Iterator[Picks]:
        """Split a batch, from states with many moves to those with few, into parts that fit in memory."""
        first = 0
        while first < len(picks):
            width = picks.take(slice(first, first + 1)).width(max_moves)
            numbers = self.network.numbers_per_state(width, self.training.num_variables)
            rows = max(1, self.memory // (numbers * number_bytes(self.ranks.device)))
            yield picks.take(slice(first, first + rows))
            first += rows

    @contextmanager
    def seeded_dropout(self, epoch: int) -> Iterator[None]:
        """Dropout draws from torch's global generator: seed that one, and put it back afterwards."""
        key = [self.seed, DROPOUT_STREAM, epoch, self.ranks.rank]
        places = [self.ranks.device] if self.ranks.device.type == "cuda" else []
        with torch.random.fork_rng(places):
            torch.manual_seed(int(np.random.SeedSequence(key).generate_state(1)[0]))
            yield


def state_losses(logits: Tensor, batch: Batch) -> Tensor:
    """[states] binary cross-entropy, mean over the moves of each state."""
    losses = F.binary_cross_entropy_with_logits(logits.float(), batch.labels.float(), reduction="none")
    return (losses * batch.is_move).sum(1) / batch.is_move.sum(1)


def hits(logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
    """States whose best-scored move brings them closer to the reference, and states that are off it."""
    best = logits.masked_fill(~batch.is_move, -torch.inf).argmax(1, keepdim=True)
    labels = batch.labels & batch.is_move
    return labels.gather(1, best).sum(), labels.any(1).sum()


def gradients_exchanged(forward: nn.Module, is_last: bool) -> AbstractContextManager[None]:
    """Processes exchange gradients once per batch, with its last part."""
    if isinstance(forward, DistributedDataParallel) and not is_last:
        return forward.no_sync()
    return nullcontext()
