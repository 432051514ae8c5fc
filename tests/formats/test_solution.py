"""Solution files: one complete assignment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from beacon.errors import FormatError
from beacon.formats.solution import read_solution, write_solution
from beacon.model.graphical_model import GraphicalModel
from tests.small_strategies import damaged, read_or_one_line

MODEL = GraphicalModel.from_tables([2, 3, 2], [])


def read(folder: Path, text: str, model: GraphicalModel = MODEL) -> list[int]:
    (folder / "m.MPE").write_text(text)
    return read_solution(folder / "m.MPE", model).tolist()


@pytest.mark.parametrize("text", ["MPE\n3 1 2 0\n", "MAP 3\n1 2\n0", "MPE\n1\n3 1 2 0", "mpe 3 1 2 0"])
def test_a_solution_gives_each_variable_a_value(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == [1, 2, 0]


@pytest.mark.parametrize(("text", "values"), [("MPE 1 0", [0]), ("MPE 1 1 0", [0]), ("MPE 1 1", [1])])
def test_a_single_variable_is_not_taken_for_a_number_of_solutions(
    tmp_path: Path, text: str, values: list[int]
) -> None:
    assert read(tmp_path, text, GraphicalModel.from_tables([2], [])) == values


def test_a_written_solution_is_read_back(tmp_path: Path) -> None:
    write_solution(tmp_path / "m.MPE", np.array([1, 2, 0]))
    assert (tmp_path / "m.MPE").read_text() == "MPE\n3 1 2 0\n"
    assert read_solution(tmp_path / "m.MPE", MODEL).tolist() == [1, 2, 0]


def test_a_model_without_variables_has_an_empty_solution(tmp_path: Path) -> None:
    write_solution(tmp_path / "m.MPE", [])
    assert read_solution(tmp_path / "m.MPE", GraphicalModel.from_tables([], [])).size == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("3 1 2 0", r"line 1 \(token 1\): expected MPE or MAP as the first word, found '3'"),
        ("MPE\n4 1 2 0 1", r"line 2 \(token 2\): expected a solution of 3 variables, found one of 4"),
        ("MPE\n2 1 2", r"line 2 \(token 2\): expected a solution of 3 variables, found one of 2"),
        (
            "MPE\n2\n3 1 2 0",
            r"line 2 \(token 2\): expected the number of solutions, an integer in 1\.\.1, found '2'",
        ),
        ("MPE\n3 1 2", r"line 2 \(token 4\): the file ends too early: expected 3 tokens"),
        ("MPE\n3 1 3 0", r"line 2 \(token 4\): expected a value of variable 1 in 0\.\.2, found 3"),
        (
            "MPE\n3 1 -2 0",
            r"line 2 \(token 4\): expected a value of each variable, an integer at least 0, found '-2'",
        ),
        ("MPE", "the file ends too early: expected the number of variables"),
        ("MPE\n3 1 2 0 0 0", "expected the end of the file, found 2 more tokens"),
    ],
)
def test_a_wrong_solution_is_named_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=rf"m\.MPE.*{problem}"):
        read(tmp_path, text)


@settings(deadline=None, max_examples=60)
@given(text=damaged("MPE 3 1 2 0"))
def test_random_damage_gives_a_solution_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    values = read_or_one_line(lambda: read(tmp_path_factory.getbasetemp(), text))
    assert values is None or MODEL.check_assignment(values).tolist() == values
