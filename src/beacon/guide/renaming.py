"""Values that are mere names, such as colours: exchanged for each other everywhere, they change no score.

Answers to queries on such a model agree with each other only once their values are renamed alike.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel
from beacon.model.ties import is_tie

MOST_VALUES = 6  # 720 ways to rename them
TRIALS = 3  # random assignments that must not change their score
LEAST = -1e4  # what a zero counts


def renamings(model: GraphicalModel) -> NDArray[np.int64] | None:
    """[renamings, values] the new name of each value, the old names first; None: names have a meaning.

    Exchanging two values, and moving all on by one, gives every renaming.
    """
    sizes = model.domain_sizes
    count = int(sizes.max(initial=0))
    if not 2 <= count <= MOST_VALUES or (sizes != count).any():
        return None
    swap = np.array([1, 0, *range(2, count)])
    rng = np.random.default_rng(0)
    for _ in range(TRIALS):
        drawn = rng.integers(0, count, len(sizes))
        before = _score(model, drawn)
        if not all(is_tie(before, _score(model, other)) for other in (swap[drawn], (drawn + 1) % count)):
            return None
    return np.array(list(permutations(range(count))), dtype=np.int64)


def _score(model: GraphicalModel, assignment: NDArray[np.int64]) -> float:
    return float(np.maximum(model.log_potentials(assignment), LEAST).sum())


def best_renaming(
    ways: NDArray[np.int64], rows: NDArray[np.integer], values: NDArray[np.integer]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """For each column of ``rows`` [places, answers] the way that agrees with most values, and with how many.

    Cost: places times answers times values, and answers times renamings times squared values.
    """
    count = ways.shape[1]
    pairs = [[(rows[values == new] == old).sum(axis=0) for new in range(count)] for old in range(count)]
    agreeing = np.array(pairs).reshape(count * count, -1)  # by old and new name
    is_so = np.zeros((len(ways), count, count), dtype=np.int64)
    np.put_along_axis(is_so, ways[:, :, None], 1, axis=2)
    hits = is_so.reshape(len(ways), -1) @ agreeing
    best = hits.argmax(axis=0)
    return best, np.take_along_axis(hits, best[None], axis=0)[0]
