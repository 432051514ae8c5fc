"""All kernels, ahead of time: for images of containers, and for clusters that share a cache."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from beacon.jit import PACKAGE
from beacon.learn.walks import record_walks
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries
from beacon.runner.pool import num_threads
from beacon.runner.stop import MaxSteps
from beacon.runner.warm_up import compile_all, warm_up_knowledge, warm_up_named
from beacon.solver import solve
from beacon.strategies.auto import Auto
from beacon.strategies.strategy import Strategy

KNOWLEDGE, WALKS = "knowledge", "walks"
GROUPS = (KNOWLEDGE, "tree", "greedy", "gls+", WALKS)
"""What processes compile side by side, the longest first."""


def compile_kernels() -> None:
    """Compile every kernel that is not on disk yet, so that nobody has to wait for it later.

    Kernels are kept beside the installed package, or in the folder that the environment variable
    ``NUMBA_CACHE_DIR`` names. Takes a few minutes, and a second or two when there is nothing to do.

    >>> import beacon
    >>> beacon.compile_kernels()
    """
    compile_all()
    _compile_answers(Auto())
    _compile_answers(Auto(exact=False))
    _compile_walks()


def compile_side_by_side() -> None:
    """The same with a process for each core."""
    with ThreadPoolExecutor(num_threads(None)) as pool:
        list(pool.map(_in_a_process, GROUPS))
    compile_kernels()  # what is left, and what a process failed at


def compile_group(group: str) -> None:
    """Compile the kernels of one group."""
    if group == KNOWLEDGE:
        warm_up_knowledge()
        _compile_answers(Auto())
    elif group == WALKS:
        _compile_walks()
    else:
        warm_up_named(group)


def _in_a_process(group: str) -> None:
    code = f"from beacon.pipeline.kernels import compile_group; compile_group({group!r})"
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    command, environment = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": path}
    subprocess.run(command, env=environment, capture_output=True, check=False)


def _compile_answers(strategy: Strategy) -> None:
    """What may be asked besides the answer, exact or searched."""
    pairs = [(i, j) for i in range(5) for j in range(i)]
    model = GraphicalModel.from_tables([2] * 5, [(pair, [0.0, -1.0, -2.0, 0.5]) for pair in pairs])
    asked: dict[str, Any] = {"alternatives": 2, "margins": True, "suppose": {0: 0}}
    solve(model, strategy=strategy, stop=MaxSteps(50), **asked).probability  # noqa: B018 - loads its kernel


def _compile_walks() -> None:
    model = GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    sample_queries(model, count=2)  # no Bayesian network: sampled by Gibbs chains
    record_walks(compile_model(model), {}, np.zeros(2, dtype=np.int64), runs=1, steps=1, seed=0)
