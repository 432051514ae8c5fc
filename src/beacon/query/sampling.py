"""Complete assignments drawn from a model: ancestral where it is a Bayesian network, else Gibbs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_count, check_seed
from beacon.model.bayes import ancestral_order, child_of_factors
from beacon.model.graphical_model import GraphicalModel

MAX_SAMPLED_VALUES = 250_000_000  # 2 GB


@dataclass(frozen=True)
class GibbsSettings:
    """How Gibbs chains run; a sweep redraws every variable once.

    A chain of a strongly coupled model never leaves the mode it has cooled down to, so samples of one chain
    are near-copies of each other. By default every sample has a chain of its own, and samples are
    independent. With ``chains=1`` all samples share a mode: a guide that is trained on some of them has seen
    most of what the others ask.
    """

    burn_in: int = 100
    """Sweeps of a chain before its first sample; they cool the model down from a flat distribution."""
    thin: int = 2
    """Sweeps between two samples of a chain."""
    chains: int | None = None
    """Chains that the samples are taken from in turn; None: one for every sample."""

    def __post_init__(self) -> None:
        """Check each setting."""
        check_count("burn_in", self.burn_in, 0)
        check_count("thin", self.thin, 1)
        if self.chains is not None:
            check_count("chains", self.chains, 1)


def sample_assignments(
    model: GraphicalModel,
    count: int,
    seed: int,
    *,
    gibbs: GibbsSettings | None = None,
) -> NDArray[np.int64]:
    """Draw ``count`` complete assignments, one per row, all of non-zero probability.

    A Bayesian network is sampled exactly, parents before children. Any other model is sampled by Gibbs
    chains; where it has zeros they start at assignments found by GLS+, and a ModelError says so if none is
    found.
    """
    check_count("count", count, 0)
    check_seed(seed)
    if count * model.num_variables > MAX_SAMPLED_VALUES:
        raise UsageError(
            f"{count} samples of {model.num_variables} variables are too many to hold in memory; "
            f"ask for at most {MAX_SAMPLED_VALUES // model.num_variables}"
        )
    children = child_of_factors(model)
    if children is not None:
        return _sample_ancestrally(model, children, count, seed)
    return _sample_by_gibbs(model, count, seed, gibbs or GibbsSettings())


def _sample_ancestrally(
    model: GraphicalModel, children: list[int], count: int, seed: int
) -> NDArray[np.int64]:
    """One variable at a time, for all samples together."""
    rng = np.random.default_rng(seed)
    factor_of = dict(zip(children, model.factors, strict=True))
    columns = np.zeros((model.num_variables, count), dtype=np.int64)
    for i in ancestral_order(model, children):
        factor = factor_of[i]
        axis = factor.scope.index(i)
        shares = np.cumsum(np.exp(np.moveaxis(factor.log_table, axis, -1)), axis=-1)
        shares /= shares[..., -1:]  # rounded tables: the last share must be 1 and no draw exceed it
        rows = shares[tuple(columns[j] for j in factor.scope if j != i)]
        columns[i] = (rng.random(count)[:, None] >= rows).sum(axis=-1)
    return np.ascontiguousarray(columns.T)


def _sample_by_gibbs(
    model: GraphicalModel, count: int, seed: int, settings: GibbsSettings
) -> NDArray[np.int64]:
    from beacon.query.gibbs import run_chains  # noqa: PLC0415  (numba is slow to import)

    if count == 0 or model.num_variables == 0:
        return np.zeros((count, model.num_variables), dtype=np.int64)
    num_chains = count if settings.chains is None else min(settings.chains, count)
    chain_seeds = np.random.default_rng(seed).integers(2**31, size=num_chains).tolist()
    return run_chains(model, _starts(model, chain_seeds), count, seed, settings)


def _starts(model: GraphicalModel, seeds: list[int]) -> NDArray[np.int64]:
    """One start per seed: random, or of non-zero probability where the model has zeros."""
    if model.zero_fraction == 0:
        return np.array([np.random.default_rng(seed).integers(0, model.domain_sizes) for seed in seeds])
    from beacon.query.gibbs import feasible_assignments  # noqa: PLC0415

    return feasible_assignments(model, seeds)
