from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from beacon.formats import read_model, write_model
from beacon.model.graphical_model import GraphicalModel
from tests.cli.helpers import run

COSTLY = "costly 2 2 2 99999\n2 2\n2 0 1 0 2\n0 0 5000\n1 1 99999\n1 0 0 1\n1 7000\n"


@pytest.fixture
def costly(tmp_path: Path) -> Path:
    """Costs far beyond what potentials can express."""
    path = tmp_path / "costly.wcsp"
    path.write_text(COSTLY)
    return path


def test_it_says_what_was_written_and_that_names_are_lost(sprinkler: Path, tmp_path: Path) -> None:
    target = tmp_path / "s.uai.gz"
    outcome = run("convert", sprinkler, target)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        f"wrote {target}: 3 variables, 3 factors; names and value labels are lost (.uai has none)\n"
    )
    assert read_model(target).fingerprint == read_model(sprinkler).fingerprint


def test_nothing_is_lost_where_there_were_no_names(equal_pair: Path, tmp_path: Path) -> None:
    assert run("convert", equal_pair, tmp_path / "p.lg").out.endswith("p.lg: 2 variables, 1 factor\n")


def test_the_meaning_of_wcsp_costs_is_told(sprinkler: Path, tmp_path: Path) -> None:
    outcome = run("convert", sprinkler, tmp_path / "s.wcsp", "--precision", 3)
    assert f"log score = {math.log(0.8 * 0.99):.3f} - cost / 10^3" in outcome.out
    costs = read_model(tmp_path / "s.wcsp")
    score = read_model(sprinkler).log_score([0, 1, 1])
    assert math.log(0.8 * 0.99) + costs.log_score([0, 1, 1]) / 1000 == pytest.approx(score, abs=2e-3)


def test_costs_beyond_the_range_of_potentials_are_scaled_to_fit_a_uai_file(
    costly: Path, tmp_path: Path
) -> None:
    outcome = run("convert", costly, tmp_path / "c.uai")
    assert outcome.code == 0
    assert "log scores multiplied by 0.1 to fit; write .lg to keep them exact" in outcome.out
    assert read_model(tmp_path / "c.uai").log_score([1, 0]) == pytest.approx(-700)
    assert run("convert", costly, tmp_path / "c.lg").out.endswith("c.lg: 2 variables, 2 factors\n")
    assert read_model(tmp_path / "c.lg").log_score([1, 0]) == -7000


def test_a_scale_can_be_chosen(costly: Path, tmp_path: Path) -> None:
    outcome = run("convert", costly, tmp_path / "c.uai", "--scale", 0.01)
    assert outcome.out.endswith("; log scores multiplied by 0.01\n")
    assert read_model(tmp_path / "c.uai").log_score([1, 0]) == pytest.approx(-70)
    both = run("convert", costly, tmp_path / "c.uai", "--scale", 2)
    assert "log scores multiplied by 0.1 to fit" in both.out


@pytest.mark.parametrize(
    ("target", "options", "code", "message"),
    [
        ("out.txt", [], 2, "models are written to files that end in .uai"),
        ("out.bif", [], 1, "only Bayesian networks can be written as BIF"),
        ("nowhere/out.uai", [], 1, "there is no directory"),
        (".", [], 1, "it is a directory"),
        ("out.uai", ["--scale", "0"], 2, "--scale must be a positive number; found 0"),
        ("out.uai", ["--scale", "nan"], 2, "--scale must be a positive number; found nan"),
        (
            "out.lg",
            ["--scale", "1.7e308"],
            2,
            "--scale: scale 1.7e+308 is too large: a finite entry of factor",
        ),
        ("out.wcsp", ["--precision", "99"], 2, "precision must be a number of digits in 0..15; found 99"),
    ],
)
def test_what_cannot_be_written_is_one_line(
    *, target: str, options: list[str], code: int, message: str, equal_pair: Path, tmp_path: Path
) -> None:
    outcome = run("convert", equal_pair, tmp_path / target, *options)
    assert outcome.code == code
    assert message in outcome.error


def test_a_precision_that_the_format_has_no_use_for_is_said(sprinkler: Path, tmp_path: Path) -> None:
    outcome = run("convert", sprinkler, tmp_path / "a.bif", "--precision", 2)
    assert outcome.code == 0
    assert outcome.out.endswith("; --precision has no effect on .bif: it is for .wcsp and .cfn\n")
    assert "--precision" not in run("convert", sprinkler, tmp_path / "a.bif").out


def test_json_says_what_was_written(sprinkler: Path, tmp_path: Path) -> None:
    facts = run("convert", sprinkler, tmp_path / "a.uai", "--scale", 2, "--json").json
    assert (facts["variables"], facts["factors"], facts["scale"]) == (3, 3, 2.0)
    assert facts["out"] == str(tmp_path / "a.uai")
    assert "log scores multiplied by 2" in facts["remarks"]


def test_what_a_cfn_file_loses_is_said(tmp_path: Path) -> None:
    source, labels = tmp_path / "a.xmlbif", [["10", "20"], ["a", "b"]]
    table = [((0,), np.log([0.5, 0.5])), ((1,), np.log([0.5, 0.5]))]
    write_model(GraphicalModel.from_tables([2, 2], table, ["1st", "b"], labels), source)
    said = run("convert", source, tmp_path / "a.cfn").out
    assert "names of variables are lost (in .cfn none may begin like a number)" in said
    assert "value labels of 1 variables are lost" in said
    assert "lost" not in run("convert", source, tmp_path / "a.bif").out
