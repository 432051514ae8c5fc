"""Query sets: many evidences on one model, sampled or a user's own, split for training and test."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError, UsageError, check_count, check_seed
from beacon.io.files import base_suffix
from beacon.model.evidence import Queries, check_is_model, observed_rows, resolve_queries
from beacon.model.graphical_model import GraphicalModel
from beacon.model.html_view import html_table
from beacon.query.sampling import GibbsSettings, sample_assignments

SPLITS = ("train", "validation", "test")
SPLIT_STREAM = 17
DEFAULT_COUNT = 1000


@dataclass(frozen=True)
class QuerySettings:
    """How a query set is made."""

    query_ratio: tuple[float, float] = (0.8, 0.95)
    """Lowest and highest share of the variables (those with more than one value) to ask for."""
    splits: tuple[float, float, float] = (0.8, 0.1, 0.1)
    """Shares of the queries for training, validation and test."""
    gibbs: GibbsSettings = field(default_factory=GibbsSettings)
    """How the model is sampled where it is no Bayesian network."""

    def __post_init__(self) -> None:
        """Check the shares."""
        if not _are_numbers(self.query_ratio, 2) or not 0 < self.query_ratio[0] <= self.query_ratio[1] <= 1:
            raise UsageError(
                f"query_ratio must be two shares, 0 < low ≤ high ≤ 1; found {self.query_ratio!r}"
            )
        if not _are_numbers(self.splits, 3) or min(self.splits) < 0 or abs(sum(self.splits) - 1) > 1e-9:
            raise UsageError(
                f"splits must be three shares (train, validation, test) that sum to 1; found {self.splits!r}"
            )


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Queries on one model, one row per query; variables with a single value are never observed.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> model = ising_grid(4, 4)
    >>> beacon.sample_queries(model, count=10).save("queries.parquet")
    >>> queries = beacon.QuerySet.load("queries.parquet", model)  # refuses the queries of another model
    >>> len(queries), len(queries.split("train"))
    (10, 8)
    """

    fingerprint: str
    """The model's fingerprint."""
    samples: NDArray[Any]
    """[queries, variables] assignments from which evidence is taken: samples of the model, complete, or one's
    own queries, 0 where nothing is observed."""
    observed: NDArray[np.bool_]
    """[queries, variables] whether a variable is evidence."""
    split_of_queries: NDArray[np.int8]
    """[queries] index into SPLITS."""
    settings: QuerySettings
    seed: int

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for array in (self.samples, self.observed, self.split_of_queries):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def num_variables(self) -> int:
        """Number of variables of the model."""
        return int(self.samples.shape[1])

    @cached_property
    def digest(self) -> str:
        """Identifies these queries, in this order."""
        whole = hashlib.sha256(f"{self.fingerprint} {self.observed.shape}".encode())
        whole.update(np.packbits(self.observed).tobytes())
        whole.update(self.samples[self.observed].astype("<u4").tobytes())
        return whole.hexdigest()[:32]

    def evidence(self, query: int) -> dict[int, int]:
        """Evidence of one query: variable index -> value index."""
        if not 0 <= query < len(self):
            raise UsageError(f"queries are 0..{len(self) - 1}; found {query}")
        variables = np.flatnonzero(self.observed[query])
        return dict(zip(variables.tolist(), self.samples[query, variables].tolist(), strict=True))

    def split(self, name: str) -> QuerySet:
        """The queries of one split: train, validation or test."""
        if name not in SPLITS:
            raise UsageError(f"splits are {', '.join(SPLITS)}; found {name!r}")
        return self.chosen(self.split_of_queries == SPLITS.index(name))

    def chosen(self, rows: Any) -> QuerySet:
        """Some of the queries, by a mask or a slice."""
        return replace(
            self,
            samples=self.samples[rows],
            observed=self.observed[rows],
            split_of_queries=self.split_of_queries[rows],
        )

    def _repr_html_(self) -> str:
        """The queries of each split, for notebooks."""
        parts = ((name, self.split(name)) for name in SPLITS)
        rows = [
            (name, f"{len(part):,}", f"{part.observed.sum(axis=1).mean() if len(part) else 0:.1f}")
            for name, part in parts
        ]
        title = f"QuerySet: {len(self):,} queries on a model of {self.num_variables:,} variables"
        return html_table(f"{title} ({self.fingerprint[:12]})", rows, ("split", "queries", "mean observed"))

    def check_model(self, model: GraphicalModel) -> None:
        """Raise unless these queries were made for this model."""
        if model.fingerprint != self.fingerprint:
            raise ModelError(
                f"these queries are for another model: its fingerprint is {self.fingerprint}, "
                f"the model's is {model.fingerprint}; sample new queries"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file; a file already there is replaced only once the new one is complete."""
        from beacon.query.query_file import save_queries  # noqa: PLC0415  (pyarrow is slow to import)

        save_queries(self, path)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        model: GraphicalModel | None = None,
        keys: Sequence[str] = (),
    ) -> QuerySet:
        """Read a query set, and refuse one made for another model than ``model``.

        Given the model, queries of one's own are read, too, and split by seed 0: tables (.csv, .tsv,
        .parquet), UAI evidence (.evid), JSON (.json: a list of mappings), or a folder of such files.
        ``keys`` are columns of tables that are no variables.
        """
        from beacon.formats.evidence_table import check_no_keys  # noqa: PLC0415
        from beacon.query.query_file import SUFFIXES, is_query_set, load_queries, read_own_queries  # noqa: PLC0415

        is_own = os.path.isdir(path) or base_suffix(path) in SUFFIXES
        if model is None or not is_own or is_query_set(path):
            check_no_keys(keys, path, "none")
            return load_queries(path, model)
        return cls.from_evidence(read_own_queries(path, model, keys), model)

    @classmethod
    def from_evidence(
        cls,
        queries: Queries,
        model: GraphicalModel,
        *,
        seed: int = 0,
        splits: tuple[float, float, float] = (0.8, 0.1, 0.1),
    ) -> QuerySet:
        """Queries of one's own: mappings, or a table with a row for each, split at random by ``seed``.

        >>> import beacon
        >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
        >>> queries = beacon.QuerySet.from_evidence([{"x0": value % 2} for value in range(10)], model)
        >>> len(queries), queries.evidence(1)
        (10, {0: 1})
        """
        check_seed(seed)
        settings = QuerySettings(splits=splits)
        evidences = resolve_queries(model, queries)
        if not evidences:
            raise UsageError("expected at least one query, found none")
        observed = observed_rows(evidences, model.num_variables)
        samples = np.zeros(observed.shape, dtype=np.min_scalar_type(model.max_domain))
        for row, evidence in zip(samples, evidences, strict=True):
            row[list(evidence)] = list(evidence.values())
        observed[:, model.domain_sizes == 1] = False
        return cls(
            fingerprint=model.fingerprint,
            samples=samples,
            observed=observed,
            split_of_queries=_splits(evidences, splits, seed),
            settings=settings,
            seed=int(seed),
        )

    @classmethod
    def from_table(
        cls,
        table: Any,
        model: GraphicalModel,
        *,
        seed: int = 0,
        splits: tuple[float, float, float] = (0.8, 0.1, 0.1),
    ) -> QuerySet:
        """The same of a table in memory, or of the file of one, CSV or Parquet."""
        from beacon.query.query_file import read_own_queries  # noqa: PLC0415

        is_path = isinstance(table, str | os.PathLike)
        queries = read_own_queries(table, model) if is_path else table
        return cls.from_evidence(queries, model, seed=seed, splits=splits)


AnyQueries = Queries | QuerySet | str | os.PathLike[str]


def as_query_set(model: GraphicalModel, queries: AnyQueries, keys: Sequence[str] = ()) -> QuerySet:
    """A query set of this model, whatever the queries come as; ``keys`` as in :meth:`QuerySet.load`."""
    if isinstance(queries, QuerySet):
        queries.check_model(model)
        return queries
    if isinstance(queries, str | os.PathLike):
        return QuerySet.load(cast("str", queries), model, keys)
    return QuerySet.from_evidence(queries, model)


def sample_queries(
    model: GraphicalModel,
    count: int = DEFAULT_COUNT,
    seed: int = 0,
    *,
    query_ratio: tuple[float, float] = (0.8, 0.95),
    splits: tuple[float, float, float] = (0.8, 0.1, 0.1),
    gibbs: GibbsSettings | None = None,
) -> QuerySet:
    """Make queries: each asks for a random subset of the variables and takes the rest from a sample.

    The share to ask for is uniform within ``query_ratio``, drawn anew for each query. ``gibbs`` says how a
    model that is no Bayesian network is sampled.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> queries = beacon.sample_queries(ising_grid(4, 4), count=5, seed=1)
    >>> len(queries), sorted(queries.evidence(0))[0] >= 0
    (5, True)
    """
    check_is_model(model)
    check_count("count", count, 1)
    settings = QuerySettings(query_ratio, splits, gibbs or GibbsSettings())
    choices = np.flatnonzero(model.domain_sizes > 1)
    if not len(choices):
        raise ModelError("queries need a variable with more than one value; the model has none")
    samples = sample_assignments(model, count, seed, gibbs=settings.gibbs)
    return QuerySet(
        fingerprint=model.fingerprint,
        samples=samples.astype(np.min_scalar_type(model.max_domain - 1)),
        observed=_random_evidence(choices, samples.shape, settings.query_ratio, seed),
        split_of_queries=split_of_queries(count, settings.splits),
        settings=settings,
        seed=int(seed),
    )


def _random_evidence(
    choices: NDArray[np.int64], shape: tuple[int, ...], query_ratio: tuple[float, float], seed: int
) -> NDArray[np.bool_]:
    """[queries, variables] all but a random share of the choices."""
    rng = np.random.default_rng([seed, 1])  # a stream apart from the samples'
    observed = np.zeros(shape, dtype=np.bool_)
    for row, share in zip(observed, rng.uniform(*query_ratio, shape[0]).tolist(), strict=True):
        row[rng.permutation(choices)[round(share * len(choices)) :]] = True
    return observed


def _splits(
    evidences: list[dict[int, int]], splits: tuple[float, float, float], seed: int
) -> NDArray[np.int8]:
    """[queries] index into SPLITS: the different queries in a random order, cut by the shares."""
    kinds: dict[tuple[tuple[int, int], ...], int] = {}
    kind_of = [kinds.setdefault(tuple(evidence.items()), len(kinds)) for evidence in evidences]
    order = np.random.default_rng([seed, SPLIT_STREAM]).permutation(len(kinds))
    return split_of_queries(len(kinds), splits)[order][kind_of]


def split_of_queries(count: int, shares: Sequence[float]) -> NDArray[np.int8]:
    """The first queries train, the next validate, the last test; each bound rounded to a whole query."""
    bounds = [round(math.fsum(shares[: k + 1]) * count) for k in range(len(SPLITS) - 1)]
    return np.searchsorted(bounds, np.arange(count), side="right").astype(np.int8)


def least_count(shares: Sequence[float]) -> int | None:
    """The least number of different queries of which every split gets some; None: not even 1,000."""
    counts = range(len(SPLITS), 1001)
    return next((n for n in counts if len({*split_of_queries(n, shares).tolist()}) == len(SPLITS)), None)


def _are_numbers(values: object, length: int) -> bool:
    return (
        isinstance(values, Sequence)
        and len(values) == length
        and all(isinstance(value, int | float) and 0 <= value <= 1 for value in values)
    )
