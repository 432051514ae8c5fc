"""No command writes over a file that it reads, however the two paths are spelled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from beacon.io.files import check_writable
from tests.cli.helpers import run
from tests.cli.workshop import furnish


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("kept")
    here = Path.cwd()
    os.chdir(folder)
    furnish(folder)
    Path("run/report.html").symlink_to("evaluation.parquet")
    Path("guide.unfinished").write_bytes(Path("trajectories.parquet").read_bytes())
    yield folder
    os.chdir(here)


COMMANDS = (
    ("sprinkler.bif", "convert sprinkler.bif {}"),
    ("sprinkler.uai", "convert sprinkler.uai {} --scale 2"),
    ("sprinkler.bif", "queries sprinkler.bif -o {} --count 2"),
    ("sprinkler.bif", "collect sprinkler.bif queries.parquet -o {} --steps 0"),
    ("queries.parquet", "collect sprinkler.bif queries.parquet -o {} --steps 0"),
    ("sprinkler.uai", "solve sprinkler.uai -o {} --steps 5"),
    ("sprinkler.evid", "solve sprinkler.uai --evid sprinkler.evid -o {} --steps 5"),
    ("sprinkler.MPE", "solve sprinkler.uai --start sprinkler.MPE -o {} --steps 5"),
    ("guide/guide.json", "solve sprinkler.bif --guide guide -o {} --steps 5"),
    ("sprinkler.uai", "uai sprinkler.uai - - MPE -o {} --time 0.1"),
    ("sprinkler.evid", "uai sprinkler.uai sprinkler.evid - MPE -o {} --time 0.1"),
    ("nothing", "uai sprinkler.uai - nothing MPE -o {} --time 0.1"),
)


@pytest.mark.parametrize(("file", "command"), COMMANDS)
def test_an_input_is_never_written_over(file: str, command: str, workshop: Path) -> None:
    before = Path(file).read_bytes()
    linked = workshop / f"link-to-{Path(file).name}"
    linked.unlink(missing_ok=True)
    linked.symlink_to(workshop / file)
    for spelling in (file, f"./{file}", f"run/../{file}", str(workshop / file), linked.name):
        outcome = run(*command.replace("{}", spelling).split())
        assert outcome.code == 2
        assert outcome.error.endswith(": this command reads that file; choose another name")
        assert Path(file).read_bytes() == before
        assert linked.is_symlink()


@pytest.mark.usefixtures("workshop")
def test_a_default_name_is_no_excuse() -> None:
    trajectories = Path("sets/trajectories.parquet")
    trajectories.parent.mkdir()
    trajectories.write_bytes(Path("queries.parquet").read_bytes())
    outcome = run("collect", "sprinkler.bif", trajectories, "--steps", 0)
    assert (outcome.code, "this command reads that file" in outcome.error) == (2, True)
    assert trajectories.read_bytes() == Path("queries.parquet").read_bytes()


@pytest.mark.usefixtures("workshop")
def test_of_many_solutions_none_is_written_over_an_input() -> None:
    table = Path("patients.1.MPE")
    table.write_bytes(Path("patients.csv").read_bytes())
    outcome = run("solve", "sprinkler.bif", "--table", table, "-o", "patients.MPE", "--steps", 5)
    assert (outcome.code, "cannot write patients.1.MPE: " in outcome.error) == (2, True)
    assert table.read_bytes() == Path("patients.csv").read_bytes()
    assert not Path("patients.0.MPE").exists()


@pytest.mark.usefixtures("workshop")
def test_a_table_of_answers_is_not_written_over_the_table_of_queries() -> None:
    before = Path("patients.csv").read_bytes()
    outcome = run("solve", "sprinkler.bif", "--table", "patients.csv", "-o", "patients.csv", "--steps", 5)
    assert (outcome.code, "cannot write patients.csv: " in outcome.error) == (2, True)
    assert Path("patients.csv").read_bytes() == before


@pytest.mark.usefixtures("workshop")
def test_an_unfinished_training_does_not_replace_the_trajectories_it_reads() -> None:
    before = Path("guide.unfinished").read_bytes()
    command = "train sprinkler.bif queries.parquet --trajectories guide.unfinished -o guide --preset fast"
    outcome = run(*command.split())
    assert (outcome.code, "cannot write guide.unfinished: " in outcome.error) == (2, True)
    assert Path("guide.unfinished").read_bytes() == before


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize("page", ["run/evaluation.parquet", "run/run.json", "suite.toml", "page"])
def test_a_report_is_written_to_a_page(page: str) -> None:
    before = Path(page).read_bytes() if Path(page).exists() else None
    outcome = run("report", "run", "--suite", "suite.toml", "-o", page)
    assert (outcome.code, outcome.error) == (2, f"expected -o FILE.html for the page, found {page}")
    assert (Path(page).read_bytes() if Path(page).exists() else None) == before


@pytest.mark.usefixtures("workshop")
def test_a_page_that_is_a_link_to_the_results_is_refused() -> None:
    before = Path("run/evaluation.parquet").read_bytes()
    outcome = run("report", "run")
    assert (outcome.code, "this command reads that file" in outcome.error) == (2, True)
    assert Path("run/evaluation.parquet").read_bytes() == before


def test_a_device_may_be_read_and_written() -> None:
    check_writable("/dev/null", ["/dev/null", None])
