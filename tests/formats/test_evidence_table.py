"""Evidence tables: a header of variables, a query per row."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError
from beacon.formats.evidence_table import read_evidence_table
from beacon.io.files import write_text
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import read_or_one_line

MODEL = GraphicalModel.from_tables(
    [2, 3, 2],
    [],
    names=["fever", "chest, pain", "cough"],
    labels=[["no", "yes"], ["none", "some", "much"], ["no", "yes"]],
)


def read(folder: Path, text: str, name: str = "t.csv") -> list[dict[int, int]]:
    write_text(folder / name, text)
    return read_evidence_table(folder / name, MODEL)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_each_row_is_a_query_and_an_empty_cell_unobserved(tmp_path: Path, delimiter: str, name: str) -> None:
    lines = [
        ["cough", '"chest, pain"', "fever"],
        ["yes", "much", "no"],
        ["", "", "1"],
        ["", " ", ""],
    ]
    text = "\n".join(delimiter.join(line) for line in lines)
    assert read(tmp_path, text, name) == [{0: 0, 1: 2, 2: 1}, {0: 1}, {}]


def test_columns_may_be_indices(tmp_path: Path) -> None:
    assert read(tmp_path, "2,0\n1,0\n") == [{0: 0, 2: 1}]


def test_bom_foreign_line_ends_spaces_and_blank_lines_are_tolerated(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbf\r\nfever, "cough"\r\n\r\nyes, no\r\n   \r\n')
    assert read_evidence_table(tmp_path / "t.csv", MODEL) == [{0: 1, 2: 0}]


def test_one_column_needs_no_delimiter_and_quotes_make_an_empty_row(tmp_path: Path) -> None:
    assert read(tmp_path, 'fever\nyes\n\n""\n') == [{0: 1}, {}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "fever,cogh\nyes,no",
            r"line 1, column 2: expected a variable in the header: .*did you mean 'cough'\?",
        ),
        ("fever,\nyes,", r"line 1, column 2: expected a variable in the header: no variable is called ''"),
        ("fever,9\nyes,1", r"line 1, column 2: .*variable indices are 0\.\.2; found 9"),
        ("fever,0\nyes,1", r"line 1, column 2: expected each variable once in the header, found '0' again"),
        ("fever,cough\n\nyes,no\nyes", "line 4: expected 2 cells, as in the header, found 1"),
        ("fever,cough\nyes,no,yes", "line 2: expected 2 cells, as in the header, found 3"),
        ("fever,cough\nno,no\nmaybe,no", "line 3, column 'fever': variable 'fever' has no value 'maybe'"),
        ("fever,2\nno,2", r"line 2, column '2': variable 'cough' has values 0\.\.1"),
        ("fever,cough\n", "line 1: expected a row per query below the header, found none"),
        (" \n\n", "line 1: expected a header of variable names, found nothing"),
        ('fever,cough\n"yes,no', "line [23]: expected cells of a table: unexpected end of data"),
        ("", "the file is empty"),
    ],
)
def test_a_wrong_table_is_named_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(FormatError, match=rf"t\.csv.*{problem}"):
        read_evidence_table(tmp_path / "t.csv", MODEL)


@pytest.mark.parametrize("break_", ["\x0c", "\u2028"])
def test_a_title_that_breaks_lines_is_told_in_one(tmp_path: Path, break_: str) -> None:
    path = tmp_path / "table.csv"
    write_text(path, f"fe{break_}ver\nyes\n")
    with pytest.raises(FormatError) as caught:
        read_evidence_table(path, MODEL)
    assert len(str(caught.value).splitlines()) == 1


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from([*'",;\t\n =', "fever", "cough", "yes", "no", "1", "9", "é"]), min_size=1, max_size=25
    )
)
def test_random_text_gives_queries_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    text = "fever,cough\n" + "".join(parts)
    queries = read_or_one_line(lambda: read(tmp_path_factory.getbasetemp(), text))
    assert all(query.keys() <= {0, 2} for query in queries or [])
