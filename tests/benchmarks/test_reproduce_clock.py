"""Guided searches by the clock report what was known at each mark, and what remains of a job is found."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import reproduce
import reproduce_clock
from lockstep import Lockstep
from pages import rows_of
from reproduce_clock import MARKS, Raced, chosen_uses, follow, race
from reproduce_stages import Job

from beacon.guided.guidance import GuideUse
from beacon.model.families import ising_grid
from beacon.model.flat import compile_model
from beacon.strategies.strategy import make_strategy

JOB = Job("Promedas_62", "own", 0)


def test_a_mark_gets_what_was_best_when_it_had_come() -> None:
    flat = compile_model(ising_grid(5, 5))
    use = GuideUse(start="random", weight=0.5, refresh=1)
    starts = [np.zeros(25, np.int64), np.ones(25, np.int64)]
    group = Lockstep(flat, make_strategy("gls+"), [{}, {}], starts, [use], 0)
    times, seen = iter(range(1000)), []

    def clock() -> float:
        seen.append(group.best[0].copy())
        return next(times)

    raced = follow(group, lambda x, _, moves: np.zeros(moves.shape, np.float32), (3.0, 20.0), clock)
    assert raced.steps == 3 + 16  # the mark that ends a stretch costs a look at the clock, too
    assert np.array_equal(raced.scores[0], seen[2])
    assert np.array_equal(raced.scores[1], seen[-2])
    assert (raced.scores[1] >= raced.scores[0]).all()
    assert (raced.seconds > 0).all()
    assert (raced.seconds < 20).all()


def _args(tmp_path: Path, **more: Any) -> argparse.Namespace:
    folders = {name: tmp_path / name for name in ("results", "run", "race")}
    for folder in folders.values():
        folder.mkdir()
    return argparse.Namespace(**{**folders, "race_queries": 2, **more})


def test_a_finished_job_is_only_trained_again_for_its_race(tmp_path: Path) -> None:
    args = _args(tmp_path)
    folder = args.run / JOB.name
    shop: Any = SimpleNamespace(job=JOB, args=args, file=folder.joinpath)
    assert reproduce._stages_left(shop) == ["train", "tune", "test", "race"]
    chosen = {"greedy": GuideUse(weight=0.7).to_dict()}
    (args.results / f"{JOB.name}.json").write_text(json.dumps({"tune": {"chosen": chosen}}))
    assert reproduce._stages_left(shop) == ["train", "race"]
    assert chosen_uses(shop)["greedy"].weight == 0.7
    assert not reproduce._is_finished(JOB, args)
    reproduce_clock.race_file(JOB, args).touch()
    assert reproduce._is_finished(JOB, args)


def test_a_race_leaves_a_row_for_each_query_of_each_strategy(tmp_path: Path, monkeypatch: Any) -> None:
    args = _args(tmp_path)
    shop: Any = SimpleNamespace(job=JOB, args=args, split=lambda _: ([{0: 1}, {0: 0}, {1: 1}], None, None))
    uses = {"greedy": GuideUse(), "gls+": GuideUse()}
    monkeypatch.setattr(reproduce_clock, "chosen_uses", lambda _: uses)
    scores = [np.array([-3.0, -2.0 + k]) for k in range(len(MARKS))]
    raced = Raced(scores, np.array([0.5, 20.0]), 17)
    monkeypatch.setattr(reproduce_clock, "race_by_clock", lambda *_: raced)
    race(shop)
    rows = rows_of(args.race / f"{JOB.name}.csv")
    assert [(row["method"], row["query"]) for row in rows] == [
        ("BEACON-Greedy", "0"),
        ("BEACON-Greedy", "1"),
        ("BEACON-GLS+", "0"),
        ("BEACON-GLS+", "1"),
    ]
    assert rows[1]["at 0.1"] == "-2"
    assert rows[1]["score"] == "1"
    assert rows[1]["seconds"] == "20"
    assert {row["steps"] for row in rows} == {"17"}
