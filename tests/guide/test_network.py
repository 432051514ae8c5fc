"""The network against a slow computation of the same thing, one move at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from beacon.errors import UsageError
from beacon.guide.attention import AttentionNetwork, NetworkSettings
from beacon.guide.device import can_compile

SMALL = NetworkSettings(embedding=8, heads=2, attention_layers=2, width=12, blocks=3, dropout=0.5)


def network_of(num_tokens: int, settings: NetworkSettings = SMALL, seed: int = 0) -> AttentionNetwork:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = AttentionNetwork(num_tokens, settings).eval()
        if settings.token_bias:
            torch.nn.init.normal_(network.bias.weight)
    return network


def slow_logit(network: AttentionNetwork, tokens: list[int], evidence: list[bool], move: int) -> float:
    """The same in numpy and double precision: no tables, no batches, no layers of torch."""
    weights = {name: t.detach().double().numpy() for name, t in network.state_dict().items()}

    def dense(name: str, x: np.ndarray) -> np.ndarray:
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    size, heads = network.settings.embedding, network.settings.heads
    raw = weights["tokens.weight"][move]
    state = [
        weights["tokens.weight"][t] + e * weights["evidence"] for t, e in zip(tokens, evidence, strict=True)
    ]
    moved = raw
    for k in range(network.settings.attention_layers):
        projected = np.array([weights["keys_values.weight"] @ token for token in state])
        keys = projected[:, 2 * k * size : (2 * k + 1) * size]
        values = projected[:, (2 * k + 1) * size : (2 * k + 2) * size]
        query = dense(f"attention.{k}.query", moved)
        attended = []
        for own in np.split(np.arange(size), heads):
            weight = np.exp(keys[:, own] @ query[own] / np.sqrt(len(own)))
            attended.append(weight / weight.sum() @ values[:, own])
        added = moved + dense(f"attention.{k}.out", np.concatenate(attended))
        normed = (added - added.mean()) / np.sqrt(added.var() + 1e-5)
        moved = normed * weights[f"attention.{k}.norm.weight"] + weights[f"attention.{k}.norm.bias"]
    hidden = dense("project", np.concatenate([moved, raw]))
    for k in range(network.settings.blocks):
        hidden = hidden + np.maximum(0, dense(f"blocks.{k}", hidden))
    bias = weights["bias.weight"][move, 0] if network.settings.token_bias else 0.0
    return float(dense("logit", hidden)[0] + bias)


@pytest.mark.parametrize("settings", [SMALL, replace(SMALL, token_bias=False, attention_layers=1)])
def test_logits_are_those_of_a_slow_computation(settings: NetworkSettings) -> None:
    network = network_of(7, settings)
    states = torch.tensor([[0, 3, 5], [1, 2 + 7, 6]])  # in the second state the second token is evidence
    moves = torch.tensor([[1, 2, 4, 6], [0, 5, 0, 0]])
    logits = network(states, moves)
    for row, evidence in enumerate([[False] * 3, [False, True, False]]):
        for column, move in enumerate(moves[row].tolist()):
            expected = slow_logit(network, (states[row] % 7).tolist(), evidence, move)
            assert logits[row, column].item() == pytest.approx(expected, abs=1e-5)


def test_tables_computed_beforehand_give_the_same_logits() -> None:
    network = network_of(9)
    states, moves = torch.tensor([[0, 4, 17]]), torch.tensor([[1, 2, 8]])
    assert torch.equal(network(states, moves, network.tables()), network(states, moves))


def test_a_move_is_scored_alike_whatever_stands_beside_it() -> None:
    network = network_of(50)
    states = torch.randint(100, (3, 20), generator=torch.Generator().manual_seed(1))
    moves = torch.randint(50, (3, 30), generator=torch.Generator().manual_seed(2))
    together = network(states, moves)
    alone = torch.cat([network(states[k : k + 1], moves[k : k + 1, :7]) for k in range(3)])
    torch.testing.assert_close(together[:, :7], alone, atol=1e-5, rtol=1e-5)


def test_evidence_matters_only_with_the_flag() -> None:
    moves = torch.tensor([[1, 2]])
    free, seen = torch.tensor([[0, 3]]), torch.tensor([[0, 3 + 5]])
    flagged = network_of(5)
    assert not torch.allclose(flagged(free, moves), flagged(seen, moves))
    plain = AttentionNetwork(
        5, NetworkSettings(embedding=8, heads=2, width=8, blocks=1, evidence_flag=False)
    ).eval()
    assert torch.equal(plain(free, moves), plain(seen, moves))
    assert not plain.evidence.requires_grad


def test_the_paper_network_has_about_four_million_weights_on_a_thousand_variables() -> None:
    network = AttentionNetwork(2 * 1156, NetworkSettings())
    assert 3.5e6 < sum(weight.numel() for weight in network.parameters()) < 5e6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding": 10, "heads": 4}, r"embedding \(10\) must be a multiple of heads \(4\)"),
        ({"blocks": 0}, "blocks must be a whole number of at least 1; found 0"),
        ({"width": 1.5}, "width must be a whole number of at least 1; found 1.5"),
        ({"dropout": 1.0}, "dropout must be a share, 0 ≤ dropout < 1; found 1.0"),
    ],
)
def test_sizes_that_make_no_network_are_refused(settings: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        NetworkSettings(**settings)


def test_a_processor_is_not_compiled_for() -> None:
    assert not can_compile(torch.device("cpu"))
