"""Networks to be measured: model, queries and guide, in memory, on disk, or listed in a suite in TOML."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from beacon.errors import BeaconError, FormatError, UsageError
from beacon.evaluation.method import Network
from beacon.evaluation.settings import AnyGuide, EvaluateSettings
from beacon.formats import read_model
from beacon.guide.checkpoint import read_facts
from beacon.io.files import COMPRESSIONS, base_suffix, make_folder, parse_toml, read_parsed
from beacon.io.settings import closest
from beacon.io.structure import misfit
from beacon.model.evidence import Queries
from beacon.model.flat import compile_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, sample_queries

QUERY_STREAM = 11  # sampled queries differ from those that `beacon queries` makes of the same seed
SHAPE = {
    **dict.fromkeys(("name", "file", "short_name?", "source?", "stands_in_for?"), str),
    **{"variables?": int, "factors?": int, "published?": dict},
}
GUIDE_FACTS = ("kind", "settings", "tuned", "history", "weights_sha256")
log = logging.getLogger("beacon.evaluation")


@dataclass(frozen=True)
class SuiteNetwork:
    """One network of a suite: how to find its file, and what to expect in it."""

    name: str
    file: str
    """File name, without the suffix of a compressed one."""
    short_name: str = ""
    """What tables call it."""
    variables: int | None = None
    factors: int | None = None
    source: str = ""
    """Where to obtain it: public repository, commit and path."""
    stands_in_for: str = ""
    """The network that was meant, if this one takes its place."""
    published: dict[str, Any] = field(default_factory=dict)
    """Figures that others have published for it."""

    def find(self, folder: Path) -> Path | None:
        """The network's file in a folder or one of its subfolders, compressed or not."""
        folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
        names = [self.file + suffix for suffix in ("", *COMPRESSIONS)]
        return next((path for place in folders for name in names if (path := place / name).is_file()), None)

    def surprise(self, model: GraphicalModel) -> str:
        """What differs between the model and what was expected; empty if nothing does."""
        expected = {"variables": self.variables, "factors": self.factors}
        found = {"variables": model.num_variables, "factors": model.num_factors}
        wrong = [name for name, count in expected.items() if count is not None and count != found[name]]
        return ", ".join(f"expected {expected[name]} {name}, found {found[name]}" for name in wrong)


def load_suite(path: str | os.PathLike[str]) -> tuple[SuiteNetwork, ...]:
    """The networks of a suite; a misspelt key is an error that suggests the right one."""
    content = read_parsed(path, parse_toml, "a suite in TOML")
    entries = content.pop("network", [])
    content.pop("title", "")  # for people
    if content or not entries or not isinstance(entries, list):
        problem = f"unknown key {next(iter(content))!r}" if content else "no [[network]] in it"
        if isinstance(entries, dict):
            problem = "[network] needs two brackets, since there may be several: [[network]]"
        raise FormatError(path, "", f"expected a suite: a title and [[network]] tables; {problem}")
    networks = tuple(_network(path, f"network {k}", entry) for k, entry in enumerate(entries, start=1))
    names = [network.name for network in networks]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(path, "", f"two networks are called {name!r}; give each a name of its own")
    return networks


def _network(path: object, place: str, entry: Any) -> SuiteNetwork:
    known = [spec.name for spec in fields(SuiteNetwork)]
    for key in entry if isinstance(entry, dict) else ():
        if key not in known:
            raise FormatError(path, place, f"no key is called {key!r}; {closest(key, known)}")
    if problem := misfit(entry, SHAPE):
        raise FormatError(path, place, problem)
    name = entry["name"]
    if not name.isprintable() or set(name) & set("/\\") or name[:1] in {"", "."}:
        wanted = "expected a name that can be a file's: no slashes, and no dot at its beginning"
        raise FormatError(path, place, f"{wanted}; found {name!r}")
    return SuiteNetwork(**entry)


def network_name(file: str | os.PathLike[str]) -> str:
    """A model's name: its file's without the suffixes of the format and of the compression."""
    name = os.fsencode(Path(file).name).decode("utf-8", "backslashreplace")  # it goes into texts
    at = name.lower().rfind(base_suffix(name) or ".")
    return name[:at] if at > 0 else name


def enter_names(suite: Iterable[SuiteNetwork], run: dict[str, Any]) -> None:
    """Enter what a suite knows of the networks that were evaluated into the record of the evaluation."""
    for network in suite:
        if network.name in run["networks"]:
            run["networks"][network.name] |= {
                "short_name": network.short_name,
                "stands_in_for": network.stands_in_for,
                "published": network.published,
            }


