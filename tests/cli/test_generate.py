from __future__ import annotations

from pathlib import Path

import pytest

from beacon.formats import read_model
from beacon.io.settings import items_to_settings, settings_of
from beacon.model.families import FAMILIES, ising_grid
from tests.cli.helpers import run


def test_settings_and_seed_reach_the_family(tmp_path: Path) -> None:
    target = tmp_path / "g.uai"
    settings = ["--set", "rows=3", "--set", "columns=4", "--set", "wrap=yes", "--set", "coupling=2"]
    outcome = run("generate", "grid", "-o", target, "--seed", 7, *settings)
    assert outcome == (0, f"wrote {target}: 12 variables, 36 factors\n", "")
    wanted = ising_grid(3, 4, coupling=2.0, wrap=True, seed=7)
    assert read_model(target).fingerprint == wanted.fingerprint


def test_layers_are_listed_with_commas(tmp_path: Path) -> None:
    layers = ["--set", "width=2", "--set", "height=2", "--set", "hidden=3,2"]
    assert run("generate", "dbn", "-o", tmp_path / "d.uai", *layers).code == 0
    assert read_model(tmp_path / "d.uai").num_variables == 2 * 2 + 3 + 2


def test_the_list_names_every_family_and_setting_as_it_is_typed() -> None:
    outcome = run("generate", "--list")
    assert outcome.code == 0
    for family, make in FAMILIES.items():
        assert f"{family}: " in outcome.out
        assert all(f"--set {name}=" in outcome.out for name in settings_of(make) if name != "seed")
    assert "--set hidden=12,20,6" in outcome.out
    assert "--set wrap=false" in outcome.out


def test_every_listed_default_is_accepted_as_it_stands() -> None:
    items = [line.split()[1] for line in run("generate", "--list").out.splitlines() if "--set" in line]
    for make in FAMILIES.values():
        known = settings_of(make)
        own = [item for item in items if item.partition("=")[0] in known]
        assert items_to_settings(own, known).keys() == known.keys() - {"seed"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "expected a family and -o OUT; `beacon generate --list` shows the families"),
        (["grid"], "expected a family and -o OUT"),
        (["gird", "-o", "OUT"], "no family is called 'gird'; did you mean 'grid'?"),
        (["zzz", "-o", "OUT"], "no family is called 'zzz'; there are: grid, diagnosis"),
        (["grid", "-o", "OUT", "--set", "row=3"], "no setting is called 'row'; did you mean 'rows'?"),
        (["grid", "-o", "OUT", "--set", "rows"], "expected a setting as KEY=VALUE, found 'rows'"),
        (["grid", "-o", "OUT", "--set", "rows=x"], "rows must be a whole number; found 'x'"),
        (["grid", "-o", "OUT", "--set", "rows=0"], "rows must be a whole number from 1"),
        (["grid", "-o", "OUT", "--set", "field=x"], "field must be a number; found 'x'"),
        (["grid", "-o", "OUT", "--set", "wrap=perhaps"], "wrap must be true or false; found 'perhaps'"),
        (
            ["dbn", "-o", "OUT", "--set", "hidden=3,x"],
            "hidden must be whole numbers with commas between them; found '3,x'",
        ),
        (["grid", "-o", "OUT", "--seed", "-1"], "--seed must be at least 0; found -1"),
    ],
)
def test_wrong_requests_are_one_line(args: list[str], message: str, tmp_path: Path) -> None:
    outcome = run("generate", *(str(tmp_path / "g.uai") if arg == "OUT" else arg for arg in args))
    assert outcome.code == 2
    assert message in outcome.error
    assert not (tmp_path / "g.uai").exists()


def test_an_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    outcome = run("generate", "grid", "-o", tmp_path / "nowhere" / "g.uai")
    assert outcome.code == 1
    assert f"there is no directory {tmp_path / 'nowhere'}" in outcome.error


def test_json_says_what_was_made_and_what_can_be(tmp_path: Path) -> None:
    facts = run("generate", "grid", "-o", tmp_path / "g.uai", "--set", "rows=3", "--seed", 4, "--json").json
    assert (facts["family"], facts["seed"], facts["variables"]) == ("grid", 4, 60)
    assert run("generate", "--list", "--json").json["grid"]["rows"] == 20
