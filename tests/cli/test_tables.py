"""Tables in, tables out: ``beacon solve --table IN --key id -o OUT``."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.helpers import run


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text("id,grass,name\n7,wet,Ann\n9,?,Bo\n")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet"])
def test_a_row_per_query_with_its_keys(sprinkler: Path, patients: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    keys = ["--key", "id", "--key", "name"]
    assert run("solve", sprinkler, "--table", patients, *keys, "-o", out, "--quiet").code == 0
    if suffix == ".parquet":
        rows = pq.read_table(out).to_pylist()
    else:
        from beacon.io.files import read_text  # noqa: PLC0415

        delimiter = "\t" if suffix == ".tsv" else ","
        rows = list(csv.DictReader(read_text(out).splitlines(), delimiter=delimiter))
    assert list(rows[0])[:5] == ["id", "name", "rain", "sprinkler", "grass"]
    assert {"log_score", "gap", "proof", "seconds"} <= rows[0].keys()
    assert [row["id"] for row in rows] == ["7", "9"]
    assert (rows[0]["grass"], rows[0]["sprinkler"], rows[0]["proof"]) == ("wet", "on", "elimination")


def test_variables_that_all_queries_observe_are_left_out(sprinkler: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table({"id": [1, 2], "grass": ["wet", "dry"]}), table)
    assert run("solve", sprinkler, "--table", table, "--key", "id", "-o", out, "--quiet").code == 0
    header, *rows = out.read_text().splitlines()
    assert header.startswith("id,rain,sprinkler,log_score,")
    assert [row.split(",")[0] for row in rows] == ["1", "2"]


def test_one_query_makes_a_table_of_one_row(sprinkler: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("solve", sprinkler, "-e", "grass=wet", "-o", out, "--quiet").code == 0
    assert len(out.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--key", "nobody", "-o", "out.csv"], "in.csv: expected a column 'nobody', found id, grass, name"),
        (["--key", "grass", "-o", "out.csv"], "key 'grass' is a variable of the model"),
        (["--key", "id", "--key", "name"], "--key goes into a table of answers; give one with -o OUT.csv"),
        (["-o", "out.csv"], "expected a variable in the header: no variable is called 'id'"),
        (["-o", "out.csv"], "(a column that is no variable: --key id)"),
        (["--key", "id", "--key", "name", "-o", "in.csv"], "this command reads that file"),
    ],
)
def test_mistakes_are_one_line(
    sprinkler: Path, patients: Path, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(patients.parent)
    outcome = run("solve", sprinkler, "--table", patients, *options, "--quiet")
    assert outcome.code != 0
    assert message in outcome.error


@pytest.mark.parametrize(
    "verb",
    [
        ("collect", "MODEL", "TABLE"),
        ("train", "MODEL", "TABLE", "-o", "guide", "--preset", "solved"),
        ("tune", "MODEL", "TABLE", "-o", "profile"),
        ("evaluate", "MODEL", "TABLE", "-o", "out"),
        ("run", "MODEL", "-o", "out", "--preset", "solved", "--queries", "TABLE"),
    ],
    ids=lambda words: words[0],
)
def test_every_verb_that_reads_tables_takes_their_keys(
    sprinkler: Path, patients: Path, verb: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(patients.parent)
    files = {"MODEL": str(sprinkler), "TABLE": str(patients)}
    command = [files.get(word, word) for word in verb]
    assert "(a column that is no variable: --key id)" in run(*command).error
    assert "expected a column 'nobody', found id, grass, name" in run(*command, "--key", "nobody").error


def test_a_table_with_keys_is_evaluated(sprinkler: Path, patients: Path, tmp_path: Path) -> None:
    how = ["--key", "id", "--key", "name", "--split", "train", "--steps", 5, "--methods", "greedy", "--json"]
    assert run("evaluate", sprinkler, patients, "-o", tmp_path / "out", *how).json["runs"] == 2


def test_keys_need_a_file_of_queries(sprinkler: Path, tmp_path: Path) -> None:
    how = ["-o", tmp_path / "out", "--key", "id"]
    assert "--key names columns of a table Q" in run("evaluate", sprinkler, *how).error
    assert "--key names columns of a file of queries" in run("run", sprinkler, *how).error


def test_keys_need_a_table(sprinkler: Path) -> None:
    assert "--key names columns of --table" in run("solve", sprinkler, "--key", "id").error
