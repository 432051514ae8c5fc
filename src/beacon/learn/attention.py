"""Training the attention network: a plain loop over epochs, batches and the parts of a batch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, distributed, nn
from torch.nn import functional as F  # noqa: N812  (its name everywhere)
from torch.nn.parallel import DistributedDataParallel

from beacon.errors import BeaconError, FormatError, UsageError
from beacon.guide.attention import AttentionGuide, AttentionNetwork, NetworkSettings
from beacon.guide.device import autocast, can_compile, choose_device, number_bytes, training_bytes
from beacon.io.files import reason, write_bytes
from beacon.learn.states import Batch, Picks, TrajectoryStates
from beacon.learn.train import OnEpoch, TrainingSettings, num_processes
from beacon.learn.trajectories import Trajectories
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet

EPOCH_STREAM, DROPOUT_STREAM, VALIDATION_STREAM, INITIAL_WEIGHTS_STREAM = range(4)
DISTANCE_BOUNDS = (0.1, 0.25, 0.5, 1.0)
"""Validation losses are told apart by the share of the query variables that are off the reference."""
STATE_KEY, STATE_VERSION = "beacon_training", 2


class AttentionPreset(NamedTuple):
    """A network and how to train it."""

    network: NetworkSettings
    training: TrainingSettings

    @property
    def most_epochs(self) -> int:
        """Where training ends at the latest."""
        return self.training.epochs

    def changed(self, **changes: Any) -> AttentionPreset:
        """With other settings of its training."""
        return self._replace(training=replace(self.training, **changes))

    def train(
        self,
        model: GraphicalModel,
        queries: QuerySet,
        trajectories: Trajectories,
        *,
        seed: int = 0,
        device: str | torch.device = "auto",
        state_file: Path | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> AttentionGuide:
        """Train on the training queries, and keep the epoch that does best on the validation queries.

        With a ``state_file``, every epoch is saved there, and a training that was interrupted goes on; the
        file is removed when training is complete. ``on_epoch`` hears of every epoch, earlier ones included.
        Under torchrun every process takes its share of each batch.
        """
        with ranks_on(device) as ranks:
            network = new_network(model, self, seed).to(ranks.device)
            training, validation = (
                _states_of(model, queries, trajectories, split, ranks.device)
                for split in ("train", "validation")
            )
            if self.network.token_bias:
                start_at_frequencies(network, training)
            memory = training_bytes(ranks.device)
            trainer = Trainer(network, training, validation, self.training, seed, ranks, memory)
            state = TrainingState(network, new_optimizer(network, self.training, ranks.device))
            identity = _identity(self, seed, queries, trajectories)
            is_complete = trainer.fit_from(state, state_file, identity, on_epoch)
            assert state.best is not None
            network.load_state_dict(state.best)
        facts = {
            "settings": {"seed": seed, "training": asdict(self.training)},
            "history": [asdict(epoch) for epoch in state.history],
            "best_epoch": state.best_epoch.epoch,
            "is_complete": is_complete,
        }
        return AttentionGuide(model, network, ranks.device, facts)


PRESETS = {
    "paper": AttentionPreset(NetworkSettings(), TrainingSettings()),
    "small": AttentionPreset(
        NetworkSettings(embedding=32, heads=2, attention_layers=2, width=64, blocks=2),
        TrainingSettings(
            learning_rate=3e-3,
            decay=0.95,
            batch=32,
            epochs=20,
            states_per_query=6,
            validation_states_per_query=4,
            max_moves=64,
        ),
    ),
}
"""``small`` is for two cores and a model of some hundred variables."""


@dataclass(frozen=True)
class Epoch:
    """What became of one epoch."""

    epoch: int
    train_loss: float
    """Mean over the states of the epoch, each at the time it was trained on."""
    validation_loss: float
    top_move_accuracy: float
    """Share of the validation states off their reference whose best-scored move brings them closer."""
    validation_loss_by_distance: list[float | None]
    """Mean over the states up to each of DISTANCE_BOUNDS and beyond the one before; None: no such state."""
    seconds: float
    learning_rate: float


@dataclass
class TrainingState:
    """The network's weights, what Adam remembers of them, and the best epoch so far."""

    network: AttentionNetwork
    optimizer: torch.optim.Optimizer
    history: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] | None = None
    """The weights of the best epoch, on the CPU."""

    @property
    def best_epoch(self) -> Epoch:
        """The epoch with the lowest validation loss; the first of equals."""
        return min(self.history, key=lambda epoch: epoch.validation_loss)

    def is_finished(self, epochs: int, patience: int) -> bool:
        """Have there been enough epochs, or too many without a better one?"""
        done = len(self.history)
        return done >= epochs or (done > 0 and done - self.best_epoch.epoch >= patience)

    def add(self, epoch: Epoch) -> None:
        """Count an epoch, and keep its weights if it is the best."""
        self.history.append(epoch)
        if self.best is None or self.best_epoch is epoch:
            self.best = {name: tensor.cpu().clone() for name, tensor in self.network.state_dict().items()}

    def save(self, path: Path, identity: dict[str, Any]) -> None:
        """Write the state file; an interrupted training never leaves half of it."""
        header = {
            "version": STATE_VERSION,
            "identity": identity,
            "history": [asdict(e) for e in self.history],
        }
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in (self.best or {}).items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in moments.items()}
        data = save({n: t.contiguous() for n, t in tensors.items()}, {STATE_KEY: json.dumps(header)})
        write_bytes(path, data)

    def load(self, path: Path, identity: dict[str, Any]) -> None:
        """Go on where a saved training of this identity stood."""
        header, tensors = _read_state(path)
        _check_identity(path, header["identity"], identity)
        try:
            self.network.load_state_dict(_under("network", tensors))
            self.best = _under("best", tensors)
            moments: dict[int, dict[str, Tensor]] = {}
            for name, tensor in _under("optimizer", tensors).items():
                index, _, key = name.partition(".")
                moments.setdefault(int(index), {})[key] = tensor
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": moments, "param_groups": groups})
            self.history = [Epoch(**epoch) for epoch in header["history"]]
        except (KeyError, TypeError, ValueError, RuntimeError):
            raise _damaged_state(path) from None


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Is this the one process that writes files and tells people?"""
        return self.rank == 0

    @property
    def share(self) -> slice:
        """This process's part of a batch."""
        return slice(self.rank, None, self.world)

    def total(self, sums: Tensor) -> Tensor:
        """Sums over all processes."""
        if self.world > 1:
            distributed.all_reduce(sums)
        return sums


