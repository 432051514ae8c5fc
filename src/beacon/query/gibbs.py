"""Gibbs sampling: chains that redraw one variable after another given all others."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import GibbsSettings


def run_chains(
    model: GraphicalModel, starts: NDArray[np.int64], count: int, seed: int, settings: GibbsSettings
) -> NDArray[np.int64]:
    """``count`` samples from one chain per row of ``starts``: sample k is from chain k modulo their number.

    A chain drops its burn-in, in which scores count more and more (annealing: a strongly coupled model
    would freeze far from its probable assignments), and then keeps every ``thin``-th sweep. Chains have
    streams of their own, so the samples do not depend on the number of threads.
    """
    flat = compile_model(model)
    log_table = np.where(flat.log_table == flat.log_zero, -math.inf, flat.log_table)
    flat = flat._replace(log_table=log_table)
    samples = np.empty((count, model.num_variables), dtype=np.int64)
    streams = np.random.SeedSequence(seed).spawn(len(starts))

    def run_chain(chain: int) -> None:
        state, rng = starts[chain].copy(), np.random.default_rng(streams[chain])
        for k in range(settings.burn_in):
            sweep(flat, state, rng.random(len(state)), (k + 1) / settings.burn_in)
        for k in range(chain, count, len(starts)):
            for _ in range(settings.thin):
                sweep(flat, state, rng.random(len(state)), 1.0)
            samples[k] = state

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run_chain, range(len(starts))))
    return samples


@njit(cache=True, nogil=True)
def sweep(flat: FlatModel, state: NDArray[np.int64], uniforms: NDArray[np.float64], scale: float) -> None:
    """Redraw every variable once, in place; costs the number of (variable, factor) links times values."""
    scores = np.empty(flat.domain_sizes.max())
    for i in range(len(state)):
        if flat.domain_sizes[i] > 1:
            own = scores[: flat.domain_sizes[i]]
            _conditional_scores(flat, state, i, own)
            state[i] = _draw(own, scale, uniforms[i], state[i])


@njit(cache=True, nogil=True)
def _conditional_scores(
    flat: FlatModel, state: NDArray[np.int64], i: int, scores: NDArray[np.float64]
) -> None:
    """For each value of a variable, the sum of its factors with all others as they are."""
    scores[:] = 0.0
    for link in range(flat.pair_starts[i], flat.pair_starts[i + 1]):
        entry = flat.table_starts[flat.pairs[link, 0]]
        if flat.pairs[link, 2] >= 0:
            entry += state[flat.pairs[link, 2]] * flat.pairs[link, 3]
        _add_entries(flat, entry, flat.pairs[link, 1], scores)
    for link in range(flat.wide_starts[i], flat.wide_starts[i + 1]):
        factor, stride = flat.wides[link, 0], flat.wides[link, 1]
        entry = flat.table_starts[factor] - state[i] * stride
        for k in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
            entry += state[flat.scopes[k, 0]] * flat.scopes[k, 1]
        _add_entries(flat, entry, stride, scores)


@njit(cache=True, nogil=True)
def _add_entries(flat: FlatModel, entry: int, stride: int, scores: NDArray[np.float64]) -> None:
    for value in range(len(scores)):
        scores[value] += flat.log_table[entry + value * stride]


@njit(cache=True, nogil=True)
def _draw(scores: NDArray[np.float64], scale: float, uniform: float, current: int) -> int:
    """A value with probability proportional to exp(scale * score); the current one if all are impossible."""
    highest = scores.max()
    if highest == -np.inf:
        return current
    total = 0.0
    for value in range(len(scores)):
        scores[value] = np.exp(scale * (scores[value] - highest))
        total += scores[value]
    drawn, target = current, uniform * total
    for value in range(len(scores)):
        if scores[value] > 0.0:  # rounding must never end on an impossible value
            drawn = value
            target -= scores[value]
            if target < 0.0:
                break
    return drawn
