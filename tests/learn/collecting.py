"""A model, queries and trajectories that tests of collecting share."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from beacon.learn.collect import CollectSettings, collect
from beacon.learn.teacher import TeacherSettings
from beacon.learn.trajectories import Trajectories
from beacon.model.families import random_bayes_net
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries

QUICK = CollectSettings(TeacherSettings("gls+", steps=3000), steps=40, restart_interval=10)  # 20 per chunk


@pytest.fixture(scope="module")
def model() -> GraphicalModel:
    return random_bayes_net(num_variables=12, max_domain=3, zero_fraction=0.3, seed=2)


@pytest.fixture(scope="module")
def queries(model) -> QuerySet:
    return sample_queries(model, 50, seed=1)


@pytest.fixture(scope="module")
def collected(model, queries) -> Trajectories:
    return collect(model, queries, QUICK, seed=5, jobs=1)


def are_equal(left: Trajectories, right: Trajectories) -> bool:
    pairs = [(getattr(left, field.name), getattr(right, field.name)) for field in fields(Trajectories)]
    return all(
        a.dtype == b.dtype and np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs
    )
