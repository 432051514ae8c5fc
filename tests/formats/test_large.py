"""Large files: read part by part, in little memory, with the same errors as small ones."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beacon.errors import BeaconError, FormatError
from beacon.formats import read_model, tokens, uai, write_model
from beacon.io import files
from beacon.io.files import TextFile
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, same_factors, small_models

SIDE = 200


@pytest.fixture(scope="module")
def grid() -> GraphicalModel:
    return ising_grid(SIDE, SIDE, seed=0)


@pytest.fixture(scope="module")
def grid_file(grid: GraphicalModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "grid.uai"
    write_model(grid, path)
    return path


def in_tiny_parts(patch: pytest.MonkeyPatch, num_bytes: int) -> None:
    """Cut files after this many bytes, and look at every part as if it were large."""
    patch.setattr(files, "PART_BYTES", num_bytes)
    patch.setattr(tokens, "PART_BYTES", num_bytes)
    patch.setattr(tokens, "LARGE", 1)


def outcome(text: str) -> GraphicalModel | str:
    try:
        return uai.read(text, "m.uai")
    except BeaconError as error:
        return str(error)


def test_a_large_grid_is_read_in_a_moment_and_as_it_was(grid: GraphicalModel, grid_file: Path) -> None:
    read_model(grid_file)
    began = process_time()
    model = read_model(grid_file)
    assert process_time() - began < 2  # 0.15 s on an idle machine; with an object for each word it took 1.7
    np.testing.assert_array_equal(model.factors.variables, grid.factors.variables)
    np.testing.assert_allclose(model.factors.log_table, grid.factors.log_table, rtol=0, atol=2e-15)
    assert model.names[:2] == ("x0", "x1")


def test_reading_takes_no_more_than_a_few_times_the_tables(grid_file: Path) -> None:
    tracemalloc.start()
    model = read_model(grid_file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    one_part = 20 * files.PART_BYTES  # that is read as words, such as the first
    assert peak < 3 * model.factors.log_table.nbytes + one_part


def test_reading_does_not_load_pandas(grid_file: Path) -> None:
    code = f"import sys, beacon; beacon.read_model({str(grid_file)!r}); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pyarrow" in run.stdout.split()
    assert "pandas" not in run.stdout.split()


@settings(deadline=None, max_examples=60)
@given(small_models(), st.integers(1, 40))
def test_where_a_file_is_cut_into_parts_makes_no_difference(model: GraphicalModel, num_bytes: int) -> None:
    text = uai.write(model)
    with pytest.MonkeyPatch.context() as patch:
        in_tiny_parts(patch, num_bytes)
        assert same_factors(uai.read(text, "m.uai"), model)


@settings(deadline=None, max_examples=150)
@given(st.data(), st.integers(1, 40))
def test_errors_are_the_same_wherever_a_file_is_cut(data: st.DataObject, num_bytes: int) -> None:
    text = data.draw(damaged(uai.write(data.draw(small_models()))))
    whole = outcome(text)
    with pytest.MonkeyPatch.context() as patch:
        in_tiny_parts(patch, num_bytes)
        cut = outcome(text)
    if isinstance(whole, GraphicalModel):
        assert isinstance(cut, GraphicalModel)
        assert same_factors(cut, whole)
    else:
        assert cut == whole


@pytest.mark.parametrize("num_bytes", [1, 1000])
def test_of_two_wrong_integers_the_first_is_named(num_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    in_tiny_parts(monkeypatch, num_bytes)
    said = r"line 1 \(token 4\): expected a domain size, an integer at least 1, found '0'"
    with pytest.raises(FormatError, match=said):
        uai.read("MARKOV 3 1 0 0.0 0", "m.uai")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("x", "expected a table entry, a number, found 'x'"),
        ("-1", "expected a table entry, a finite number of at least 0, found '-1'"),
        ("1e999", "expected a table entry, a finite number of at least 0, found '1e999'"),
    ],
)
def test_damage_deep_in_a_large_file_is_named_with_its_place(
    wrong: str, problem: str, grid_file: Path, tmp_path: Path
) -> None:
    lines = grid_file.read_text().split("\n")
    lines[-2] = f"{lines[-2].rsplit(' ', 1)[0]} {wrong}"
    path = tmp_path / "damaged.uai"
    path.write_text("\r\n".join(lines))
    token = len(" ".join(lines).split())
    with pytest.raises(FormatError) as caught:
        read_model(path)
    assert str(caught.value) == f"{path}, line {len(lines) - 1} (token {token}): {problem}"


def test_a_scope_deep_in_a_large_file_is_checked(grid_file: Path, tmp_path: Path) -> None:
    text = grid_file.read_text()
    path = tmp_path / "damaged.uai"
    path.write_text(text.replace("\n2 20000 20001\n", "\n2 20000 20000\n"))
    with pytest.raises(FormatError, match=r"a scope must not repeat a variable, found \[20000, 20000\]"):
        read_model(path)


def test_a_byte_that_is_no_text_is_named_wherever_it_is(grid_file: Path, tmp_path: Path) -> None:
    data = grid_file.read_bytes()
    path = tmp_path / "damaged.uai"
    path.write_bytes(data[:-5] + b"\xff" + data[-5:])
    line = data.count(b"\n")
    with pytest.raises(FormatError, match=rf"line {line}: expected UTF-8 text, found the byte 0xff"):
        read_model(path)


def test_the_budget_of_memory_holds(grid_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEACON_MEMORY", "0.01")
    with pytest.raises(FormatError, match=r"expected what fits into 0\.01 GiB of memory"):
        read_model(grid_file)


def test_what_comes_through_a_pipe_is_read_and_its_errors_too(tmp_path: Path) -> None:
    (tmp_path / "stdin.uai").symlink_to("/dev/stdin")
    command = f"import beacon; print(beacon.read_model({str(tmp_path / 'stdin.uai')!r}).num_variables)"
    run = [sys.executable, "-c", command]
    text = uai.write(ising_grid(3, 3))
    assert subprocess.run(run, input=text, capture_output=True, text=True, check=True).stdout == "9\n"
    failed = subprocess.run(run, input=text + " x", capture_output=True, text=True, check=False)
    assert "expected the end of the file, found 1 more tokens, first 'x'" in failed.stderr


def test_parts_end_between_words_and_make_up_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PART_BYTES", 7)
    path, text = tmp_path / "text", b"a bc\r\ndef averylongwordindeed\r\n\tg h" * 3
    path.write_bytes(text)
    parts = list(TextFile(path))
    assert b"".join(parts) == text
    assert [word for part in parts for word in part.split()] == text.split()
    assert all(part[-1:].isspace() for part in parts[:-1])


@pytest.mark.parametrize(
    "word", ["1e5", "-0.25", "nan", "-inf", "5e-324", "1.7976931348623157e308", ".5", "1e-400"]
)
def test_numbers_are_the_same_however_they_are_read(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "LARGE", 1)
    (found,) = tokens.Tokens(word, "m").next_floats(1, "a number")
    np.testing.assert_array_equal(found, float(word))
