"""Evidence means the same at every door, and queries of one's own become query sets."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beacon
from beacon.errors import BeaconError, EvidenceError, UsageError
from beacon.formats import read_evidence, read_evidence_table
from beacon.model.evidence import parse_evidence_items, resolve_evidence, resolve_queries
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import QuerySet, as_query_set

MODEL = GraphicalModel.from_tables(
    [2, 2, 3, 2, 2],
    [],
    ["shock", "fever", "days", "mass", "plain"],
    [["TRUE", "FALSE"], ["no", "yes"], ["3", "2", "1"], ["Present", "Absent"], ["0", "1"]],
)
Door = Callable[[str, Any, Path], dict[int, int]]


def _csv(name: str, value: Any, folder: Path) -> dict[int, int]:
    pd.DataFrame({name: [value]}).to_csv(folder / "t.csv", index=False, quoting=csv.QUOTE_ALL)
    return read_evidence_table(folder / "t.csv", MODEL)[0]


def _parquet(name: str, value: Any, folder: Path) -> dict[int, int]:
    pq.write_table(pa.table({name: [value]}), folder / "t.parquet")
    return read_evidence_table(folder / "t.parquet", MODEL)[0]


def _json(name: str, value: Any, folder: Path) -> dict[int, int]:
    plain = None if isinstance(value, float) and np.isnan(value) else value
    (folder / "t.json").write_text(json.dumps([{name: plain}]))
    return QuerySet.load(folder / "t.json", MODEL).evidence(0)


def _solver(name: str, value: Any, _: Path) -> dict[int, int]:
    solver = beacon.Solver(MODEL)
    solver.observe(name, value)
    return resolve_evidence(MODEL, dict(solver.observed))


DOORS: dict[str, Door] = {
    "mapping": lambda name, value, _: resolve_evidence(MODEL, {name: value}),
    "row": lambda name, value, _: resolve_evidence(MODEL, pd.Series({name: value})),
    "columns": lambda name, value, _: resolve_queries(MODEL, {name: [value]})[0],
    "pandas": lambda name, value, _: resolve_queries(MODEL, pd.DataFrame({name: [value]}))[0],
    "arrow": lambda name, value, _: resolve_queries(MODEL, pa.table({name: [value]}))[0],
    "csv": _csv,
    "parquet": _parquet,
    "json": _json,
    "command line": lambda name, value, _: parse_evidence_items([f"{name}={value}"], MODEL),
    "query set": lambda name, value, _: QuerySet.from_evidence([{name: value}], MODEL).evidence(0),
    "solver": _solver,
    "solve": lambda name, value, _: beacon.solve(MODEL, {name: value}).evidence,
}
NONE = "not observed"
WRONG = "refused"
CELLS: list[tuple[str, Any, int | str]] = [
    ("shock", True, 0),
    ("shock", False, 1),
    ("shock", "true", 0),
    ("shock", "FALSE", 1),
    ("shock", 1, WRONG),  # TRUE, or the value at index 1?
    ("shock", "0", WRONG),
    ("0", 1, 1),  # by its index: so is the value
    ("fever", True, 1),
    ("fever", "False", 0),
    ("fever", 1, 1),
    ("fever", 1.0, 1),
    ("fever", "1", 1),
    ("fever", " yes ", 1),
    ("fever", 2, WRONG),
    ("fever", 0.5, WRONG),
    ("fever", "maybe", WRONG),
    ("days", 1, 2),
    ("days", "3", 0),
    ("days", 2.0, 1),
    ("days", "2.0", 1),
    ("days", 0, WRONG),  # numbers are labels here
    ("days", True, WRONG),
    ("2", 0, 0),
    ("mass", True, 0),
    ("mass", "true", 0),
    ("plain", True, 1),
    ("plain", 0, 0),
    ("fever", "?", NONE),
    ("fever", "", NONE),
    ("fever", "  ", NONE),
    ("fever", float("nan"), NONE),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("name", "value", "meaning"), CELLS, ids=str)
def test_a_value_means_the_same_at_every_door(
    door: str, name: str, value: Any, meaning: int | str, tmp_path: Path
) -> None:
    def enter() -> dict[int, int]:
        return DOORS[door](name, value, tmp_path)

    if meaning == WRONG:
        with pytest.raises(BeaconError, match="variable '"):
            enter()
    else:
        variable = MODEL.name_to_variable.get(name, int(name) if name.isdigit() else -1)
        assert enter() == ({} if meaning == NONE else {variable: meaning})


@pytest.mark.parametrize("door", ["mapping", "columns", "json", "query set", "solve"])
def test_none_is_not_observed(door: str, tmp_path: Path) -> None:
    assert DOORS[door]("fever", None, tmp_path) == {}


def test_uai_files_hold_indices(tmp_path: Path) -> None:
    (tmp_path / "a.evid").write_text("2 0 1 2 0\n")
    assert read_evidence(tmp_path / "a.evid", MODEL) == [resolve_evidence(MODEL, [("0", "1"), (2, 0)])]


def test_a_refusal_says_what_both_readings_would_be() -> None:
    with pytest.raises(EvidenceError) as caught:
        resolve_evidence(MODEL, {"shock": 1})
    assert str(caught.value) == (
        "variable 'shock': expected a label, found 1, which could be 'TRUE' or the value at index 1, 'FALSE'"
    )


PATIENTS = [{"fever": k % 2, "days": str(k % 3 + 1)} for k in range(40)]


class TestQuerySets:
    def test_mappings_and_tables_give_the_same_queries(self, tmp_path: Path) -> None:
        frame = pd.DataFrame(PATIENTS)
        frame.to_csv(tmp_path / "p.csv", index=False)
        frame.to_parquet(tmp_path / "p.parquet")
        (tmp_path / "p.json").write_text(json.dumps(PATIENTS))
        made = QuerySet.from_evidence(PATIENTS, MODEL)
        others = [QuerySet.from_table(frame, MODEL), QuerySet.from_table(tmp_path / "p.csv", MODEL)]
        others += [QuerySet.load(tmp_path / f"p.{suffix}", MODEL) for suffix in ("csv", "parquet", "json")]
        assert [made.evidence(k) for k in range(40)] == resolve_queries(MODEL, PATIENTS)
        assert {other.digest for other in others} == {made.digest}
        assert all((other.split_of_queries == made.split_of_queries).all() for other in others)

    def test_a_folder_is_read_in_the_order_of_names(self, tmp_path: Path) -> None:
        (tmp_path / "b.evid").write_text("1 0 1")
        (tmp_path / "a.csv").write_text("fever\nyes\nno\n")
        (tmp_path / "notes.txt").write_text("nothing")
        made = QuerySet.load(tmp_path, MODEL)
        assert [made.evidence(k) for k in range(3)] == [{1: 1}, {1: 0}, {0: 1}]

    def test_key_columns_are_no_variables(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("case,fever\nA-17,yes\nA-18,\n")
        made = QuerySet.load(tmp_path / "a.csv", MODEL, ["case"])
        assert [made.evidence(k) for k in range(2)] == [{1: 1}, {}]
        assert QuerySet.load(tmp_path, MODEL, ["case"]).digest == made.digest
        made.save(tmp_path / "q.parquet")
        with pytest.raises(UsageError, match="--key case: expected a table with that column"):
            QuerySet.load(tmp_path / "q.parquet", MODEL, ["case"])

    def test_a_folder_without_queries_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(BeaconError, match=r"expected files that end in \.csv, .*found none"):
            QuerySet.load(tmp_path, MODEL)

    def test_the_seed_decides_the_splits_and_equal_queries_stay_together(self) -> None:
        first, again, *others = (
            QuerySet.from_evidence(PATIENTS, MODEL, seed=seed) for seed in (1, 1, 2, 3, 4)
        )
        assert (first.split_of_queries == again.split_of_queries).all()
        assert any((first.split_of_queries != other.split_of_queries).any() for other in others)
        split_of: dict[tuple[Any, ...], set[int]] = {}
        for k, split in enumerate(first.split_of_queries.tolist()):
            split_of.setdefault(tuple(first.evidence(k).items()), set()).add(split)
        assert all(len(splits) == 1 for splits in split_of.values())
        assert len(split_of) == 6

    def test_shares_are_those_asked_for(self) -> None:
        different = [{"fever": a, "days": b, "plain": c} for a in (0, 1) for b in "123" for c in (0, 1)]
        made = QuerySet.from_evidence(different, MODEL, splits=(0.5, 0.25, 0.25))
        assert [len(made.split(name)) for name in ("train", "validation", "test")] == [6, 3, 3]

    def test_variables_with_one_value_are_not_observed(self) -> None:
        model = GraphicalModel.from_tables([1, 2], [])
        assert QuerySet.from_evidence([{0: 0, 1: 1}], model).evidence(0) == {1: 1}

    def test_they_are_saved_and_loaded(self, tmp_path: Path) -> None:
        made = QuerySet.from_evidence(PATIENTS, MODEL)
        made.save(tmp_path / "q.parquet")
        assert QuerySet.load(tmp_path / "q.parquet", MODEL).digest == made.digest

    def test_none_at_all_are_refused(self) -> None:
        with pytest.raises(UsageError, match="expected at least one query, found none"):
            QuerySet.from_evidence([], MODEL)

    def test_whatever_they_come_as(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("fever\nyes\nno\n")
        made = as_query_set(MODEL, tmp_path / "a.csv")
        assert as_query_set(MODEL, made) is made
        assert as_query_set(MODEL, [{"fever": "yes"}, {"fever": "no"}]).digest == made.digest

    def test_a_wrong_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "a.json").write_text("[1")
        with pytest.raises(BeaconError, match=r"a\.json: expected queries in JSON"):
            QuerySet.load(tmp_path / "a.json", MODEL)
        (tmp_path / "a.parquet").write_text("no parquet")
        with pytest.raises(BeaconError, match=r"a\.parquet: expected a Parquet file"):
            QuerySet.load(tmp_path / "a.parquet", MODEL)
