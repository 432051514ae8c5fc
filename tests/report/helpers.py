"""A toy evaluation with everything in it: three models, all kinds of methods, both baselines, a λ sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beacon.evaluation.evaluate import evaluate_network
from beacon.evaluation.method import Budget, GuidedMethod, Method, Network, PeerMethod
from beacon.evaluation.records import record_store
from beacon.evaluation.run_file import new_run, new_session, save_run
from beacon.guide.trivial import UniformGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid, pedigree, weighted_coloring
from beacon.model.graphical_model import GraphicalModel
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from tests.evaluation.helpers import engine_methods, network_of, some_queries
from tests.evaluation.test_peer_method import FakePeer

PUBLISHED = {
    "steps": [20, 100],
    "improvement": {"beacon-greedy": [52.5, 55.4], "beacon-gls+": [49.4, 8.2]},
    "seconds_per_step": {"greedy": [0.0042, 0.0001], "gls+": [0.004, 0.0001]},
    "gap_to_greedy_60s": {"gls+": [80.7, 5.0], "toulbar2": "no solution"},
}
HISTORY = [{"epoch": k, "train_loss": 0.7 / k, "validation_loss": 0.8 / k} for k in range(1, 6)]


def toy_models() -> dict[str, GraphicalModel]:
    return {
        "grid": ising_grid(rows=4, columns=4, seed=1),
        "family": pedigree(num_founders=3, num_children=3, num_loci=1, seed=2),
        "map<1>": weighted_coloring(num_vertices=12, seed=3),
    }


def toy_methods(network: Network) -> list[Method]:
    methods = engine_methods("greedy", "gls+", "tree", "auto")
    for strategy in (Greedy(), GlsPlus()):
        for weight in (None, 0.2, 0.5):
            name = f"beacon-{strategy.name}" + ("" if weight is None else f" λ={weight}")
            use = GuideUse("random", weight or 0.5, refresh=25)
            guide = UniformGuide(network.model)
            methods.append(GuidedMethod(name, strategy, baseline=strategy.name, guide=guide, use=use))
    return [*methods, PeerMethod("toulbar2", FakePeer(0.001, proved=True))]


def toy_evaluation(folder: Path) -> None:
    """Fill a folder with the results of the toy evaluation."""
    budget = Budget((20, 100), (0.002, 0.004))
    run = new_run({"steps": [20, 100], "seconds": [0.002, 0.004], "seeds": [0, 1]})
    store = record_store(folder)
    for name, model in toy_models().items():
        network, methods = network_of(model, name), toy_methods(network_of(model, name))
        queries = some_queries(network, 3)
        evaluate_network(network, queries, methods, budget, store, seeds=(0, 1))
        run["networks"][name] = _facts(network)
        run["methods"] |= {method.name: getattr(method, "settings", dict)() for method in methods}
    store.merge()
    run["networks"]["grid"] |= {"short_name": "Grid4", "published": PUBLISHED, "guide": {"history": HISTORY}}
    run["networks"]["family"]["stands_in_for"] = "a larger family"
    run["missing"] = [{"name": "lost", "file": "lost.uai", "source": "nowhere@0:lost.uai"}]
    run["sessions"] = [{**new_session("beacon evaluate <toy>", 1), "runs": 5, "seconds": 1.0}]
    save_run(folder, run)


def _facts(network: Network) -> dict[str, Any]:
    model = network.model
    return {
        "variables": model.num_variables,
        "factors": model.num_factors,
        "max_domain": model.max_domain,
        "zero_fraction": model.zero_fraction,
        "log_zero": network.flat.log_zero,
    }
