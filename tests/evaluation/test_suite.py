from __future__ import annotations

from pathlib import Path

import pytest

from beacon.errors import FormatError
from beacon.evaluation.problem import SuiteNetwork, load_suite
from beacon.formats import read_model
from beacon.model.families import ising_grid
from tests.conftest import ROOT

PAPER = ROOT / "benchmarks" / "paper.toml"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "suite.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_papers_suite_has_its_25_networks_and_their_figures() -> None:
    networks = load_suite(PAPER)
    assert len(networks) == 25
    assert len({network.short_name for network in networks}) == 25
    by_name = {network.short_name: network for network in networks}
    assert (by_name["Grid80"].variables, by_name["Grid80"].factors) == (6400, 19040)
    assert by_name["BN-30"].published["improvement"]["beacon-greedy"] == [52.47, 53.62, 54.98, 55.41]
    assert by_name["BN-30"].published["seconds_per_step"]["gls+"] == [0.0040, 0.0001]
    assert {n.short_name for n in networks if n.stands_in_for} == {"Orc-100", "DL-5"}
    for network in networks:
        assert network.source.count("@") == 1
        assert network.published["steps"] == [500, 1000, 2000, 4000]
        assert all(len(values) == 4 for values in network.published["improvement"].values())
        assert set(network.published["gap_to_greedy_60s"]) >= {"toulbar2", "daoopt", "gls+"}


def test_the_papers_files_are_what_the_suite_expects(benchmark_files: Path) -> None:
    for network in load_suite(PAPER):
        file = network.find(benchmark_files)
        assert file is not None, network.name
        if network.short_name in {"BN-65", "Grid20", "Orc-100", "Pdg-18"}:  # the others take long to read
            assert network.surprise(read_model(file)) == ""


def test_a_file_is_found_compressed_and_in_a_subfolder(tmp_path: Path) -> None:
    network = SuiteNetwork("grid", "grid.uai")
    assert network.find(tmp_path) is None
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "grid.uai.xz").touch()
    assert network.find(tmp_path) == tmp_path / "more" / "grid.uai.xz"
    (tmp_path / "grid.uai").touch()
    assert network.find(tmp_path) == tmp_path / "grid.uai"


def test_counts_that_differ_are_named() -> None:
    model = ising_grid(rows=2, columns=2)
    assert SuiteNetwork("grid", "grid.uai", variables=4).surprise(model) == ""
    assert SuiteNetwork("grid", "g", variables=9).surprise(model) == "expected 9 variables, found 4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[network]\n", "expected a suite in TOML"),
        ("title = 'x'\n", r"expected a suite: a title and \[\[network\]\] tables; no \[\[network\]\] in it"),
        ("networks = 1\n[[network]]\nname = 'a'\nfile = 'b'\n", "unknown key 'networks'"),
        ("[[network]]\nname = 'a'\nfil = 'b'\n", "network 1: no key is called 'fil'; did you mean 'file'"),
        ("[[network]]\nname = 'a'\n", "network 1: expected 'file', found nothing"),
        (
            "[network]\nname = 'a'\nfile = 'b'\n",
            r"\[network\] needs two brackets, since there may be several",
        ),
        ("network = 3\n", r"expected a suite: a title and \[\[network\]\] tables"),
        ("network = [3]\n", "network 1: expected an object, found a whole number"),
        ("[[network]]\nname = 1\nfile = 'b'\n", "network 1: expected text as 'name', found a whole number"),
        ("[[network]]\nname = 'a'\nfile = 'b'\nsource = 2\n", "expected text as 'source'"),
        (
            "[[network]]\nname = 'a'\nfile = 'b'\nvariables = 'x'\n",
            "a whole number as 'variables', found text",
        ),
        ("[[network]]\nname = '../a'\nfile = 'b'\n", r"no slashes, and no dot .*; found '\.\./a'"),
        ("[[network]]\nname = '/a'\nfile = 'b'\n", "expected a name that can be a file's"),
        ("[[network]]\nname = '..'\nfile = 'b'\n", "expected a name that can be a file's"),
        ("[[network]]\nname = ''\nfile = 'b'\n", "expected a name that can be a file's"),
        ("[[network]]\nname='a'\nfile='b'\n[[network]]\nname='a'\nfile='c'\n", "two networks are called 'a'"),
    ],
)
def test_mistakes_in_a_suite_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        load_suite(written(tmp_path, text))
