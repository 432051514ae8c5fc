"""The networks of an evaluation: one from the command line, or those of a suite that can be found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from beacon.cli.console import warn
from beacon.cli.outputs import COMPRESSED
from beacon.errors import BeaconError, UsageError

if TYPE_CHECKING:
    from beacon.evaluation.method import Network
    from beacon.evaluation.suite import SuiteNetwork
    from beacon.model.graphical_model import GraphicalModel
    from beacon.query.query_set import QuerySet

FORMATS = (".uai", ".lg", ".wcsp", ".cfn", ".bif")
QUERY_STREAM = 11  # sampled queries differ from those that `beacon queries` makes of the same seed


@dataclass(frozen=True)
class Problem:
    """A network to be evaluated, not read yet."""

    name: str
    file: Path
    queries: Path | None
    guide: str | None
    entry: SuiteNetwork | None = None


class Loaded(NamedTuple):
    """A network and its queries in memory."""

    network: Network
    queries: QuerySet
    digest: str
    """A short name for the queries of the split."""


class QueryChoice(Protocol):
    """Which queries to use."""

    @property
    def split(self) -> str:
        """Their split."""

    @property
    def limit(self) -> int | None:
        """At most so many."""

    @property
    def count(self) -> int:
        """How many to sample where there are none."""


def problems_of(
    model_file: str | None,
    query_file: str | None,
    guide: str | None,
    suite: str | None,
    data: str | None,
    only: list[str],
) -> tuple[list[Problem], list[dict[str, str]]]:
    """The networks to evaluate, and those of a suite that cannot be found."""
    if (model_file is None) == (suite is None):
        raise UsageError(
            "expected either a MODEL or --suite FILE.toml; found " + ("both", "neither")[suite is None]
        )
    if model_file is not None:
        if data is not None or only:
            raise UsageError("--data and --only belong to --suite")
        queries = None if query_file is None else Path(query_file)
        return [Problem(network_name(model_file), Path(model_file), queries, guide)], []
    return _of_suite(Path(str(suite)), data, only)


def network_name(file: str) -> str:
    """A model's name: its file's without the suffixes of the format and of the compression."""
    name = Path(file).name
    for suffixes in (COMPRESSED, FORMATS):
        name = next((name.removesuffix(suffix) for suffix in suffixes if name.endswith(suffix)), name)
    return name


def load_problem(problem: Problem, folder: Path, choice: QueryChoice) -> Loaded:
    """Read a network and its queries; sampled ones are kept in the results' folder."""
    from beacon.evaluation.method import Network  # noqa: PLC0415
    from beacon.evaluation.protocol import queries_digest  # noqa: PLC0415
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.model.flat import compile_model  # noqa: PLC0415

    model = read_model(problem.file)
    if problem.entry is not None and (surprise := problem.entry.surprise(model)):
        warn(f"{problem.file}: {surprise}; is this the network that the suite means?")
    queries = _queries(problem, model, folder, choice)
    network = Network(problem.name, model, compile_model(model))
    return Loaded(network, _first(queries, choice.limit), queries_digest(queries))


def network_facts(loaded: Loaded, problem: Problem) -> dict[str, Any]:
    """What ``run.json`` says of a network."""
    network, _, digest = loaded
    entry = asdict(problem.entry) if problem.entry else {}
    return {
        "fingerprint": network.model.fingerprint,
        "variables": network.model.num_variables,
        "factors": network.model.num_factors,
        "max_domain": network.model.max_domain,
        "zero_fraction": network.model.zero_fraction,
        "log_zero": network.flat.log_zero,
        "queries": digest,
        "guide": _guide_facts(problem.guide),
        **{key: entry.get(key) for key in ("short_name", "source", "stands_in_for", "published")},
    }


def _guide_facts(guide: str | None) -> dict[str, Any] | None:
    """What a guide's folder says of itself: settings, tuned settings, training history."""
    from beacon.guide.checkpoint import read_facts  # noqa: PLC0415

    file = Path(guide or "", "guide.json")
    if guide is None or not file.is_file():
        return None
    facts = read_facts(Path(guide))
    return {key: facts.get(key) for key in ("kind", "settings", "tuned", "history", "weights_sha256")}


def _of_suite(path: Path, data: str | None, only: list[str]) -> tuple[list[Problem], list[dict[str, str]]]:
    from beacon.evaluation.suite import load_suite  # noqa: PLC0415

    networks = load_suite(path).networks
    known = {name for network in networks for name in (network.name, network.short_name)}
    for name in only:
        if name not in known:
            raise UsageError(
                f"--only: {path} has no network {name!r}; it has: {', '.join(n.name for n in networks)}"
            )
    wanted = [n for n in networks if not only or n.name in only or n.short_name in only]
    folder = Path(data) if data is not None else path.parent
    if not folder.is_dir():
        raise BeaconError(f"cannot read {folder}: no such folder")
    found = [(network, network.find(folder)) for network in wanted]
    problems = [_suite_problem(network, file) for network, file in found if file is not None]
    missing = [
        {"name": network.name, "file": network.file, "source": network.source}
        for network, file in found
        if file is None
    ]
    if not problems:
        raise BeaconError(
            f"none of the suite's {len(wanted)} networks is in {folder}, the first: {wanted[0].file}"
        )
    return problems, missing


def _suite_problem(network: SuiteNetwork, file: Path) -> Problem:
    queries, guide = file.parent / f"{network.name}.parquet", file.parent / f"{network.name}.guide"
    return Problem(
        network.name,
        file,
        queries if queries.exists() else None,
        str(guide) if guide.exists() else None,
        network,
    )


def _queries(problem: Problem, model: GraphicalModel, folder: Path, choice: QueryChoice) -> QuerySet:
    from beacon.query.query_set import QuerySet, sample_queries  # noqa: PLC0415

    if problem.queries is not None:
        return QuerySet.load(problem.queries, model).split(choice.split)
    kept = folder / "queries" / f"{problem.name}.parquet"
    if kept.exists():
        queries = QuerySet.load(kept, model)
        if len(queries) >= choice.count:
            return queries
        raise UsageError(
            f"{kept} has {len(queries)} queries, --count asks for {choice.count}; use another folder"
        )
    kept.parent.mkdir(exist_ok=True)
    queries = sample_queries(model, choice.count, QUERY_STREAM, splits=(0.0, 0.0, 1.0))
    queries.save(kept)
    return queries


def _first(queries: QuerySet, limit: int | None) -> QuerySet:
    from dataclasses import replace  # noqa: PLC0415

    if not len(queries):
        raise UsageError("the query set has no queries of that split; choose another with --split")
    count = len(queries) if limit is None else min(limit, len(queries))
    return replace(
        queries,
        samples=np.ascontiguousarray(queries.samples[:count]),
        observed=np.ascontiguousarray(queries.observed[:count]),
        split_of_queries=queries.split_of_queries[:count].copy(),
    )