@contextmanager
def ranks_on(device: str | torch.device) -> Iterator[Ranks]:
    """Join the other processes of a torchrun, if there are any, each with a GPU of its own."""
    chosen = choose_device(device)
    if num_processes() == 1:
        yield Ranks(chosen)
        return
    if chosen == torch.device("cuda"):  # any of them
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    is_new = not distributed.is_initialized()
    if is_new:
        # Its default arguments keep the group that exists when it is imported, and with it threads that can
        # abort a process at its end. Optimisers import it, so it has to come before the group.
        import_module("torch.distributed.nn.functional")
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield Ranks(chosen, distributed.get_rank(), distributed.get_world_size())
    finally:
        if is_new:
            distributed.destroy_process_group()


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

    def fit_from(
        self,
        state: TrainingState,
        state_file: Path | None,
        identity: dict[str, Any],
        on_epoch: OnEpoch | None,
    ) -> bool:
        """Train from where the state file stands, if there is one; was it completed?"""

        def tell(epoch: Epoch) -> None:
            if on_epoch is not None and self.ranks.leads:
                on_epoch(asdict(epoch))

        def after_epoch() -> None:
            if state_file is not None and self.ranks.leads:
                state.save(state_file, identity)
            tell(state.history[-1])

        if state_file is not None and state_file.exists():
            state.load(state_file, identity)
            for epoch in state.history:
                tell(epoch)
        is_complete = self.fit(state, after_epoch)
        if is_complete and state_file is not None and self.ranks.leads:
            state_file.unlink(missing_ok=True)
        return is_complete

    def fit(self, state: TrainingState, after_epoch: Callable[[], None]) -> bool:
        """Train until the last epoch, or until patience runs out; False if Ctrl-C came first.

        Whatever is random in an epoch depends on the seed and the epoch's number alone: training that goes
        on from a saved state gives the same network as training that never stopped.
        """
        forward: nn.Module = self.network
        if self.ranks.world > 1:
            places = [self.ranks.device.index] if self.ranks.device.type == "cuda" else None
            forward = DistributedDataParallel(forward, device_ids=places)
        elif self.settings.compile and can_compile(self.ranks.device):
            forward = torch.compile(forward, dynamic=False)  # type: ignore[assignment]
        try:
            while not state.is_finished(self.settings.epochs, self.settings.patience):
                state.add(self.epoch(forward, state))
                after_epoch()
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
        picks = self.training.draw(self.settings.states_per_query, rng)
        loss = torch.zeros((), device=self.ranks.device)
        self.network.train()
        with self.seeded_dropout(number):
            for first in range(0, picks.size, self.settings.batch):
                batch = picks.take(slice(first, first + self.settings.batch))
                loss += self.update(forward, state.optimizer, batch)
        train_loss = float(self.ranks.total(loss)) / picks.size
        return Epoch(number, train_loss, *self.validate(), perf_counter() - started, rate)

    def update(self, forward: nn.Module, optimizer: torch.optim.Optimizer, picks: Picks) -> Tensor:
        """One step of Adam on a batch; returns this process's sum of losses."""
        own = picks.take(self.ranks.share)
        counted = float(own.size > 0)  # with nothing to do in a short batch, take part with weight 0
        parts = self.parts(self.training, own if counted else picks.take(slice(1)), self.settings.max_moves)
        total = torch.zeros((), device=self.ranks.device)
        optimizer.zero_grad(set_to_none=True)
        for part in parts:
            batch = self.training.batch(part, self.settings.max_moves)
            # processes exchange gradients once per batch, with its last part
            waits = isinstance(forward, DistributedDataParallel) and part is not parts[-1]
            with forward.no_sync() if waits else nullcontext():  # type: ignore[operator]
                with autocast(self.ranks.device):
                    logits = forward(batch.state_tokens, batch.move_tokens)
                loss = counted * state_losses(logits, batch).sum()
                mean = loss * (self.ranks.world / picks.size)  # the processes' gradients are averaged
                mean.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        optimizer.step()
        return total

    @torch.no_grad()
    def validate(self) -> tuple[float, float, list[float | None]]:
        """Mean loss of the validation states, accuracy of their best-scored move, losses by distance."""
        rng = np.random.default_rng([self.seed, VALIDATION_STREAM])
        picks = self.validation.draw(self.settings.validation_states_per_query, rng)
        bounds = torch.tensor(DISTANCE_BOUNDS, device=self.ranks.device)
        sums = torch.zeros(2, len(bounds) + 1, dtype=torch.float64, device=self.ranks.device)
        self.network.eval()
        for part in self.parts(self.validation, picks.take(self.ranks.share), None):
            batch = self.validation.batch(part)
            with autocast(self.ranks.device):
                logits = self.network(batch.state_tokens, batch.move_tokens).float()
            losses, places = state_losses(logits, batch).double(), torch.bucketize(batch.distances, bounds)
            sums[0, :-1].index_add_(0, places, losses)
            sums[1, :-1].index_add_(0, places, torch.ones_like(losses))
            sums[:, -1] += torch.stack(hits(logits, batch))
        (*totals, closer), (*counts, away) = self.ranks.total(sums).tolist()
        by_distance = [total / count if count else None for total, count in zip(totals, counts, strict=True)]
        return sum(totals) / picks.size, closer / max(away, 1.0), by_distance

    def parts(self, states: TrajectoryStates, picks: Picks, max_moves: int | None) -> list[Picks]:
        """Split a batch into parts whose activations fit in memory."""
        numbers = self.network.numbers_per_state(states.width(max_moves), states.num_variables)
        rows = max(1, self.memory // (numbers * number_bytes(self.ranks.device)))
        return [picks.take(slice(first, first + rows)) for first in range(0, picks.size, rows)]

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


def new_network(model: GraphicalModel, preset: AttentionPreset, seed: int) -> AttentionNetwork:
    """An untrained network; torch draws weights from its global generator, which is put back afterwards."""
    with torch.random.fork_rng(devices=[]):
        key = np.random.SeedSequence([seed, INITIAL_WEIGHTS_STREAM])
        torch.manual_seed(int(key.generate_state(1)[0]))
        return AttentionNetwork(int(model.domain_sizes.sum()), preset.network)


@torch.no_grad()
def start_at_frequencies(network: AttentionNetwork, training: TrajectoryStates) -> None:
    """Let the network begin with how often each value is the reference's where it is asked for."""
    tokens = training.tokens
    found = (tokens.starts + training.references.long())[~training.observed]
    counts = torch.bincount(found, minlength=tokens.num_tokens) + 1.0
    totals = torch.zeros_like(tokens.sizes, dtype=counts.dtype).index_add_(0, tokens.owners, counts)
    network.bias.weight[:, 0] = torch.logit(counts / totals[tokens.owners], eps=1e-6)
    network.logit.weight.zero_()  # before training, the rest says nothing
    network.logit.bias.zero_()


def new_optimizer(
    network: AttentionNetwork, settings: TrainingSettings, device: torch.device
) -> torch.optim.Optimizer:
    """Adam; one kernel for all weights on a GPU."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    return torch.optim.Adam(weights, lr=settings.learning_rate, fused=device.type == "cuda")


def _states_of(
    model: GraphicalModel, queries: QuerySet, trajectories: Trajectories, split: str, device: torch.device
) -> TrajectoryStates:
    states = TrajectoryStates(model, queries, trajectories, split, device)
    if not states.num_queries:
        raise UsageError(
            f"training needs {split} queries that ask for something; found none among {len(queries):,}: "
            "sample more queries"
        )
    return states


def _identity(
    preset: AttentionPreset, seed: int, queries: QuerySet, trajectories: Trajectories
) -> dict[str, Any]:
    """What an interrupted training must share with this one; it may be given more or fewer epochs."""
    data = hashlib.sha256()
    for array in (
        queries.observed,
        queries.split_of_queries,
        trajectories.references,
        trajectories.starts,
        trajectories.flip_variables,
        trajectories.flip_values,
    ):
        data.update(np.ascontiguousarray(array).tobytes())
    facts = {"model": queries.fingerprint, "data": data.hexdigest()[:32], "seed": seed}
    identity = {**facts, **asdict(preset.network), **asdict(preset.training)}
    del identity["epochs"]
    return identity


def _check_identity(path: Path, saved: dict[str, Any], wanted: dict[str, Any]) -> None:
    wanted = json.loads(json.dumps(wanted))
    for name in sorted(saved.keys() | wanted.keys()):
        if saved.get(name) != wanted.get(name):
            raise UsageError(
                f"{path} is an interrupted training with other settings "
                f"({name}: {saved.get(name)!r} there, {wanted.get(name)!r} now); "
                "repeat it as it was, or remove that file to begin anew"
            )


def _read_state(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as file:
            header: dict[str, Any] = json.loads((file.metadata() or {})[STATE_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    except OSError as error:
        raise BeaconError(f"cannot read {path}: {reason(error)}") from None
    except (SafetensorError, KeyError, ValueError):
        raise _damaged_state(path) from None
    if header.get("version") != STATE_VERSION:
        raise FormatError(
            path, "", f"expected a training of version {STATE_VERSION}, found {header.get('version')!r}"
        )
    return header, tensors


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)}


def _damaged_state(path: Path) -> FormatError:
    return FormatError(path, "", "the interrupted training is damaged; remove the file to begin anew")
