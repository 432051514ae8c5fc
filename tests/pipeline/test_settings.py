"""Settings of a run: from files, items and options, over the defaults of the stages."""

from __future__ import annotations

from pathlib import Path

from beacon.pipeline.settings import SECTIONS, RunSettings, gathered, make_settings, seed_of
from tests.cli.test_run import CONFIG
from tests.conftest import ROOT


def test_without_any_settings_a_run_has_the_defaults() -> None:
    assert make_settings({}) == RunSettings()


def test_the_example_configuration_is_complete_and_holds_the_defaults() -> None:
    example = gathered(str(ROOT / "examples" / "run.toml"), [], {})
    assert set(example) == {"", *SECTIONS}
    assert make_settings(example) == make_settings({})


def test_options_stand_above_items_and_items_above_the_file(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(CONFIG, encoding="utf-8")
    items = ["queries.count=40", "evaluate.steps=5,6", "evaluate.methods=gls+,beacon", "tune.seconds=0.1"]
    sections = gathered(str(config), [*items, "tune.steps=[]"], {"queries.count": 50, ".seed": None})
    settings = make_settings(sections)
    assert (settings.count, seed_of(sections)) == (50, 3)
    assert settings.evaluate.steps == (5, 6)
    assert settings.evaluate.methods == ("gls+", "beacon")
    assert settings.tune.seconds == (0.1,)
