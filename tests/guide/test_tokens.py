"""Tokens and slots against what the words say, one state and one variable at a time."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from beacon.guide.attention import TokenSpace

CPU = torch.device("cpu")


@st.composite
def states(draw: st.DrawFn) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Domain sizes, and some assignments with evidence."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    rows = draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return sizes, rng.integers(sizes, size=(rows, len(sizes))), rng.random((rows, len(sizes))) < 0.4


@given(states())
def test_open_slots_are_the_moves_of_a_state_and_nothing_else(example: tuple) -> None:
    sizes, assignments, observed = example
    space = TokenSpace(np.array(sizes), CPU)
    slots, counts = space.open_slots(observed)
    variables, values = space.values(torch.tensor(assignments), torch.tensor(slots).long())
    for row, x in enumerate(assignments):
        found = list(zip(variables[row].tolist(), values[row].tolist(), strict=True))[: counts[row]]
        moves = [(i, v) for i, d in enumerate(sizes) for v in range(d) if v != x[i] and not observed[row, i]]
        assert sorted(found) == moves


@given(states())
def test_tokens_of_evidence_are_apart_from_those_of_choices(example: tuple) -> None:
    sizes, assignments, observed = example
    space = TokenSpace(np.array(sizes), CPU)
    tokens = space.of_states(torch.tensor(assignments), torch.tensor(observed)).numpy()
    for (row, i), token in np.ndenumerate(tokens):
        expected = sum(sizes[:i]) + assignments[row, i] + (sum(sizes) if observed[row, i] else 0)
        assert token == expected


@given(states())
def test_the_current_value_has_what_the_others_leave(example: tuple) -> None:
    sizes, assignments, observed = example
    space = TokenSpace(np.array(sizes), CPU)
    slots, counts = space.open_slots(observed)
    x = torch.tensor(assignments)
    variables, values = space.values(x, torch.tensor(slots).long())
    is_move = torch.arange(slots.shape[1]) < torch.tensor(counts)[:, None]
    given_scores = torch.rand(slots.shape)
    scores = space.scores(x, space.starts[variables] + values, given_scores, is_move).numpy()
    starts = np.cumsum([0, *sizes])
    for row, x_row in enumerate(assignments):
        for i in range(len(sizes)):
            own = scores[row, starts[i] : starts[i + 1]]
            others = np.delete(own, x_row[i])
            assert own[x_row[i]] == np.float32(
                np.clip(1 - others.astype(np.float32).sum(), 0, 1)
            ) or np.isclose(own[x_row[i]], np.clip(1 - others.sum(), 0, 1), atol=1e-6)
            assert not observed[row, i] or others.sum() == 0
        chosen = given_scores[row, : counts[row]].numpy()
        moves = [(int(i), int(v)) for i, v in zip(variables[row], values[row], strict=True)][: counts[row]]
        assert [scores[row, starts[i] + v] for i, v in moves] == chosen.tolist()
