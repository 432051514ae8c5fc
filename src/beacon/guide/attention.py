"""The attention network, and the guide that it makes.

A *token* is a (variable, value) pair: token ``starts[i] + v`` stands for variable i at value v. The state
tokens are the pairs of the current assignment, the move tokens the pairs that moves lead to. Two layers of
cross-attention let every move look at the whole state, an encoder turns what it saw into one logit.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (its name everywhere)
from torch.nn.attention import SDPBackend, sdpa_kernel

from beacon.errors import UsageError, check_count, check_dropout
from beacon.guide.checkpoint import Checkpoint, damaged, save_checkpoint
from beacon.guide.device import autocast, choose_device
from beacon.guided.guide import StateBatch
from beacon.model.graphical_model import GraphicalModel

KIND = "attention"
NUMBERS_AT_ONCE = {
    "cpu": 2**24,
    "cuda": 2**31,
}  # activations: enough to keep the device busy, few enough to fit

ANY_SHAPE = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Attention that needs no planning: cuDNN's plans anew, for 0.2 s, whenever the number of moves changes."""


@dataclass(frozen=True)
class NetworkSettings:
    """Sizes of the network; the defaults are the paper's."""

    embedding: int = 256
    """Length of a token's vector."""
    heads: int = 4
    """Attention heads in each layer; the paper does not say, and 64 numbers a head suit every device."""
    attention_layers: int = 2
    width: int = 512
    """Units of each dense layer of the encoder."""
    blocks: int = 10
    """Residual blocks of the encoder."""
    dropout: float = 0.1
    """Share of units that each block drops while training."""
    evidence_flag: bool = True
    """Do the tokens of evidence differ from those of values that the search chose?"""
    token_bias: bool = True
    """Does every token have a logit of its own, which training starts at the frequency of its value?"""

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in ("embedding", "heads", "attention_layers", "width", "blocks"):
            check_count(name, getattr(self, name), 1)
        if self.embedding % self.heads:
            raise UsageError(f"embedding ({self.embedding}) must be a multiple of heads ({self.heads})")
        check_dropout("dropout", self.dropout)


class Tables(NamedTuple):
    """All that depends on a token alone: computed once for a batch, or for good, and then looked up."""

    moves: Tensor
    """[tokens, 2 · embedding] its embedding, and its query in the first layer."""
    states: Tensor
    """[2 · tokens, layers · 2 · embedding] its key and value in each layer; the second half as evidence."""


