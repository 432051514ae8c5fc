"""Beacon: most-probable-explanation inference by fast, learned local search.

The public names are loaded when they are first used, so that ``import beacon`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beacon.errors import BeaconError as BeaconError
    from beacon.formats import from_pgmpy as from_pgmpy
    from beacon.formats import read_evidence as read_evidence
    from beacon.formats import read_evidence_table as read_evidence_table
    from beacon.formats import read_model as read_model
    from beacon.formats import read_solution as read_solution
    from beacon.formats import write_evidence as write_evidence
    from beacon.formats import write_model as write_model
    from beacon.formats import write_solution as write_solution
    from beacon.guide.checkpoint import load_guide as load_guide
    from beacon.guided.guidance import Guidance as Guidance
    from beacon.guided.use import GuideUse as GuideUse
    from beacon.learn.collect import CollectSettings as CollectSettings
    from beacon.learn.collect import collect as collect
    from beacon.learn.teacher import TeacherSettings as TeacherSettings
    from beacon.learn.train import train as train
    from beacon.learn.trajectories import Trajectories as Trajectories
    from beacon.learn.tune import TuneSettings as TuneSettings
    from beacon.learn.tune import tune as tune
    from beacon.model.graphical_model import Factor as Factor
    from beacon.model.graphical_model import GraphicalModel as GraphicalModel
    from beacon.peers.peer import find_peer as find_peer
    from beacon.query.query_set import QuerySet as QuerySet
    from beacon.query.query_set import sample_queries as sample_queries
    from beacon.report.plots import plot_anytime as plot_anytime
    from beacon.report.plots import plot_history as plot_history
    from beacon.report.plots import plot_shares as plot_shares
    from beacon.report.plots import plot_trace as plot_trace
    from beacon.report.plots import plot_weights as plot_weights
    from beacon.report.plots import plot_win_heatmap as plot_win_heatmap
    from beacon.runner.batch import SearchBatch as SearchBatch
    from beacon.runner.result import Result as Result
    from beacon.runner.result_list import ResultList as ResultList
    from beacon.runner.stop import MaxRuntime as MaxRuntime
    from beacon.runner.stop import MaxSteps as MaxSteps
    from beacon.runner.stop import NoImprovement as NoImprovement
    from beacon.runner.stop import TargetScore as TargetScore
    from beacon.solver import solve as solve
    from beacon.solver import solve_many as solve_many
    from beacon.strategies.auto import Auto as Auto
    from beacon.strategies.gls import GlsPlus as GlsPlus
    from beacon.strategies.greedy import Greedy as Greedy
    from beacon.strategies.tree import Tree as Tree

__version__ = "0.1.0"

_HOMES = {
    "beacon.errors": ["BeaconError"],
    "beacon.formats": [
        "from_pgmpy",
        "read_evidence",
        "read_evidence_table",
        "read_model",
        "read_solution",
        "write_evidence",
        "write_model",
        "write_solution",
    ],
    "beacon.guide.checkpoint": ["load_guide"],
    "beacon.solver": ["solve", "solve_many"],
    "beacon.guided.use": ["GuideUse"],
    "beacon.learn.collect": ["CollectSettings", "collect"],
    "beacon.learn.teacher": ["TeacherSettings"],
    "beacon.learn.train": ["train"],
    "beacon.learn.trajectories": ["Trajectories"],
    "beacon.learn.tune": ["TuneSettings", "tune"],
    "beacon.model.graphical_model": ["Factor", "GraphicalModel"],
    "beacon.peers.peer": ["find_peer"],
    "beacon.query.query_set": ["QuerySet", "sample_queries"],
    "beacon.report.plots": [
        "plot_anytime",
        "plot_history",
        "plot_shares",
        "plot_trace",
        "plot_weights",
        "plot_win_heatmap",
    ],
    "beacon.runner.batch": ["SearchBatch"],
    "beacon.guided.guidance": ["Guidance"],
    "beacon.runner.result": ["Result"],
    "beacon.runner.result_list": ["ResultList"],
    "beacon.runner.stop": ["MaxRuntime", "MaxSteps", "NoImprovement", "TargetScore"],
    "beacon.strategies.auto": ["Auto"],
    "beacon.strategies.gls": ["GlsPlus"],
    "beacon.strategies.greedy": ["Greedy"],
    "beacon.strategies.tree": ["Tree"],
}
_NAME_TO_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_NAME_TO_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name not in _NAME_TO_HOME:
        raise AttributeError(f"module 'beacon' has no attribute {name!r}")
    return getattr(import_module(_NAME_TO_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
