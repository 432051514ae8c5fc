"""The attention network: scores each move of a state in the light of all its (variable, value) pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  (its name everywhere)

from beacon.errors import UsageError
from beacon.model.checks import check_count, check_dropout


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

    token_bias: bool = False
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


def add_normalised(moves: Tensor, change: Tensor, norm_weight: Tensor, norm_bias: Tensor) -> Tensor:
    """What a layer of attention leaves of a move."""
    return F.layer_norm(moves + change, moves.shape[-1:], norm_weight, norm_bias).to(change.dtype)


def add_residual(hidden: Tensor, change: Tensor, dropout: float) -> Tensor:
    """What a block of the encoder leaves of a move."""
    return hidden + F.dropout(F.relu(change), dropout, training=dropout > 0)


@cache
def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function as one kernel: between matrix products, moving numbers is all that takes time."""
    return torch.compile(function, dynamic=True)


class CrossAttention(nn.Module):
    """Moves look at the state: softmax(q·kᵀ)·v in several heads, added to the move and normalised."""

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        self.heads = settings.heads
        self.is_fused = False
        self.query = nn.Linear(settings.embedding, settings.embedding)
        self.out = nn.Linear(settings.embedding, settings.embedding)
        self.norm = nn.LayerNorm(settings.embedding)

    def forward(self, moves: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """[states, moves, embedding]; no mask: every state has the same number of keys."""
        query, key, value = (self._per_head(x) for x in (query, key, value))
        attended = F.scaled_dot_product_attention(query, key, value)
        add = compiled(add_normalised) if self.is_fused else add_normalised
        change = self.out(attended.transpose(1, 2).flatten(2))
        return add(moves, change, self.norm.weight, self.norm.bias)

    def _per_head(self, x: Tensor) -> Tensor:
        """[states, heads, tokens, embedding / heads]"""
        return x.view(*x.shape[:2], self.heads, x.shape[2] // self.heads).transpose(1, 2)


class AttentionNetwork(nn.Module):
    """Logits of moves, from tokens: token ``starts[i] + v`` stands for variable i at value v."""

    def __init__(self, num_tokens: int, settings: NetworkSettings) -> None:
        super().__init__()
        size, layers = settings.embedding, settings.attention_layers
        self.settings = settings
        self.is_fused = False
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

    def fuse(self) -> None:
        """Compile what lies between matrix products, if :func:`beacon.guide.device.can_fuse`."""
        for part in (self, *self.attention):
            part.is_fused = True

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
        add = compiled(add_residual) if self.is_fused else add_residual
        dropout = self.settings.dropout if self.training else 0.0
        for block in self.blocks:
            hidden = add(hidden, block(hidden), dropout)
        logits: Tensor = self.logit(hidden)
        if self.settings.token_bias:
            logits = logits + self.bias(move_tokens)
        return logits.squeeze(-1)

    def numbers_per_state(self, num_moves: int, num_variables: int) -> int:
        """About how many numbers training keeps for one state: what each layer needs for its gradient."""
        size, layers = self.settings.embedding, self.settings.attention_layers
        per_move = size * (10 * layers + 4) + self.settings.width * (3 * self.settings.blocks + 6)
        return num_moves * per_move + num_variables * size * 4 * layers
