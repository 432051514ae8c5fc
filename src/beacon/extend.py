"""What strategies and guides of one's own are made of; docs/extending.md shows a complete one of each.

A strategy's kernel may call every function here that acts on a model and a state; each keeps all that depends
on the state up to date.
"""

from beacon.guide.checkpoint import Checkpoint, save_checkpoint
from beacon.guide.evidence_guide import EvidenceGuide
from beacon.guide.guide import Guide, StateBatch
from beacon.guide.moves import Moves
from beacon.model.flat import FlatModel
from beacon.search.flip import REFRESH_STEPS, best_value, climb, flip
from beacon.search.greedy import restart
from beacon.search.jit import inlined, kernel
from beacon.search.limits import EPSILON, OPTIMAL, RUNNING, STALLED, TARGET, Limits, may_continue, outcome
from beacon.search.max_tree import tree_top
from beacon.search.penalty_weight import default_penalty_weight
from beacon.search.rng import random_below
from beacon.search.state import SearchState, rebuild
from beacon.search.strategy import Strategy

__all__ = [
    "EPSILON",
    "OPTIMAL",
    "REFRESH_STEPS",
    "RUNNING",
    "STALLED",
    "TARGET",
    "Checkpoint",
    "EvidenceGuide",
    "FlatModel",
    "Guide",
    "Limits",
    "Moves",
    "SearchState",
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
