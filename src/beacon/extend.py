"""What strategies and guides of one's own are made of; docs/extending.md shows a complete one of each.

A strategy's kernel may call every function here that acts on a model and a state; each keeps all that depends
on the state up to date.
"""

from beacon.guide.checkpoint import Checkpoint as Checkpoint
from beacon.guide.checkpoint import save_checkpoint as save_checkpoint
from beacon.guide.evidence_guide import EvidenceGuide as EvidenceGuide
from beacon.guide.guide import Guide as Guide
from beacon.guide.guide import StateBatch as StateBatch
from beacon.guide.moves import Moves as Moves
from beacon.model.flat import FlatModel as FlatModel
from beacon.search.flip import REFRESH_STEPS as REFRESH_STEPS
from beacon.search.flip import best_value as best_value
from beacon.search.flip import climb as climb
from beacon.search.flip import flip as flip
from beacon.search.greedy import restart as restart
from beacon.search.jit import inlined as inlined
from beacon.search.jit import kernel as kernel
from beacon.search.limits import EPSILON as EPSILON
from beacon.search.limits import OPTIMAL as OPTIMAL
from beacon.search.limits import RUNNING as RUNNING
from beacon.search.limits import STALLED as STALLED
from beacon.search.limits import TARGET as TARGET
from beacon.search.limits import Limits as Limits
from beacon.search.limits import may_continue as may_continue
from beacon.search.limits import outcome as outcome
from beacon.search.max_tree import tree_top as tree_top
from beacon.search.rng import random_below as random_below
from beacon.search.state import SearchState as SearchState
from beacon.search.state import rebuild as rebuild
from beacon.search.strategy import Strategy as Strategy
from beacon.search.strategy import default_penalty_weight as default_penalty_weight
