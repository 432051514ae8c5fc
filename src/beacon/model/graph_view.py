"""A model as a graph of networkx, which need not be installed."""

from __future__ import annotations

from typing import Any

from beacon.errors import MissingDependencyError
from beacon.model.bayes import child_of_factors
from beacon.model.graphical_model import GraphicalModel


def to_networkx(model: GraphicalModel) -> Any:
    """Variables by name, with their ``labels``; edges lead from parents to children, or join all in a factor.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> beacon.to_networkx(ising_grid(2, 2)).number_of_edges()
    4
    """
    try:
        import networkx as nx  # noqa: PLC0415  (need not be installed)
    except ImportError:
        raise MissingDependencyError("networkx", "a graph of a model", "plots") from None
    children = child_of_factors(model)
    graph = nx.Graph() if children is None else nx.DiGraph()
    graph.add_nodes_from(
        (name, {"labels": labels}) for name, labels in zip(model.names, model.labels, strict=True)
    )
    if children is None:
        edges = [(i, j) for i, others in enumerate(model.primal_graph()) for j in sorted(others) if i < j]
    else:
        pairs = zip(model.factors, children, strict=True)
        edges = [(i, child) for factor, child in pairs for i in factor.scope if i != child]
    graph.add_edges_from((model.names[i], model.names[j]) for i, j in edges)
    return graph
