"""A network to be measured: its model, its queries and its guide, in memory or on disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from beacon.errors import BeaconError, UsageError
from beacon.evaluation.catalog import AnyGuide
from beacon.evaluation.method import Network
from beacon.evaluation.settings import EvaluateSettings
from beacon.evaluation.suite import SuiteNetwork, load_suite
from beacon.formats import read_model
from beacon.guide.checkpoint import read_facts
from beacon.io.files import make_folder
from beacon.model.evidence import Queries, resolve_queries
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, QuerySettings, sample_queries

QUERY_STREAM = 11  # sampled queries differ from those that `beacon queries` makes of the same seed
GUIDE_FACTS = ("kind", "settings", "tuned", "history", "weights_sha256")

log = logging.getLogger("beacon.evaluation")


class Loaded(NamedTuple):
    """A network and its queries in memory."""

    network: Network
    queries: QuerySet
    digest: str
    """Tells the queries of the split from all others."""


@dataclass(frozen=True)
class Problem:
    """A network to be measured, not read yet."""

    name: str
    model: GraphicalModel | Path
    queries: Queries | QuerySet | Path | None = None
    """None: they are sampled."""
    guide: AnyGuide | None = None
    entry: SuiteNetwork | None = None

    def load(self, settings: EvaluateSettings, folder: Path | None) -> Loaded:
        """Read the network and its queries; sampled ones are kept in the results' folder."""
        model = self.model if isinstance(self.model, GraphicalModel) else read_model(self.model)
        if self.entry is not None and (surprise := self.entry.surprise(model)):
            log.warning("%s: %s; is this the network that the suite means?", self.model, surprise)
        queries = self._queries(model, settings, folder)
        return Loaded(
            Network(self.name, model, compile_model(model)), _first(queries, settings.limit), queries.digest
        )

    def facts(self, loaded: Loaded) -> dict[str, Any]:
        """What ``run.json`` says of the network."""
        model, entry = loaded.network.model, asdict(self.entry) if self.entry else {}
        return {
            "fingerprint": model.fingerprint,
            "variables": model.num_variables,
            "factors": model.num_factors,
            "max_domain": model.max_domain,
            "zero_fraction": model.zero_fraction,
            "log_zero": loaded.network.flat.log_zero,
            "queries": loaded.digest,
            "guide": self._guide_facts(),
            **{key: entry.get(key) for key in ("short_name", "source", "stands_in_for", "published")},
        }

    def _guide_facts(self) -> dict[str, Any] | None:
        """What a guide says of itself: settings, tuned settings, training history."""
        if isinstance(self.guide, str | Path):
            facts = read_facts(Path(self.guide)) if Path(self.guide, "guide.json").is_file() else None
        else:
            facts = getattr(self.guide, "facts", None)
        return None if facts is None else {key: facts.get(key) for key in GUIDE_FACTS}

    def _queries(self, model: GraphicalModel, settings: EvaluateSettings, folder: Path | None) -> QuerySet:
        if self.queries is None:
            return self._sampled(model, settings.count, folder)
        if isinstance(self.queries, Path):
            return QuerySet.load(self.queries, model).split(settings.split)
        if isinstance(self.queries, QuerySet):
            self.queries.check_model(model)
            return self.queries.split(settings.split)
        return query_set_of(model, self.queries)

    def _sampled(self, model: GraphicalModel, count: int, folder: Path | None) -> QuerySet:
        kept = None if folder is None else folder / "queries" / f"{self.name}.parquet"
        if kept is not None and kept.exists():
            queries = QuerySet.load(kept, model)
            if len(queries) >= count:
                return queries
            raise UsageError(
                f"{kept} has {len(queries)} queries, --count asks for {count}; use another folder"
            )
        queries = sample_queries(model, count, QUERY_STREAM, splits=(0.0, 0.0, 1.0))
        if kept is not None:
            make_folder(kept.parent)
            queries.save(kept)
        return queries


def query_set_of(model: GraphicalModel, queries: Queries) -> QuerySet:
    """Evidence of any form as a query set, all of it for test."""
    evidences = resolve_queries(model, queries)
    observed = np.zeros((len(evidences), model.num_variables), dtype=np.bool_)
    samples = np.zeros(observed.shape, dtype=np.int64)
    for query, evidence in enumerate(evidences):
        observed[query, list(evidence)] = True
        samples[query, list(evidence)] = list(evidence.values())
    splits = np.full(len(evidences), 2, dtype=np.int8)
    return QuerySet(model.fingerprint, samples, observed, splits, QuerySettings(), seed=0)


def _first(queries: QuerySet, limit: int | None) -> QuerySet:
    if not len(queries):
        raise UsageError("the query set has no queries of that split; choose another with --split")
    return replace(
        queries,
        samples=np.ascontiguousarray(queries.samples[:limit]),
        observed=np.ascontiguousarray(queries.observed[:limit]),
        split_of_queries=queries.split_of_queries[:limit].copy(),
    )


def problems_of_suite(
    path: Path, data: Path | None = None, only: Sequence[str] = ()
) -> tuple[list[Problem], list[dict[str, str]]]:
    """The networks whose files are in ``data`` (default: beside the suite), and those that are missing."""
    networks = load_suite(path).networks
    known = {name for network in networks for name in (network.name, network.short_name)}
    for name in only:
        if name not in known:
            raise UsageError(
                f"--only: {path} has no network {name!r}; it has: {', '.join(n.name for n in networks)}"
            )
    folder = path.parent if data is None else data
    if not folder.is_dir():
        raise BeaconError(f"cannot read {folder}: no such folder")
    wanted = [n for n in networks if not only or n.name in only or n.short_name in only]
    found = [(network, network.find(folder)) for network in wanted]
    problems = [_problem_of(network, file) for network, file in found if file is not None]
    if not problems:
        raise BeaconError(
            f"none of the suite's {len(wanted)} networks is in {folder}, the first: {wanted[0].file}"
        )
    absent = [network for network, file in found if file is None]
    for network in absent:
        log.warning(
            "%s: no file %s in %s; to be had from %s", network.name, network.file, folder, network.source
        )
    return problems, [{"name": n.name, "file": n.file, "source": n.source} for n in absent]


def _problem_of(network: SuiteNetwork, file: Path) -> Problem:
    queries, guide = file.parent / f"{network.name}.parquet", file.parent / f"{network.name}.guide"
    return Problem(
        network.name,
        file,
        queries if queries.exists() else None,
        str(guide) if guide.exists() else None,
        network,
    )
