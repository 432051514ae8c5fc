"""Deep belief networks on images: a layer of pixels below layers of hidden units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beacon.errors import UsageError, check_number, check_seed
from beacon.model.families.ising import ising_factors
from beacon.model.families.settings import check_amount, check_size
from beacon.model.graphical_model import GraphicalModel


def deep_belief_net(
    width: int = 12,
    height: int = 12,
    *,
    hidden: Sequence[int] = (12, 20, 6),
    strength: float = 0.5,
    bias: float = 2.0,
    seed: int = 0,
) -> GraphicalModel:
    """Pixels, and layers of hidden units, each unit coupled to every unit of the next layer.

    A unit of the first hidden layer stands for a few smooth light and dark spots of the image; couplings
    between hidden layers are Gaussian with deviation ``strength``, and so are the hidden units' fields
    with deviation ``bias``. One layer of hidden units makes a restricted Boltzmann machine.
    """
    _check_layers(width, height, hidden)
    check_number("strength", strength, 0)
    check_number("bias", bias, 0)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    sizes = [width * height, *hidden]
    starts = np.cumsum([0, *sizes])
    layers = [np.arange(start, end) for start, end in pairwise(starts)]
    couplings = [strength * _receptive_fields(width, height, sizes[1], rng).ravel()]
    couplings += [rng.normal(0, strength, a * b) for a, b in pairwise(sizes[1:])]
    pairs = [np.stack(np.meshgrid(a, b, indexing="ij"), -1).reshape(-1, 2) for a, b in pairwise(layers)]
    units = np.arange(sizes[0], starts[-1])[:, None]
    fields = rng.normal(0, bias, len(units))
    return GraphicalModel(
        names=_names(width, height, hidden),
        labels=(("off", "on"),) * int(starts[-1]),
        factors=ising_factors(
            int(starts[-1]), units, fields, np.concatenate(pairs), np.concatenate(couplings)
        ),
    )


def _check_layers(width: int, height: int, hidden: Sequence[int]) -> None:
    check_amount("width", width, 1)
    check_amount("height", height, 1)
    if not isinstance(hidden, list | tuple) or not hidden:
        raise UsageError(f"hidden must list the size of at least one layer; found {hidden!r}")
    for size in hidden:
        check_amount("each size in hidden", size, 1)
    num_pairs = sum(a * b for a, b in pairwise([width * height, *hidden]))
    check_size(num_pairs + sum(hidden), 4 * num_pairs + 2 * sum(hidden))


def _names(width: int, height: int, hidden: Sequence[int]) -> tuple[str, ...]:
    pixels = [f"pixel_{row}_{column}" for row in range(height) for column in range(width)]
    units = [f"hidden{layer}_{k}" for layer, size in enumerate(hidden, 1) for k in range(size)]
    return tuple(pixels + units)


def _receptive_fields(width: int, height: int, units: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """[pixels, units] each unit likes a few spots of the image light and a few dark, around a small bias."""
    rows, columns = np.divmod(np.arange(width * height), width)
    spots = 6
    centre_rows = rng.uniform(0, height, (spots, units))
    centre_columns = rng.uniform(0, width, (spots, units))
    radii = rng.uniform(0.1, 0.25, (spots, units)) * max(width, height)
    heights = rng.choice([-1.5, 1.5], (spots, units))
    fields = rng.normal(0, 0.1, (width * height, units))
    for k in range(spots):
        distances = np.hypot(rows[:, None] - centre_rows[k], columns[:, None] - centre_columns[k])
        fields += heights[k] * np.exp(-0.5 * (distances / radii[k]) ** 2)
    return fields
