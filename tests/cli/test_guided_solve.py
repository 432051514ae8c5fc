"""``beacon solve`` with a guide: what its options do, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.formats import read_model, write_model
from beacon.guide.checkpoint import update_tuned
from beacon.guide.fast_guide import FastGuide
from beacon.guide.trivial import FrequencyGuide
from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.stop import MaxSteps
from beacon.solver import solve_many
from tests.cli.helpers import Outcome, run
from tests.guide.helpers import evidence_of, random_states, random_weights

QUERIES = evidence_of(random_states(ising_grid(6, 6, seed=3), 4, seed=1, share=0.2))


class Files:
    """A model with queries and a guide in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.model_file, self.guide = folder, folder / "grid.uai", folder / "guide"
        write_model(ising_grid(6, 6, seed=3), self.model_file)
        self.model: GraphicalModel = read_model(self.model_file)
        rows = [[len(query), *(number for pair in query.items() for number in pair)] for query in QUERIES]
        lines = [" ".join(map(str, row)) for row in [[len(QUERIES)], *rows]]
        (folder / "q.evid").write_text("\n".join(lines) + "\n")
        FastGuide(self.model, random_weights(self.model)).save(self.guide)

    def solve(self, *options: object, steps: int = 60) -> Outcome:
        evidence = ("--evid", self.folder / "q.evid")
        return run("solve", self.model_file, *evidence, "--steps", steps, "--json", *options)

    def found(self, *options: object, steps: int = 60) -> list[Any]:
        outcome = self.solve("--guide", self.guide, *options, steps=steps)
        assert (outcome.code, outcome.err) == (0, "")
        return [(result["method"], result["assignment"]) for result in outcome.json["results"]]

    def expected(self, use: GuideUse | None, strategy: str, steps: int = 60, **options: Any) -> list[Any]:
        results = solve_many(
            self.model,
            QUERIES,
            guide=None if use is None else self.guide,
            use=use,
            strategy=strategy,
            stop=MaxSteps(steps),
            **options,
        )
        return [(result.method, result.assignment.tolist()) for result in results]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_guide_that_was_never_tuned_chooses_the_start(files: Files) -> None:
    assert files.found() == files.expected(GuideUse(), "auto")
    assert files.found("--start", "guide", steps=0) == files.found(steps=0)
    assert files.found("--start", "random") == files.expected(None, "auto")


def test_a_start_from_the_guide_is_where_it_would_begin(files: Files) -> None:
    ones = np.ones((3, 36), dtype=np.int64)
    guide = FrequencyGuide.from_references(files.model, ones, np.zeros((3, 36), dtype=np.bool_))
    guide.save(files.guide)
    for (_, assignment), evidence in zip(files.found("--method", "gls+", steps=0), QUERIES, strict=True):
        assert assignment == [evidence.get(i, 1) for i in range(36)]


@pytest.mark.parametrize(
    ("options", "use"),
    [
        (["--lambda", 0.7], GuideUse("guide", 0.7)),
        (["--lambda", 1, "--candidates", "all"], GuideUse("guide", 1.0, "all")),
        (["--lambda", 0.5, "--refresh", 20], GuideUse("guide", 0.5, refresh=20)),
        (["--restart-from", "guide", "--start", "random"], GuideUse("random", restart_from="guide")),
    ],
)
def test_options_say_what_the_guide_is_asked_for(files: Files, options: list[Any], use: GuideUse) -> None:
    assert files.found(*options, steps=300) == files.expected(use, "gls+", 300)


def test_tuned_settings_are_used_unless_options_say_otherwise(files: Files) -> None:
    tuned = GuideUse("random", 0.7, "all")
    update_tuned(files.guide, {"strategy": "greedy", "use": tuned.to_dict()})
    assert files.found() == files.expected(tuned, "greedy")
    assert files.found("--lambda", 0.2) == files.expected(GuideUse("random", 0.2, "all"), "greedy")
    assert files.found("--start", "guide") == files.expected(GuideUse("guide", 0.7, "all"), "greedy")
    assert files.found("--method", "gls+") == files.expected(tuned, "gls+")
    assert files.found("--lambda", 0) == files.expected(None, "greedy")


def test_a_start_from_a_file_outranks_the_guide(files: Files) -> None:
    start = files.folder / "start.MPE"
    start.write_text("MPE\n36 " + " ".join("0" * 36) + "\n")
    options = ("--guide", files.guide, "--method", "gls+", "--steps", 0, "--start", start, "--json")
    assert run("solve", files.model_file, *options).json["assignment"] == [0] * 36


def test_one_query_with_a_guide_has_the_fields_of_one_without(files: Files) -> None:
    plain = run("solve", files.model_file, "--steps", 20, "--json").json
    guided = run("solve", files.model_file, "--steps", 20, "--json", "--guide", files.guide).json
    assert guided.keys() == plain.keys()
    assert guided["log_score"] == pytest.approx(files.model.log_score(guided["assignment"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lambda", 0.5], "--lambda needs a guide; give one with --guide DIR (made by `beacon train`)"),
        (["--refresh", 0], "--refresh needs a guide"),
        (["--candidates", "all"], "--candidates needs a guide"),
        (["--restart-from", "guide"], "--restart-from needs a guide"),
        (["--start", "guide"], "--start guide needs a guide"),
        (["--lambda", 1, "--start", "guide"], "--lambda, --start guide need a guide"),
    ],
)
def test_options_of_a_guide_need_one(files: Files, options: list[Any], message: str) -> None:
    outcome = files.solve(*options)
    assert (outcome.code, outcome.error[: len(message)]) == (2, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lambda", 1.5], "the weight of a guide must be a number from 0 to 1; found 1.5"),
        (["--refresh", -1], "--refresh must be a whole number of at least 0; found -1"),
        (["--candidates", "few"], "candidates must be 'all' or 'improving'; found 'few'"),
        (["--restart-from", "here"], "--restart-from must be 'random' or 'guide'; found 'here'"),
        (["--lambda", 0.5, "--method", "tree"], "only 'greedy' and 'gls+' heed a guide's scores"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(files: Files, options: list[Any], message: str) -> None:
    outcome = files.solve("--guide", files.guide, *options)
    assert outcome.code == 2
    assert message in outcome.error


def test_a_guide_of_another_model_is_refused(files: Files) -> None:
    other = ising_grid(6, 6, seed=4)
    FastGuide(other, random_weights(other)).save(files.guide)
    outcome = files.solve("--guide", files.guide)
    assert outcome.code == 1
    assert f"{files.guide}: this guide is for another model: its fingerprint is " in outcome.error


def test_a_guide_that_is_not_there_is_named(files: Files) -> None:
    outcome = files.solve("--guide", "nowhere")
    assert outcome.code == 1
    assert outcome.error == "cannot read nowhere: no such folder; make a guide with `beacon train`"
