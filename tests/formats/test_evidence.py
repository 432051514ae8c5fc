"""Evidence files of one or several queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from beacon.errors import FormatError
from beacon.formats import uai
from beacon.formats.evidence import read_evidence, write_evidence
from beacon.io.files import read_text
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line

MODEL = GraphicalModel.from_tables([2, 3, 2, 4, 2], [])


def read(folder: Path, text: str) -> list[dict[int, int]]:
    (folder / "m.evid").write_text(text)
    return read_evidence(folder / "m.evid", MODEL)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("0", [{}]),
        ("1 0", [{}]),
        ("1\n0\n", [{}]),
        ("1 0 1", [{0: 1}]),
        ("2 3 3 1 2", [{1: 2, 3: 3}]),
        ("2\n3 3\n1 2", [{1: 2, 3: 3}]),
        ("1 2 3 3 1 2", [{1: 2, 3: 3}]),
        ("1\n2 3 3\n1 2", [{1: 2, 3: 3}]),
        ("2\n1 0 1\n2 1 2 3 0", [{0: 1}, {1: 2, 3: 0}]),
        ("3 0 0 0", [{}, {}, {}]),
        ("2 0 1 0 1", [{0: 1}]),
    ],
)
def test_one_query_or_a_number_of_queries(tmp_path: Path, text: str, queries: list[dict[int, int]]) -> None:
    assert read(tmp_path, text) == queries


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("2 0 1 3 1", [{0: 1, 3: 1}]),
        ("2\n0 1\n3 1", [{0: 1, 3: 1}]),
        ("2\n0\n1 3 1", [{}, {3: 1}]),
        ("2 0 1 0 0", [{}, {0: 0}]),
        ("2 1 4 0 0", [{4: 0}, {}]),
    ],
)
def test_what_reads_both_ways_is_one_query_unless_lines_or_model_say_otherwise(
    tmp_path: Path, text: str, queries: list[dict[int, int]]
) -> None:
    assert read(tmp_path, text) == queries


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "2 0 1 0 0",
            "read as 2 queries, since it does not fit as one: {file}, line 1 (token 5): variable 0 is "
            "observed twice with different values: 1 and 0",
        ),
        (
            "2 1 4 0 0",
            "read as 2 queries, since it does not fit as one: {file}, line 1 (token 3): expected a value of "
            "variable 1 in 0..2, found 4",
        ),
        ("1 0", "{file}: read as one query without evidence; is the line cut off? 0 says the same"),
        ("1\n0\n", None),
        ("0", None),
        ("2\n1 0 1\n0", None),
        ("2\n0\n1 3 1", None),
        ("2 0 1 3 1", None),
        ("3 0 0 0", None),
    ],
)
def test_what_may_be_meant_otherwise_is_said(
    tmp_path: Path, text: str, warning: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    read(tmp_path, text)
    assert caplog.messages == ([] if warning is None else [warning.format(file=tmp_path / "m.evid")])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            " \n",
            r"line 2 \(token 1\): expected the number of observations, found nothing; write 0 for no evid",
        ),
        ("1 5 0", r"line 1 \(token 2\): expected a variable in 0\.\.4, found 5"),
        ("1\n1\n1 3", r"line 3 \(token 4\): expected a value of variable 1 in 0\.\.2, found 3"),
        ("2 3 0 3 1", r"line 1 \(token 5\): variable 3 is observed twice with different values: 0 and 1"),
        ("2 3 0", r"expected 2 pairs of variable and value \(5 tokens\), or 2 queries .*; found 3 tokens"),
        ("1 0 1 0", r"expected 1 pairs of variable and value \(3 tokens\), or 1 queries .*; found 4 tokens"),
        (
            "1 0 yes",
            r"line 1 \(token 3\): expected a number of observations, a variable or a value, an integer",
        ),
        ("1 -1 0", r"line 1 \(token 2\): expected a number of observations, .* at least 0, found '-1'"),
        ("1000000000000 1 1", "expected 1000000000000 pairs"),
        ("", "the file is empty"),
    ],
)
def test_wrong_evidence_is_named_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"m\.evid.*{problem}"):
        read(tmp_path, text)


@pytest.mark.parametrize("evidence", [{}, {3: 2}, {1: 0, 4: 1}, {0: 1, 3: 1}])
def test_written_evidence_is_read_back(tmp_path: Path, evidence: dict[int, int]) -> None:
    write_evidence(tmp_path / "m.evid.gz", evidence)
    assert read_evidence(tmp_path / "m.evid.gz", MODEL) == [evidence]


@settings(deadline=None, max_examples=100)
@given(text=damaged("2\n1 0 1\n2 1 2 3 0"))
def test_random_damage_gives_evidence_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    queries = read_or_one_line(lambda: read(tmp_path_factory.getbasetemp(), text))
    assert all(value < MODEL.domain_sizes[i] for query in queries or [] for i, value in query.items())


def test_published_evidence_is_one_query_each(benchmark_files: Path) -> None:
    model = uai.read(read_text(benchmark_files / "paper" / "BN_30.uai.xz"), "BN_30")
    queries = read_evidence(benchmark_files / "evid" / "BN_30.uai.evid", model)
    assert [len(query) for query in queries] == [120]
    assert queries[0][1] == 1
