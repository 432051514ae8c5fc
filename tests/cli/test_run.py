"""``beacon run``: every stage once, whatever happens in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.evaluation.evaluation import Evaluation
from beacon.formats import read_model, write_model
from beacon.guide.checkpoint import load_guide
from beacon.guided.guide import States
from beacon.io.work_folder import folder_lock
from beacon.learn.trajectories import Trajectories
from beacon.model.families import random_bayes_net
from beacon.query.query_set import QuerySet
from beacon.report.comparisons import budget_table
from tests.cli.helpers import Outcome, run, start_process
from tests.conftest import ROOT

STAGES = ["queries", "collect", "train", "tune", "evaluate", "report"]
FILES = ["queries.parquet", "trajectories.parquet", "guide", "evaluation.parquet", "run.json", "report.html"]
CONFIG = """\
seed = 3
[queries]
count = 30
query_ratio = [0.5, 0.8]
[teacher]
steps = 200
[collect]
steps = 20
restart_interval = 10
[train]
preset = "fast"
max_epochs = 3
[tune]
steps = [5, 40]
queries = 3
[evaluate]
steps = [5, 40]
seconds = []
methods = ["gls+", "beacon-gls+", "beacon"]
"""


class Files:
    """A small model and a configuration."""

    def __init__(self, folder: Path) -> None:
        self.model, self.config, self.out = folder / "net.bif", folder / "run.toml", folder / "out"
        write_model(random_bayes_net(num_variables=12, max_domain=3, zero_fraction=0.1, seed=1), self.model)
        self.config.write_text(CONFIG, encoding="utf-8")

    def run(self, *more: object, out: Path | None = None) -> Outcome:
        return run("run", self.model, "-o", out or self.out, "--config", self.config, *more)

    def content(self, folder: Path) -> dict[str, Any]:
        """All that does not depend on the clock."""
        model = read_model(self.model)
        queries = QuerySet.load(folder / "queries.parquet", model)
        trajectories = Trajectories.load(folder / "trajectories.parquet", model, queries)
        states = States(queries.samples.astype(np.int64), queries.observed)
        return {
            "observed": queries.observed.tolist(),
            "references": trajectories.references.tolist(),
            "flips": trajectories.flip_variables.tolist(),
            "scores": load_guide(folder / "guide", model).score(states).tolist(),
        }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """A run from its beginning to its end, not to be changed."""
    files = Files(tmp_path_factory.mktemp("finished"))
    outcome = files.run()
    assert outcome.code == 0, outcome.err
    return files


@pytest.fixture
def files(finished: Files, tmp_path: Path) -> Files:
    """A copy of the finished run."""
    shutil.copytree(finished.model.parent, tmp_path / "copy")
    copy = Files.__new__(Files)
    copy.model, copy.config, copy.out = (
        tmp_path / "copy" / path.name for path in (finished.model, finished.config, finished.out)
    )
    return copy


def stages_of(outcome: Outcome) -> dict[str, str]:
    """What each stage's line says in its column of times."""
    lines = [line.split() for line in outcome.out.splitlines() if line.split(" ")[0] in STAGES]
    return {words[0]: words[1] for words in lines}


def stamps(folder: Path) -> dict[str, int]:
    return {name: (folder / name).stat().st_mtime_ns for name in FILES if name != "run.json"}


