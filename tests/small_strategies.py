"""Random small models for hypothesis, and random damage to their files."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from hypothesis import strategies as st

from beacon.errors import BeaconError
from beacon.model.graphical_model import GraphicalModel

Read = TypeVar("Read")
POTENTIALS = st.floats(1e-3, 1e3)
POTENTIALS_WITH_ZEROS = st.one_of(st.just(0.0), POTENTIALS)

WRONG_WORDS = st.one_of(
    st.sampled_from(["-1", "1e9", "nan", "-inf", "1_0", "9" * 30, "MARKOV", "=", "{", ";"]),
    st.integers(-3, 12).map(str),
    st.text(max_size=4),
)


@st.composite
def small_models(
    draw: st.DrawFn,
    *,
    min_variables: int = 1,
    max_variables: int = 5,
    max_domain: int = 4,
    max_factors: int = 6,
    max_scope: int = 3,
    potentials: st.SearchStrategy[float] = POTENTIALS_WITH_ZEROS,
) -> GraphicalModel:
    """Models with mixed domains, single values, constants, zeros and variables that no factor mentions."""
    sizes = draw(st.lists(st.integers(1, max_domain), min_size=min_variables, max_size=max_variables))
    scopes = st.permutations(range(len(sizes))).flatmap(
        lambda order: st.integers(0, min(max_scope, len(order))).map(lambda length: order[:length])
    )
    tables = []
    for scope in draw(st.lists(scopes, max_size=max_factors)):
        entries = math.prod(sizes[i] for i in scope)
        table = draw(st.lists(potentials, min_size=entries, max_size=entries))
        with np.errstate(divide="ignore"):
            tables.append((scope, np.log(table)))
    return GraphicalModel.from_tables(sizes, tables)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with tokens inserted, removed, replaced or cut off at up to three places."""
    tokens = text.split()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens)))
        end = draw(st.sampled_from([at, at + 1, len(tokens)]))
        tokens[at:end] = draw(st.lists(WRONG_WORDS, max_size=2))
    return draw(st.sampled_from([" ", "\n"])).join(tokens)


def read_or_one_line(read: Callable[[], Read]) -> Read | None:
    """What a reader makes of a file, or None where it refuses with a single line; nothing else may happen."""
    try:
        return read()
    except BeaconError as error:
        message = str(error)
    assert "\n" not in message
    return None


def same_factors(left: GraphicalModel, right: GraphicalModel) -> bool:
    """Whether two models have the same domains and, bit for bit, the same factors in the same order."""
    return (
        len(left.factors) == len(right.factors)
        and np.array_equal(left.domain_sizes, right.domain_sizes)
        and all(
            a.scope == b.scope and np.array_equal(a.log_table, b.log_table)
            for a, b in zip(left.factors, right.factors, strict=True)
        )
    )