class CrossAttention(nn.Module):
    """Moves look at the state: softmax(q·kᵀ)·v in several heads, added to the move and normalised."""

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        self.heads = settings.heads
        self.query = nn.Linear(settings.embedding, settings.embedding)
        self.out = nn.Linear(settings.embedding, settings.embedding)
        self.norm = nn.LayerNorm(settings.embedding)

    def forward(self, moves: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """[states, moves, embedding]; no mask: every state has the same number of keys."""
        q, k, v = (x.view(*x.shape[:2], self.heads, -1).transpose(1, 2) for x in (query, key, value))
        attended = F.scaled_dot_product_attention(q, k, v)
        change = self.out(attended.transpose(1, 2).flatten(2))
        normed: Tensor = self.norm(moves + change).to(change.dtype)
        return normed


class AttentionNetwork(nn.Module):
    """Logits of moves, from tokens."""

    def __init__(self, num_tokens: int, settings: NetworkSettings) -> None:
        super().__init__()
        size, layers = settings.embedding, settings.attention_layers
        self.settings = settings
        self.tokens = nn.Embedding(num_tokens, size)
        self.evidence = nn.Parameter(torch.randn(size) if settings.evidence_flag else torch.zeros(size))
        self.keys_values = nn.Linear(size, layers * 2 * size, bias=False)  # softmax and `out` undo a bias
        self.attention = nn.ModuleList(CrossAttention(settings) for _ in range(layers))
        self.project = nn.Linear(2 * size, settings.width)
        self.blocks = nn.ModuleList(nn.Linear(settings.width, settings.width) for _ in range(settings.blocks))
        self.logit = nn.Linear(settings.width, 1)
        self.evidence.requires_grad_(settings.evidence_flag)
        if settings.token_bias:
            self.bias = nn.Embedding(num_tokens, 1, _weight=torch.zeros(num_tokens, 1))

    def tables(self) -> Tables:
        """Project every token once: there are far fewer of them than state and move tokens in a batch."""
        tokens = self.tokens.weight
        states = self.keys_values(torch.cat([tokens, tokens + self.evidence]))
        query = self.attention[0].query(tokens)  # type: ignore[operator]
        return Tables(torch.cat([tokens.to(query.dtype), query], dim=1), states)

    def forward(self, state_tokens: Tensor, move_tokens: Tensor, tables: Tables | None = None) -> Tensor:
        """[states, moves] logits; ``state_tokens`` [states, variables] are rows of ``Tables.states``."""
        tables = self.tables() if tables is None else tables
        raw, query = F.embedding(move_tokens, tables.moves).chunk(2, dim=-1)
        looked_up = F.embedding(state_tokens, tables.states).chunk(2 * len(self.attention), dim=-1)
        moves = raw
        for k, layer in enumerate(self.attention):
            query = layer.query(moves) if k else query  # type: ignore[operator]
            moves = layer(moves, query, looked_up[2 * k], looked_up[2 * k + 1])
        hidden = self.project(torch.cat([moves.to(raw.dtype), raw], dim=-1))
        for block in self.blocks:
            hidden = hidden + F.dropout(F.relu(block(hidden)), self.settings.dropout, self.training)
        logits: Tensor = self.logit(hidden)
        if self.settings.token_bias:
            logits = logits + self.bias(move_tokens)
        return logits.squeeze(-1)

    def numbers_per_state(self, num_moves: int, num_variables: int) -> int:
        """About how many numbers training keeps for one state: what each layer needs for its gradient."""
        size, layers = self.settings.embedding, self.settings.attention_layers
        per_move = size * (10 * layers + 4) + self.settings.width * (3 * self.settings.blocks + 6)
        return num_moves * per_move + num_variables * size * 4 * layers


class TokenSpace:
    """Tokens of states and moves on one device.

    A *slot* (i, k) is the move of variable i to the k-th value after its current one, cyclically: a variable
    of d values has d - 1 slots in every state, so the slots that are open depend on the query alone.
    """

    def __init__(self, domain_sizes: NDArray[np.int64], device: torch.device) -> None:
        sizes = np.asarray(domain_sizes, dtype=np.int64)
        others = np.maximum(sizes - 1, 0)
        self.num_tokens = int(sizes.sum())
        self.slot_variables = np.repeat(np.arange(len(sizes)), others)
        shifts = np.arange(others.sum()) - np.repeat(np.cumsum(others) - others, others) + 1
        owners = np.repeat(np.arange(len(sizes)), sizes)
        arrays = (sizes, np.cumsum(sizes) - sizes, self.slot_variables, shifts, owners)
        self.sizes, self.starts, self.variables, self.shifts, self.owners = (
            torch.tensor(array, device=device) for array in arrays
        )

    def open_slots(self, observed: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Slots of the variables that are not observed, [rows, most] with zeros at the end; and how many."""
        rows, slots = np.nonzero(~np.asarray(observed)[:, self.slot_variables])
        counts = np.bincount(rows, minlength=len(observed))
        padded = np.zeros((len(observed), counts.max(initial=0)), dtype=np.int32)
        padded[rows, np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)] = slots
        return padded, counts

    def of_states(self, assignments: Tensor, observed: Tensor) -> Tensor:
        """[states, variables] rows of ``Tables.states``: evidence is found in its second half."""
        return self.starts + assignments + self.num_tokens * observed

    def values(self, assignments: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
        """Variable and new value of each slot, [states, slots] each."""
        variables = self.variables[slots]
        values = assignments.gather(1, variables) + self.shifts[slots]
        sizes = self.sizes[variables]
        return variables, torch.where(values < sizes, values, values - sizes)

    def scores(self, assignments: Tensor, moves: Tensor, scores: Tensor, is_move: Tensor) -> Tensor:
        """[states, tokens] scores of all tokens from those of the moves; padding is left out.

        The current value of a variable has what its other values leave of 1, and at least 0.
        """
        spread = scores.new_zeros(len(scores), self.num_tokens + 1)  # the last column takes the padding
        spread.scatter_(1, torch.where(is_move, moves, self.num_tokens), scores)
        spread = spread[:, :-1]
        others = scores.new_zeros(assignments.shape).index_add_(1, self.owners, spread)
        return spread.scatter(1, self.starts + assignments, (1 - others).clamp_(0, 1))


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

    @torch.no_grad()
    def score(self, states: StateBatch) -> NDArray[np.float32]:
        """[states, moves] see :meth:`beacon.guided.guide.Guide.score`."""
        assignments, observed = np.asarray(states.assignments), np.asarray(states.observed)
        slots, counts = self._open_slots(observed)
        parts = [np.zeros((0, self._tokens.num_tokens), np.float32)]
        for rows in self._parts(len(assignments), slots.shape[1]):
            width = int(counts[rows].max(initial=0))
            x, seen, chosen = (self._on_device(a[rows]) for a in (assignments, observed, slots[:, :width]))
            variables, values = self._tokens.values(x, chosen)
            moves = self._tokens.starts[variables] + values
            is_move = torch.arange(width, device=self.device) < self._on_device(counts[rows, None])
            scores = self._tokens.scores(x, moves, self._move_scores(x, seen, moves), is_move)
            parts.append(scores.cpu().numpy())
        return np.concatenate(parts)

    @torch.no_grad()
    def score_moves(
        self, assignments: NDArray[Any], observed: NDArray[np.bool_], moves: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """[states, chosen] scores of some moves (columns of :meth:`score`) of each state, and of no others.

        A search that looks at its improving moves alone needs no more; near an optimum those are few.
        """
        parts = [np.zeros((0, moves.shape[1]), np.float32)]
        for rows in self._parts(len(assignments), moves.shape[1]):
            x, seen, chosen = (self._on_device(a[rows]) for a in (assignments, observed, moves))
            parts.append(self._move_scores(x, seen, chosen).cpu().numpy())
        return np.concatenate(parts)

    def _move_scores(self, assignments: Tensor, observed: Tensor, moves: Tensor) -> Tensor:
        """[states, chosen] the network's scores of these move tokens."""
        if not moves.shape[1]:  # nothing to ask the network
            return assignments.new_zeros(moves.shape, dtype=torch.float32)
        with autocast(self.device), sdpa_kernel(ANY_SHAPE):
            logits = self.network(self._tokens.of_states(assignments, observed), moves, self._tables)
        scores: Tensor = logits.float().sigmoid()
        return scores

    def _parts(self, num_states: int, num_moves: int) -> list[slice]:
        """Split states into parts that fit on the device."""
        numbers = self.network.numbers_per_state(num_moves, len(self._tokens.sizes)) // 4  # no gradients
        rows = max(1, NUMBERS_AT_ONCE.get(self.device.type, 2**24) // max(1, numbers))
        return [slice(first, first + rows) for first in range(0, num_states, rows)]

    def _on_device(self, array: NDArray[Any]) -> Tensor:
        """As int64, for indexing; it travels in its own, smaller type."""
        return torch.tensor(array, device=self.device).long()

    def _open_slots(self, observed: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """As :meth:`TokenSpace.open_slots`; a search asks about the same queries again and again."""
        if self._asked is None or not np.array_equal(observed, self._asked[0]):
            self._asked = (observed.copy(), *self._tokens.open_slots(observed))
        return self._asked[1:]

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
            settings = NetworkSettings(**checkpoint.facts["network"])
            _check_sizes(settings, checkpoint.tensors, num_tokens := int(model.domain_sizes.sum()))
            network = AttentionNetwork(num_tokens, settings)
            network.load_state_dict({name: torch.tensor(a) for name, a in checkpoint.tensors.items()})
        except (KeyError, TypeError, RuntimeError, UsageError) as error:
            reason = str(error).splitlines()[0]
            raise damaged(checkpoint.path, f"its weights do not fit its settings: {reason}") from None
        return cls(model, network, device, checkpoint.own_facts)


def _check_sizes(settings: NetworkSettings, tensors: dict[str, NDArray[Any]], num_tokens: int) -> None:
    """Compare the sizes with the weights, before a network of that size is made."""
    shapes = {
        "tokens.weight": (num_tokens, settings.embedding),
        "project.weight": (settings.width, 2 * settings.embedding),
    }
    for name, shape in shapes.items():
        if tensors[name].shape != shape:
            raise UsageError(f"expected {name} of shape {shape}, found {tensors[name].shape}")
    layers = settings.blocks + settings.attention_layers
    if layers > len(tensors):
        raise UsageError(f"expected weights of {layers} layers, found {len(tensors)} tensors")
