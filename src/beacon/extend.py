"""What strategies and guides of one's own are made of; docs/extending.md shows a complete one of each.

A strategy's kernel may call every function here that acts on a model and a state; each keeps all that depends
on the state up to date.
"""

from beacon.engine.core import CoreState, rebuild
from beacon.engine.flip import REFRESH_STEPS, best_value, climb, flip
from beacon.engine.incumbent import (
    EPSILON,
    OPTIMAL,
    RUNNING,
    STALLED,
    TARGET,
    Limits,
    may_continue,
    outcome,
    restart,
)
from beacon.engine.max_tree import tree_top
from beacon.guide.checkpoint import Checkpoint, save_checkpoint
from beacon.guided.guide import EvidenceGuide, Guide, StateBatch
from beacon.guided.moves import Moves
from beacon.jit import inlined, kernel
from beacon.model.flat import FlatModel
from beacon.rng import random_below
from beacon.strategies.gls import default_penalty_weight
from beacon.strategies.strategy import Strategy

__all__ = [
    "EPSILON",
    "OPTIMAL",
    "REFRESH_STEPS",
    "RUNNING",
    "STALLED",
    "TARGET",
    "Checkpoint",
    "CoreState",
    "EvidenceGuide",
    "FlatModel",
    "Guide",
    "Limits",
    "Moves",
    "StateBatch",
    "Strategy",
    "best_value",
    "climb",
    "default_penalty_weight",
    "flip",
    "inlined",
    "kernel",
    "may_continue",
    "outcome",
    "random_below",
    "rebuild",
    "restart",
    "save_checkpoint",
    "tree_top",
]