def test_a_run_leaves_all_its_files_and_a_record_of_how_they_were_made(finished: Files) -> None:
    assert set(FILES) == {path.name for path in finished.out.iterdir()}
    page = (finished.out / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "beacon-gls+" in page
    facts = json.loads((finished.out / "run.json").read_text(encoding="utf-8"))
    record = facts["pipeline"]
    assert list(record["stages"]) == STAGES
    assert all(stage["is_complete"] and stage["seconds"] >= 0 for stage in record["stages"].values())
    assert record["seed"] == 3
    assert record["configuration"]["teacher"]["steps"] == 200
    assert record["configuration"]["train"]["max_epochs"] == 3
    assert {"beacon", "python", "packages", "processor", "cores"} <= record["sessions"][0].keys()
    assert load_guide(finished.out / "guide", read_model(finished.model)).facts["tuned"]["strategy"]


def test_the_same_command_does_nothing_new(files: Files) -> None:
    before = stamps(files.out)
    outcome = files.run()
    assert outcome.code == 0
    assert stages_of(outcome) == dict.fromkeys(STAGES, "done")
    assert stamps(files.out) == before
    assert "Below the best known, by steps" in " ".join(outcome.out.split())
    assert f"wrote {files.out / 'report.html'}" in outcome.out.replace("\n", "")


def test_json_is_one_object(files: Files) -> None:
    outcome = files.run("--json", "--quiet")
    assert outcome.err == ""
    answer = outcome.json
    assert answer["report"] == str(files.out / "report.html")
    assert answer["step_budgets"] == [5, 40]
    assert set(answer["mean_scores"]) == {"gls+", "beacon-gls+", "beacon"}
    assert all(len(scores["steps"]) == 2 for scores in answer["mean_scores"].values())
    assert list(answer["stages"]) == STAGES


def test_the_tables_of_a_run_hold_mean_differences_to_the_best_score_of_each_query(finished: Files) -> None:
    results = Evaluation.load(finished.out)
    table = budget_table(results, "net", "step")
    assert table.columns == ("method", "5", "40")
    best = {k: max(record.score for record in results.records if record.query == k) for k in range(3)}
    for method, *cells in table.rows:
        for place, cell in enumerate(cells):
            found = [r for r in results.records if r.method == method.text]
            differences = [best[r.query] - r.step_scores[place] for r in found]
            assert cell.value == pytest.approx(sum(differences) / 3)


def test_a_lost_file_is_made_again_with_all_that_depends_on_it(files: Files) -> None:
    before = files.content(files.out)
    shutil.rmtree(files.out / "guide")
    done = stages_of(files.run())
    assert [stage for stage, time in done.items() if time == "done"] == ["queries", "collect"]
    assert files.content(files.out) == before


def test_other_settings_are_refused_unless_they_are_to_be_redone(files: Files) -> None:
    before = stamps(files.out)
    refused = files.run("--set", "train.width=8")
    assert refused.code == 2
    assert "holds a run with other settings: train.width was 64, now 8; go on with that" in refused.error
    assert "give --redo to do it again from the stage 'train' on" in refused.error
    assert stamps(files.out) == before
    done = stages_of(files.run("--set", "train.width=8", "--redo"))
    assert [stage for stage, time in done.items() if time == "done"] == ["queries", "collect"]
    assert files.run("--set", "train.width=8").code == 0


def test_another_seed_and_another_model_are_refused(files: Files) -> None:
    assert "a run with another seed (3, now 4)" in files.run("--seed", 4).error
    write_model(random_bayes_net(num_variables=11, seed=2), files.model)
    assert "a run on another model" in files.run().error


def test_settings_of_stages_to_come_may_change(files: Files) -> None:
    for name in ("guide", "evaluation.parquet", "report.html"):
        path = files.out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    record = json.loads((files.out / "run.json").read_text())
    for stage in STAGES[2:]:
        del record["pipeline"]["stages"][stage]
    record |= {"networks": {}, "methods": {}}  # as before the evaluation began
    (files.out / "run.json").write_text(json.dumps(record))
    assert files.run("--set", "evaluate.limit=2", "--set", "train.max_epochs=2").code == 0


@pytest.mark.parametrize("victim", ["queries.parquet", "guide"])
def test_a_killed_run_goes_on_to_the_same_end(finished: Files, tmp_path: Path, victim: str) -> None:
    out = tmp_path / "killed"
    command = ["run", finished.model, "-o", out, "--config", finished.config]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"}
    with start_process(*command, env=environment, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not (out / victim).exists():
            time.sleep(0.005)
        process.kill()
    assert (out / victim).exists()
    outcome = finished.run(out=out)
    assert outcome.code == 0, outcome.err
    assert stages_of(outcome)["report"] != "done"
    assert finished.content(out) == finished.content(finished.out)


def test_ctrl_c_is_one_line_and_the_same_command_goes_on(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*args: object, **settings: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "new"
    monkeypatch.setattr("beacon.learn.fast.train_fast", interrupted)
    outcome = files.run(out=out)
    assert outcome.code == 130
    assert outcome.err.endswith("beacon: interrupted\n")
    assert list(stages_of(outcome)) == ["queries", "collect"]
    monkeypatch.undo()
    done = stages_of(files.run(out=out))
    assert [stage for stage, time in done.items() if time == "done"] == ["queries", "collect"]


def test_a_training_that_was_stopped_goes_on_and_is_not_taken_for_done(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beacon.learn.attention import Trainer  # noqa: PLC0415

    text = CONFIG.replace('"fast"', '"small"').replace("max_epochs", "epochs")
    files.config.write_text(text, encoding="utf-8")
    out, epoch = tmp_path / "new", Trainer.epoch

    def interrupted(self: Trainer, forward: Any, state: Any) -> Any:
        if len(state.history) == 2:
            signal.raise_signal(signal.SIGINT)
        return epoch(self, forward, state)

    monkeypatch.setattr(Trainer, "epoch", interrupted)
    assert files.run("--device", "cpu", out=out).code == 130
    assert (out / "guide.unfinished").exists()
    assert not (out / "guide").exists()
    monkeypatch.undo()
    outcome = files.run("--device", "cpu", out=out)
    assert outcome.code == 0, outcome.err
    history = load_guide(out / "guide", read_model(files.model), "cpu").facts["history"]
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert set(FILES) == {path.name for path in out.iterdir()}


def test_two_processes_cannot_share_a_folder(files: Files) -> None:
    with folder_lock(files.out):
        outcome = files.run()
    assert outcome.code == 1
    assert outcome.error == (
        f"{files.out} is being worked on by process {os.getpid()}; wait for it, or use another folder"
    )
    assert files.run().code == 0


def test_what_others_have_put_there_is_not_touched(files: Files, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "queries.parquet").write_text("mine")
    assert "is there already, and not from a run" in files.run(out=out).error
    assert (out / "queries.parquet").read_text() == "mine"
    shutil.copy(files.out / "run.json", out / "run.json")
    record = json.loads((out / "run.json").read_text())
    del record["pipeline"]
    (out / "run.json").write_text(json.dumps(record))
    assert "holds an evaluation by itself, no run" in files.run(out=out).error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[trian]\npreset = 'fast'", "no section is called 'trian'; did you mean 'train'?"),
        ("[train]\nprest = 'fast'", "[train] has no setting 'prest'; did you mean 'preset'?"),
        (
            "[train]\npreset = 'fast'\nepochs = 3",
            "[train] has no setting 'epochs'; did you mean 'max_epochs'?",
        ),
        ("[queries]\ncount = 'many'", "queries.count must be a whole number; found 'many'"),
        ("[queries]\nquery_ratio = [0.1]", "queries.query_ratio must be 2 numbers; found [0.1]"),
        ("[evaluate]\nsteps = [0.5]", "evaluate.steps must be a list, each a whole number; found [0.5]"),
        ("[evaluate]\nmethods = ['auto']\nlambdas = [0.5]", "found neither among the methods"),
        ("[evaluate]\nmethods = ['gsl+']", "no method is called 'gsl+'; did you mean 'gls+'?"),
        ("[collect]\nsteps = 7\nrestart_interval = 2", "restart_interval must divide steps"),
        ("[train]\npreset = 'huge'", "presets are solved, fast, small, paper; found 'huge'"),
        ("train = 3", "expected a section [train]; found train = 3"),
        ("sed = 3", "no section is called 'sed'"),
        ("[train", "expected settings in TOML"),
        ("seed = -1", "seed must be a whole number of at least 0; found -1"),
    ],
)
def test_wrong_configurations_are_one_line(text: str, message: str, tmp_path: Path, sprinkler: Path) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text(text, encoding="utf-8")
    outcome = run("run", sprinkler, "-o", tmp_path / "out", "--config", config)
    assert outcome.code in {1, 2}
    assert message in outcome.error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("train", "--set: expected SECTION.KEY=VALUE, found 'train'"),
        ("train.width", "--set: expected SECTION.KEY=VALUE, found 'train.width'"),
        ("tuen.queries=3", "--set: no section is called 'tuen'; did you mean 'tune'?"),
        ("tune.querys=3", "--set: [tune] has no setting 'querys'; did you mean 'queries'?"),
        ("tune.queries=few", "--set: tune.queries must be a whole number; found 'few'"),
    ],
)
def test_wrong_items_are_one_line(item: str, message: str, tmp_path: Path, sprinkler: Path) -> None:
    outcome = run("run", sprinkler, "-o", tmp_path / "out", "--set", item)
    assert (outcome.code, outcome.error) == (2, message)
