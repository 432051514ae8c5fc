"""Models of every format through one door: told by name or content, whole or refused with one line."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import FormatError, ModelError, UsageError
from beacon.formats import bif, read_model, uai, write_model, xmlbif
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import read_or_one_line, same_factors, small_models

UAI = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n"
WCSP = "tiny 2 2 1 10\n2 2\n2 0 1 0 1\n1 1 5\n"
CFN = """{ problem: { name: tiny, mustbe: "<10" },
  variables: { a: 2, b: 2 },
  functions: { f: { scope: [a, b], costs: [0, 1, 2, 3] } } }
"""
BIF = """network tiny {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (no) 0.1, 0.9; (yes) 0.2, 0.8; }
"""
ERGO = "2\n2 2\n0\n1 0\n2 0.5 0.5\n4 0.1 0.9 0.2 0.8\n"
XML = xmlbif.write(bif.read(BIF, "a.bif"))
TEXTS = {".uai": UAI, ".lg": UAI, ".wcsp": WCSP, ".cfn": CFN, ".bif": BIF}
TEXTS |= {".erg": ERGO, ".xmlbif": XML, ".xml": XML}


@pytest.mark.parametrize("suffix", TEXTS)
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_the_suffix_tells_the_format_in_any_case(tmp_path: Path, suffix: str, compression: str) -> None:
    path = tmp_path / f"model{suffix.upper()}{compression}"
    path.write_bytes(gzip.compress(TEXTS[suffix].encode()) if compression else TEXTS[suffix].encode())
    assert read_model(path).domain_sizes.tolist() == [2, 2]


@pytest.mark.parametrize("suffix", [suffix for suffix in TEXTS if suffix != ".lg"])
@pytest.mark.parametrize("name", ["model", "model.dat", "model.uai.txt", "model.xz"])
def test_the_content_tells_the_format_where_the_name_does_not(tmp_path: Path, suffix: str, name: str) -> None:
    (tmp_path / f"known{suffix}").write_text(TEXTS[suffix])
    (tmp_path / name).write_text("\n  " * (suffix not in {".wcsp", ".xml", ".xmlbif"}) + TEXTS[suffix])
    assert same_factors(read_model(tmp_path / name), read_model(tmp_path / f"known{suffix}"))


@pytest.mark.parametrize("comment", ["// made by hand\n", "/* made\nby hand */", "\n// one\n\n/* two */ "])
def test_comments_do_not_hide_the_format(tmp_path: Path, comment: str) -> None:
    (tmp_path / "model").write_text(comment + BIF)
    assert read_model(str(tmp_path / "model")).names == ("a", "b")


def test_content_of_no_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear reader,\n")
    problem = r"notes\.txt, line 1: cannot tell the format by the content; .* \.uai, .* \.bif, \.xmlbif"
    with pytest.raises(FormatError, match=problem):
        read_model(tmp_path / "notes.txt")


def test_an_error_of_the_model_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.uai").write_text(UAI)

    def refuse(*_: object) -> GraphicalModel:
        raise ModelError("too odd")

    monkeypatch.setattr(GraphicalModel, "from_factors", refuse)
    with pytest.raises(FormatError, match=r"m\.uai: too odd$"):
        read_model(tmp_path / "m.uai")


@settings(deadline=None, max_examples=30)
@given(model=small_models(), suffix=st.sampled_from([".uai", ".lg", ".UAI", ".lg.gz", ".uai.xz", ".uai.bz2"]))
def test_a_written_model_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, model: GraphicalModel, suffix: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"round_trip{suffix}"
    write_model(model, path)
    assert same_factors(read_model(path), model)


def test_wcsp_and_bif_files_are_written_too(tmp_path: Path) -> None:
    (tmp_path / "a.bif").write_text(BIF)
    model = read_model(tmp_path / "a.bif")
    write_model(model, tmp_path / "b.bif")
    write_model(model, tmp_path / "b.wcsp", precision=3)
    assert read_model(tmp_path / "b.bif").names == ("a", "b")
    assert read_model(tmp_path / "b.wcsp").domain_sizes.tolist() == [2, 2]


def test_only_a_path_is_read() -> None:
    with pytest.raises(UsageError, match="expected the path of a model file; found None"):
        read_model(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["m.erg", "m", "m.txt", "m.gz", "m.bif.zip"])
def test_only_known_formats_are_written(tmp_path: Path, name: str) -> None:
    problem = (
        r"cannot write .*: models are written to files that end in \.uai, \.lg, \.wcsp, \.cfn, \.bif, "
        r"\.xmlbif, \.xml \(then \.gz"
    )
    with pytest.raises(UsageError, match=problem):
        write_model(GraphicalModel.from_tables([2], []), tmp_path / name)
    assert not list(tmp_path.iterdir())


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_random_bytes_in_a_file_give_a_model_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(data.draw(st.sampled_from([UAI.encode(), gzip.compress(UAI.encode(), mtime=0)])))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.getbasetemp() / data.draw(st.sampled_from(["m.uai", "m.dat"]))
    path.write_bytes(content)
    model = read_or_one_line(lambda: read_model(path))
    assert model is None or uai.write(model).startswith("MARKOV")


def test_published_models_have_their_published_sizes(benchmark_files: Path) -> None:
    with (benchmark_files / "INDEX.tsv").open() as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    for row in rows:
        model = read_model(benchmark_files / row["file"])
        sizes = [model.num_variables, model.num_factors, model.max_domain, model.max_scope]
        assert sizes == [int(row[key]) for key in ("variables", "factors", "max_domain", "max_scope")], row[
            "file"
        ]
    assert len(rows) > 30
