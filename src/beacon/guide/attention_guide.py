"""The attention network as a guide."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from beacon.errors import UsageError
from beacon.guide.checkpoint import Checkpoint, damaged, save_checkpoint
from beacon.guide.device import autocast, choose_device
from beacon.guide.network import AttentionNetwork, NetworkSettings
from beacon.guide.tokens import TokenSpace, widest
from beacon.guided.guide import StateBatch
from beacon.model.graphical_model import GraphicalModel

KIND = "attention"
MOVES_AT_ONCE = {"cpu": 2**14, "cuda": 2**19}  # enough to keep the device busy, little enough to fit


class AttentionGuide:
    """A trained network that scores all moves of a batch of states in one call."""

    def __init__(
        self,
        model: GraphicalModel,
        network: AttentionNetwork,
        device: str | torch.device = "auto",
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.fingerprint = model.fingerprint
        self.facts = facts or {}
        self.device = choose_device(device)
        self.network = network.to(self.device).eval()
        self._tokens = TokenSpace(model.domain_sizes, self.device)
        self._asked: tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]] | None = None
        with torch.no_grad(), autocast(self.device):
            self._tables = self.network.tables()

    @property
    def settings(self) -> NetworkSettings:
        """The network's sizes."""
        return self.network.settings

    @property
    def tuned(self) -> dict[str, Any]:
        """How to use it best, if that has been tried."""
        tuned: dict[str, Any] = self.facts.get("tuned", {})
        return tuned

    @property
    def history(self) -> list[dict[str, Any]]:
        """The epochs of its training."""
        history: list[dict[str, Any]] = self.facts.get("history", [])
        return history

    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] see :meth:`beacon.guided.guide.Guide.score`."""
        assignments, observed = np.asarray(states.assignments), np.asarray(states.observed)
        slots, counts = self._open_slots(observed)
        rows = max(1, MOVES_AT_ONCE.get(self.device.type, 2**14) // max(1, slots.shape[1]))
        chunks = [slice(k, k + rows) for k in range(0, len(assignments), rows)]
        scores = [self._score(assignments[c], observed[c], slots[c], counts[c]) for c in chunks]
        return np.concatenate([np.zeros((0, self._tokens.num_tokens), np.float32), *scores])

    def _open_slots(self, observed: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """As :meth:`TokenSpace.open_slots`; a search asks about the same queries again and again."""
        if self._asked is None or not np.array_equal(observed, self._asked[0]):
            self._asked = (observed.copy(), *self._tokens.open_slots(observed))
        return self._asked[1:]

    @torch.no_grad()
    def _score(
        self,
        assignments: NDArray[Any],
        observed: NDArray[np.bool_],
        slots: NDArray[np.int32],
        counts: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        width = int(counts.max(initial=0))
        if not width:  # nothing to ask the network
            return self._tokens.unmoved(assignments)
        x, chosen, count = (
            widest(a, self.device) for a in (assignments, slots[:, :width], counts[:, np.newaxis])
        )
        variables, values = self._tokens.values(x, chosen)
        moves = self._tokens.starts[variables] + values
        state_tokens = self._tokens.of_states(x, torch.tensor(observed, device=self.device))
        with autocast(self.device):
            logits = self.network(state_tokens, moves, self._tables)
        is_move = torch.arange(width, device=self.device) < count
        scores: NDArray[np.float32] = (
            self._tokens.scores(x, moves, logits.float().sigmoid(), is_move).cpu().numpy()
        )
        return scores

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the guide's folder; see :func:`beacon.guide.checkpoint.load_guide` for reading it."""
        tensors = {name: tensor.cpu().numpy() for name, tensor in self.network.state_dict().items()}
        facts = {**self.facts, "fingerprint": self.fingerprint, "network": asdict(self.settings)}
        save_checkpoint(path, KIND, tensors, facts)

    @classmethod
    def from_checkpoint(
        cls, model: GraphicalModel, checkpoint: Checkpoint, device: str | torch.device = "auto"
    ) -> AttentionGuide:
        """The guide of a folder that has been read."""
        try:
            network = AttentionNetwork(
                int(model.domain_sizes.sum()), NetworkSettings(**checkpoint.facts["network"])
            )
            network.load_state_dict({name: torch.tensor(a) for name, a in checkpoint.tensors.items()})
        except (KeyError, TypeError, RuntimeError, UsageError) as error:
            reason = str(error).splitlines()[0]
            raise damaged(checkpoint.path, f"its weights do not fit its settings: {reason}") from None
        return cls(model, network, device, checkpoint.own_facts)
