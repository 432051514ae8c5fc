"""Gibbs sampling: chains that redraw one variable after another given all others, and where they begin."""

# An indexed array is Any to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from beacon.engine.floored import floored_scores
from beacon.errors import ModelError
from beacon.model.evidence import impossible_factor
from beacon.model.flat import FlatModel, compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.sampling import GibbsSettings
from beacon.reduce.propagate import fixed_values
from beacon.runner.pool import Cancelled, Pool
from beacon.runner.search import Search
from beacon.runner.stop import MaxSteps, TargetScore
from beacon.strategies.gls import GlsPlus


def run_chains(
    model: GraphicalModel, starts: NDArray[np.int64], count: int, seed: int, settings: GibbsSettings
) -> NDArray[np.int64]:
    """``count`` samples from one chain per row of ``starts``: sample k is from chain k modulo their number.

    A chain drops its burn-in, in which scores count more and more (annealing: a strongly coupled model
    would freeze far from its probable assignments), and then keeps every ``thin``-th sweep. Chains have
    streams of their own, so the samples do not depend on the number of threads.
    """
    flat = _with_deep_zeros(compile_model(model), settings.burn_in)
    samples = np.empty((count, model.num_variables), dtype=np.int64)
    streams = np.random.SeedSequence(seed).spawn(len(starts))

    def run_chain(chain: int) -> None:
        state, rng = starts[chain].copy(), np.random.default_rng(streams[chain])
        scores = np.empty(flat.num_moves)
        fill_scores(flat, state, scores)
        for k in range(settings.burn_in):
            sweep(flat, state, scores, rng.random(len(state)), (k + 1) / settings.burn_in)
        for k in range(chain, count, len(starts)):
            for _ in range(settings.thin):
                sweep(flat, state, scores, rng.random(len(state)), 1.0)
            samples[k] = state

    Pool(None).each(run_chain, len(starts), Cancelled())
    return samples


def _with_deep_zeros(flat: FlatModel, burn_in: int) -> FlatModel:
    """The model with zeros so low that no scale of the annealing makes them possible, and still finite.

    Sums of finite numbers can be kept up to date by adding and subtracting.
    """
    is_zero = flat.log_table == flat.log_zero
    largest = np.abs(flat.log_table[~is_zero]).max(initial=0.0)
    links = np.diff(flat.pair_starts) + np.diff(flat.wide_starts)
    lowest = -1000.0 * max(burn_in, 1) * (1.0 + largest * links.max(initial=0))
    return flat._replace(log_table=np.where(is_zero, lowest, flat.log_table))


@njit(cache=True, nogil=True, error_model="numpy")
def fill_scores(flat: FlatModel, state: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
    """[moves] for each value of a variable, the sum of its factors with all others as they are."""
    scores[:] = 0.0
    for factor in range(len(flat.scope_starts) - 1):
        entry = _entry(flat, state, factor)
        for place in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
            variable, stride = flat.scopes[place, 0], flat.scopes[place, 1]
            first, base = flat.move_starts[variable], entry - state[variable] * stride
            for value in range(flat.domain_sizes[variable]):
                scores[first + value] += flat.log_table[base + value * stride]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    flat: FlatModel,
    state: NDArray[np.int64],
    scores: NDArray[np.float64],
    uniforms: NDArray[np.float64],
    scale: float,
) -> None:
    """Redraw every variable once, in place. Cost: the values of all, and the links of those that change."""
    shares = np.empty(flat.domain_sizes.max())
    for i in range(len(state)):
        first, size = flat.move_starts[i], flat.domain_sizes[i]
        if size == 2:
            odds = np.exp(scale * (scores[first + 1] - scores[first]))
            value = 1 if uniforms[i] * (1.0 + odds) >= 1.0 or odds == np.inf else 0
        else:
            value = _draw(scores, shares, first, size, scale, uniforms[i])
        if value != state[i]:
            _change(flat, state, scores, i, value)


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(
    scores: NDArray[np.float64],
    shares: NDArray[np.float64],
    first: int,
    size: int,
    scale: float,
    uniform: float,
) -> int:
    """A value with probability proportional to exp(scale * score)."""
    highest, total = scores[first], 0.0
    for value in range(1, size):
        highest = max(highest, scores[first + value])
    for value in range(size):
        shares[value] = np.exp(scale * (scores[first + value] - highest))
        total += shares[value]
    drawn, target = 0, uniform * total
    for value in range(size):
        if shares[value] > 0.0:  # rounding must never end on an impossible value
            drawn = value
            target -= shares[value]
            if target < 0.0:
                break
    return drawn


