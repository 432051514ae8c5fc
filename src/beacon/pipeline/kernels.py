"""All kernels, ahead of time: for images of containers, and for clusters that share a cache."""

from __future__ import annotations

import numpy as np

from beacon.learn.walks import record_walks
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.runner.warm_up import compile_all


def compile_kernels() -> None:
    """Compile every kernel that is not on disk yet, so that nobody has to wait for it later.

    Kernels are kept beside the installed package, or in the folder that the environment variable
    ``NUMBA_CACHE_DIR`` names. Takes a few minutes, and a second or two when there is nothing to do.

    >>> import beacon
    >>> beacon.compile_kernels()
    """
    compile_all()
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    sample_queries(model, count=2)  # no Bayesian network: sampled by Gibbs chains
    record_walks(compile_model(model), {}, np.zeros(2, dtype=np.int64), runs=1, steps=1, seed=0)
