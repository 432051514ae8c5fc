"""The public names and where they live: for type checkers, and for ``__init__.py``, which reads this list."""

from beacon.errors import BeaconError as BeaconError
from beacon.evaluation.evaluate import evaluate as evaluate
from beacon.evaluation.evaluate import evaluate_suite as evaluate_suite
from beacon.evaluation.evaluation import Evaluation as Evaluation
from beacon.evaluation.settings import EvaluateSettings as EvaluateSettings
from beacon.formats import from_pgmpy as from_pgmpy
from beacon.formats import read_evidence as read_evidence
from beacon.formats import read_evidence_table as read_evidence_table
from beacon.formats import read_model as read_model
from beacon.formats import read_solution as read_solution
from beacon.formats import to_pgmpy as to_pgmpy
from beacon.formats import write_evidence as write_evidence
from beacon.formats import write_model as write_model
from beacon.formats import write_solution as write_solution
from beacon.guide.checkpoint import load_guide as load_guide
from beacon.guided.guidance import Guidance as Guidance
from beacon.guided.guidance import GuideUse as GuideUse
from beacon.learn.collect import CollectSettings as CollectSettings
from beacon.learn.collect import collect as collect
from beacon.learn.teacher import TeacherSettings as TeacherSettings
from beacon.learn.train import train as train
from beacon.learn.trajectories import Trajectories as Trajectories
from beacon.learn.tune import TuneSettings as TuneSettings
from beacon.learn.tune import tune as tune
from beacon.model.builder import ModelBuilder as ModelBuilder
from beacon.model.factors import Factor as Factor
from beacon.model.graph_view import to_networkx as to_networkx
from beacon.model.graphical_model import GraphicalModel as GraphicalModel
from beacon.peers.peer import find_peer as find_peer
from beacon.pipeline.kernels import compile_kernels as compile_kernels
from beacon.pipeline.run import run as run
from beacon.pipeline.settings import RunSettings as RunSettings
from beacon.query.query_set import QuerySet as QuerySet
from beacon.query.query_set import sample_queries as sample_queries
from beacon.report.plots import plot_anytime as plot_anytime
from beacon.report.plots import plot_history as plot_history
from beacon.report.plots import plot_model as plot_model
from beacon.report.plots import plot_trace as plot_trace
from beacon.report.plots import plot_weights as plot_weights
from beacon.report.plots import plot_win_heatmap as plot_win_heatmap
from beacon.runner.alternatives import Alternative as Alternative
from beacon.runner.alternatives import Alternatives as Alternatives
from beacon.runner.batch import SearchBatch as SearchBatch
from beacon.runner.margins import Margins as Margins
from beacon.runner.result import Result as Result
from beacon.runner.result import ResultList as ResultList
from beacon.runner.stop import MaxGap as MaxGap
from beacon.runner.stop import MaxRuntime as MaxRuntime
from beacon.runner.stop import MaxSteps as MaxSteps
from beacon.runner.stop import NoImprovement as NoImprovement
from beacon.runner.stop import TargetScore as TargetScore
from beacon.session import Solver as Solver
from beacon.solver import solve as solve
from beacon.solver import solve_many as solve_many
from beacon.strategies.auto import Auto as Auto
from beacon.strategies.gls import GlsPlus as GlsPlus
from beacon.strategies.greedy import Greedy as Greedy
from beacon.strategies.tree import Tree as Tree

__version__: str
__all__: list[str]
_NAME_TO_HOME: dict[str, str]