@njit(cache=True, nogil=True, error_model="numpy")
def _change(
    flat: FlatModel, state: NDArray[np.int64], scores: NDArray[np.float64], variable: int, value: int
) -> None:
    """Give a variable another value, and let the scores of its neighbours follow."""
    change = value - state[variable]
    for link in range(flat.pair_starts[variable], flat.pair_starts[variable + 1]):
        other = flat.pairs[link, 2]
        if other >= 0:
            stride = flat.pairs[link, 1]
            base = flat.bases[flat.pairs[link, 0]] + state[variable] * stride
            _follow(flat, scores, other, base, flat.pairs[link, 3], change * stride)
    for link in range(flat.wide_starts[variable], flat.wide_starts[variable + 1]):
        factor = flat.wides[link, 0]
        entry = _entry(flat, state, factor)
        for place in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
            other, stride = flat.scopes[place, 0], flat.scopes[place, 1]
            if other != variable:
                base = entry - state[other] * stride
                _follow(flat, scores, other, base, stride, change * flat.wides[link, 1])
    state[variable] = value


@njit(cache=True, nogil=True, error_model="numpy")
def _follow(
    flat: FlatModel, scores: NDArray[np.float64], variable: int, base: int, stride: int, shift: int
) -> None:
    """Update the scores of a variable: a factor's entries ``base``, ``base + stride``, … are shifted."""
    first = flat.move_starts[variable]
    for value in range(flat.domain_sizes[variable]):
        entry = base + value * stride
        scores[first + value] += flat.log_table[entry + shift] - flat.log_table[entry]


@njit(cache=True, nogil=True, error_model="numpy")
def _entry(flat: FlatModel, state: NDArray[np.int64], factor: int) -> int:
    """A factor's current entry."""
    entry = flat.bases[factor]
    for place in range(flat.scope_starts[factor], flat.scope_starts[factor + 1]):
        entry += state[flat.scopes[place, 0]] * flat.scopes[place, 1]
    return entry


MIN_STEPS, STEPS_PER_VARIABLE = 100_000, 1000


def feasible_assignments(model: GraphicalModel, seeds: list[int]) -> NDArray[np.int64]:
    """One assignment of non-zero probability per seed and row; a ModelError if none was found."""
    never = impossible_factor(model, {})
    if never is not None:
        raise ModelError(f"no assignment has a non-zero probability: factor {never} is zero everywhere")
    flat = compile_model(model)
    fixed, strategy = fixed_values(flat, {}, None), GlsPlus().fitted(flat)
    found = np.array([np.random.default_rng(seed).integers(0, model.domain_sizes) for seed in seeds])
    found = np.where(fixed >= 0, fixed, found)
    _, zeros = floored_scores(flat, found)

    missing = np.flatnonzero(zeros).tolist()

    def search(k: int) -> None:
        found[missing[k]] = _find_feasible(Search(flat, fixed, strategy, seed=seeds[missing[k]]))

    Pool(None).each(search, len(missing), Cancelled())
    return found


def _find_feasible(search: Search) -> NDArray[np.int64]:
    max_steps = MIN_STEPS + STEPS_PER_VARIABLE * search.model.num_variables
    search.run(MaxSteps(max_steps) | TargetScore(-math.inf))
    if search.best_zeros:
        raise ModelError(
            f"no assignment of non-zero probability was found in {search.steps:,} steps; "
            f"at best {search.best_zeros} of {search.model.num_factors} factors stayed zero"
        )
    return search.best_assignment
