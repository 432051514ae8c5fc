"""Searches in lockstep make the steps that guided searches of the library make, scored at every step."""

from __future__ import annotations

import numpy as np
import pytest
from lockstep import Lockstep, run_together
from numpy.typing import NDArray

from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import random_bayes_net
from beacon.model.flat import compile_model
from beacon.query.query_set import sample_queries
from beacon.runner.in_step import GuidedBatch
from beacon.runner.stop import MaxSteps, random_start
from beacon.strategies.strategy import make_strategy

MODEL = random_bayes_net(num_variables=30, max_domain=3, zero_fraction=0.3, seed=4)
QUERIES = sample_queries(MODEL, 12, 0)
GUIDE = FrequencyGuide.from_references(MODEL, QUERIES.samples.astype(np.int64), QUERIES.observed)
MARKS = (5, 40, 150)


def scores_of(x: NDArray[np.int32], observed: NDArray[np.bool_], moves: NDArray[np.int32]) -> NDArray:
    return np.take_along_axis(GUIDE.probabilities(x.astype(np.int64), observed), moves.astype(np.int64), 1)


@pytest.mark.slow
def test_every_search_goes_where_the_librarys_goes() -> None:
    evidences = [QUERIES.evidence(query) for query in range(4)]
    starts = [random_start(MODEL, evidence, 3) for evidence in evidences]
    uses = [
        GuideUse(start="random", weight=weight, candidates=candidates, refresh=1)
        for candidates in ("improving", "all")
        for weight in (0.3, 1.0)
    ]
    groups = [
        Lockstep(compile_model(MODEL), make_strategy(name), evidences, starts, uses, 3)
        for name in ("greedy", "gls+")
    ]
    found = run_together(groups, scores_of, MARKS)
    for name, (scores, zeros) in zip(("greedy", "gls+"), found, strict=True):
        for use, own, left in zip(uses, scores.reshape(4, 4, -1), zeros.reshape(4, 4, -1), strict=True):
            batch = GuidedBatch(
                MODEL, evidences, GUIDE, use, name, np.array(starts), 3, propagate=False, threads=1
            )
            batch.run_until(MaxSteps(MARKS[-1]))
            traces = [outcome.trace for outcome in batch.outcomes]
            np.testing.assert_allclose(own, [trace.best_at(MARKS) for trace in traces], rtol=1e-9)
            assert left[:, -1].tolist() == [int(trace.zero_factors[-1]) for trace in traces]