class Loaded(NamedTuple):
    """A network and its queries in memory."""

    network: Network
    queries: QuerySet
    digest: str
    """Identifies the queries of the split."""
    sampled: QuerySet | None = None
    """Queries that the results' folder does not have yet."""

    def keep(self, folder: Path | None) -> None:
        """Write sampled queries into the results' folder, once nothing can be refused any more."""
        if self.sampled is not None and folder is not None:
            kept = _place(folder, self.network.name)
            make_folder(kept.parent)
            self.sampled.save(kept)


def _place(folder: Path, name: str) -> Path:
    """Where the sampled queries of a network are kept."""
    return folder / "queries" / f"{name}.parquet"


@dataclass(frozen=True)
class Problem:
    """A network to be measured, not read yet."""

    name: str
    model: GraphicalModel | Path
    queries: Queries | QuerySet | Path | None = None
    """None: they are sampled."""
    guide: AnyGuide | None = None
    entry: SuiteNetwork | None = None
    keys: Sequence[str] = ()
    """Columns of a table of queries that are no variables."""

    def load(self, settings: EvaluateSettings, folder: Path | None) -> Loaded:
        """Read the network and its queries, or sample them unless the results' folder has some."""
        model = self.model if isinstance(self.model, GraphicalModel) else read_model(self.model)
        if self.entry is not None and (surprise := self.entry.surprise(model)):
            log.warning("%s: %s; is this the network that the suite means?", self.model, surprise)
        kept = None if folder is None else _place(folder, self.name)
        queries = self._queries(model, settings, kept)
        if not len(queries):
            raise UsageError("the query set has no queries of that split; choose another with --split")
        network = Network(self.name, model, compile_model(model))
        is_new = self.queries is None and kept is not None and not kept.exists()
        chosen = queries.chosen(slice(settings.limit))
        return Loaded(network, chosen, queries.digest, queries if is_new else None)

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

    def _queries(self, model: GraphicalModel, settings: EvaluateSettings, kept: Path | None) -> QuerySet:
        if self.queries is None:
            return _sampled(model, settings.count, kept)
        if isinstance(self.queries, Path):
            return QuerySet.load(self.queries, model, self.keys).split(settings.split)
        if isinstance(self.queries, QuerySet):
            self.queries.check_model(model)
            return self.queries.split(settings.split)
        return QuerySet.from_evidence(self.queries, model, splits=(0.0, 0.0, 1.0))


def _sampled(model: GraphicalModel, count: int, kept: Path | None) -> QuerySet:
    if kept is None or not kept.exists():
        return sample_queries(model, count, QUERY_STREAM, splits=(0.0, 0.0, 1.0))
    queries = QuerySet.load(kept, model)
    if len(queries) < count:
        raise UsageError(f"{kept} has {len(queries)} queries, --count asks for {count}; use another folder")
    return queries


@dataclass(frozen=True)
class Sources:
    """A list of networks in place of one model."""

    suite: str | None = None
    """Evaluate a list of networks."""
    data: str | None = None
    """Where the suite's files are, with NAME.parquet (queries) and NAME.guide beside them if any."""
    only: tuple[str, ...] = ()
    """Only these networks of the suite."""


def problems_of(
    model: str | None,
    queries: str | None,
    guide: str | None,
    sources: Sources,
    keys: Sequence[str] = (),
) -> tuple[list[Problem], list[dict[str, str]]]:
    """One model with its queries and guide, or the networks of a suite and those that are missing."""
    if (model is None) == (sources.suite is None):
        found = "neither" if model is None else "both"
        raise UsageError(f"expected either a MODEL or --suite FILE.toml; found {found}")
    if keys and queries is None:
        raise UsageError("--key names columns of a table Q; give its file after the model")
    if sources.suite is not None:
        data = None if sources.data is None else Path(sources.data)
        return problems_of_suite(Path(sources.suite), data, sources.only)
    if sources.data or sources.only:
        raise UsageError("--data and --only belong to --suite")
    assert model is not None
    asked = None if queries is None else Path(queries)
    return [Problem(network_name(model), Path(model), asked, guide, keys=keys)], []


def problems_of_suite(
    path: Path, data: Path | None = None, only: Sequence[str] = ()
) -> tuple[list[Problem], list[dict[str, str]]]:
    """The networks whose files are in ``data`` (default: beside the suite), and those that are missing."""
    networks = load_suite(path)
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
