"""What strategies and guides of one's own are made of; docs/extending.md shows a complete one of each.

A strategy's kernel may call every function here that acts on a model and a state; each keeps all that depends
on the state up to date.
"""

from beacon.engine.core import CoreState as CoreState
from beacon.engine.core import rebuild as rebuild
from beacon.engine.flip import REFRESH_STEPS as REFRESH_STEPS
from beacon.engine.flip import best_value as best_value
from beacon.engine.flip import climb as climb
from beacon.engine.flip import flip as flip
from beacon.engine.incumbent import EPSILON as EPSILON
from beacon.engine.incumbent import OPTIMAL as OPTIMAL
from beacon.engine.incumbent import RUNNING as RUNNING
from beacon.engine.incumbent import STALLED as STALLED
from beacon.engine.incumbent import TARGET as TARGET
from beacon.engine.incumbent import Limits as Limits
from beacon.engine.incumbent import may_continue as may_continue
from beacon.engine.incumbent import outcome as outcome
from beacon.engine.incumbent import restart as restart
from beacon.engine.max_tree import tree_top as tree_top
from beacon.guide.checkpoint import Checkpoint as Checkpoint
from beacon.guide.checkpoint import save_checkpoint as save_checkpoint
from beacon.guided.guide import EvidenceGuide as EvidenceGuide
from beacon.guided.guide import Guide as Guide
from beacon.guided.guide import StateBatch as StateBatch
from beacon.guided.moves import Moves as Moves
from beacon.jit import inlined as inlined
from beacon.jit import kernel as kernel
from beacon.model.flat import FlatModel as FlatModel
from beacon.rng import random_below as random_below
from beacon.strategies.gls import default_penalty_weight as default_penalty_weight
from beacon.strategies.strategy import Strategy as Strategy
