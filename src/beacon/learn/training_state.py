"""Where a training stands, in memory and on disk: a safetensors file with the rest as JSON in its header."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from beacon.errors import BeaconError, FormatError, UsageError
from beacon.guide.network import AttentionNetwork

HEADER_KEY = "beacon_training"
VERSION = 1


@dataclass(frozen=True)
class Epoch:
    """What became of one epoch."""

    epoch: int
    train_loss: float
    """Mean over the states of the epoch, each at the time it was trained on."""
    validation_loss: float
    top_move_accuracy: float
    """Share of the validation states off their reference whose best-scored move brings them closer: alpha."""
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

    def save(self, path: Path, settings: dict[str, Any]) -> None:
        """Write to a temporary name and rename: an interrupted training never leaves half a file."""
        header = {"version": VERSION, "settings": settings, "history": [asdict(e) for e in self.history]}
        data = save({n: t.contiguous() for n, t in self._tensors().items()}, {HEADER_KEY: json.dumps(header)})
        temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_bytes(data)
            os.replace(temporary, path)
        except OSError as error:
            raise BeaconError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
        finally:
            temporary.unlink(missing_ok=True)

    def load(self, path: Path, settings: dict[str, Any]) -> None:
        """Go on where a saved training with these settings stood."""
        header, tensors = _read(path)
        _check_settings(path, header["settings"], settings)
        try:
            self.network.load_state_dict(_under("network", tensors))
            self.best = _under("best", tensors)
            self._load_optimizer(_under("optimizer", tensors))
            self.history = [Epoch(**epoch) for epoch in header["history"]]
        except (KeyError, TypeError, ValueError, RuntimeError):
            raise _damaged(path) from None

    def _tensors(self) -> dict[str, Tensor]:
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in (self.best or {}).items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in moments.items()}
        return tensors

    def _load_optimizer(self, tensors: dict[str, Tensor]) -> None:
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as file:
            header: dict[str, Any] = json.loads((file.metadata() or {})[HEADER_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    except OSError as error:
        raise BeaconError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (SafetensorError, KeyError, ValueError):
        raise _damaged(path) from None
    if header.get("version") != VERSION:
        raise FormatError(
            path, "", f"expected a training of version {VERSION}, found {header.get('version')!r}"
        )
    return header, tensors


def _check_settings(path: Path, saved: dict[str, Any], wanted: dict[str, Any]) -> None:
    wanted = json.loads(json.dumps(wanted))
    for name in sorted(saved.keys() | wanted.keys()):
        if saved.get(name) != wanted.get(name):
            raise UsageError(
                f"{path} is an interrupted training with other settings "
                f"({name}: {saved.get(name)!r} there, {wanted.get(name)!r} now); "
                "repeat it as it was, or remove that file to begin anew"
            )


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): t for name, t in tensors.items() if name.startswith(start)}


def _damaged(path: Path) -> FormatError:
    return FormatError(path, "", "the interrupted training is damaged; remove the file to begin anew")
