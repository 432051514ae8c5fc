"""The settings of a run: a section for each stage, mapped to the settings that the stages have anyway."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from inspect import signature
from typing import Any, NamedTuple

from beacon.errors import FormatError, UsageError, check_count, check_seed
from beacon.evaluation.settings import EvaluateSettings, check_weights
from beacon.io.files import parse_toml, read_parsed
from beacon.io.settings import Setting, check_known, closest, converted, guessed, settings_of
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.train import (
    FastSettings,
    Preset,
    SolvedSettings,
    TrainingSettings,
    check_preset,
    load_preset,
    train,
)
from beacon.learn.tune import TuneSettings
from beacon.query.query_set import DEFAULT_COUNT, QuerySettings
from beacon.query.sampling import GibbsSettings

SECTIONS = ("queries", "teacher", "collect", "train", "tune", "evaluate")
DEFAULT_PRESET: str = signature(train).parameters["preset"].default
DEFAULT_EVALUATION = EvaluateSettings(
    methods=("greedy", "gls+", "auto", "beacon-gls+", "beacon"), seconds=(0.001, 0.01, 0.1, 1.0)
)


class Given(NamedTuple):
    """A value that the user chose, and where."""

    value: Any
    place: str
    """The file or the option, for messages."""


Sections = dict[str, dict[str, Given]]


@dataclass(frozen=True)
class RunSettings:
    """All that decides what a run makes, seed apart.

    >>> import beacon
    >>> beacon.RunSettings(count=300, preset="fast").configuration["queries"]["count"]
    300
    """

    count: int = DEFAULT_COUNT
    """Number of queries."""
    queries: QuerySettings = field(default_factory=QuerySettings)
    collect: CollectSettings = field(default_factory=CollectSettings)
    preset: str = DEFAULT_PRESET
    """The guide: fast sees the evidence alone; small and paper, the attention network, see states."""
    train: Preset | None = None
    """How it is trained; None: as the preset says."""
    tune: TuneSettings = field(default_factory=TuneSettings)
    evaluate: EvaluateSettings = DEFAULT_EVALUATION
    """What is measured on the test queries."""

    def __post_init__(self) -> None:
        check_count("queries.count", self.count, 1)
        check_preset(self.preset)
        check_weights(self.evaluate.lambdas, self.evaluate.methods)
        if self.train is None:
            object.__setattr__(self, "train", load_preset(self.preset))

    @property
    def configuration(self) -> dict[str, dict[str, Any]]:
        """Every setting of every section, as JSON has it."""
        queries, collect = asdict(self.queries), asdict(self.collect)
        sections = {
            "queries": {"count": self.count, **queries.pop("gibbs"), **queries},
            "teacher": collect.pop("teacher"),
            "collect": collect,
            "train": {"preset": self.preset, **_train_facts(self.train)},
            "tune": asdict(self.tune),
            "evaluate": asdict(self.evaluate),
        }
        plain: dict[str, dict[str, Any]] = json.loads(json.dumps(sections))
        return plain


def _changed(preset: Any, changes: dict[str, Any]) -> Any:
    """A preset with other settings, by their own names."""
    is_plain = isinstance(preset, FastSettings | SolvedSettings)
    return replace(preset, **changes) if is_plain else preset.changed(**changes)


def _train_facts(settings: Any) -> dict[str, Any]:
    if isinstance(settings, FastSettings | SolvedSettings):
        return asdict(settings)
    return {**asdict(settings.training), "network": asdict(settings.network)}


def gathered(
    config: str | os.PathLike[str] | None, items: Sequence[str], options: Mapping[str, Any]
) -> Sections:
    """What a file says, then ``--set``, then options such as ``{"train.preset": "fast"}`` (None: nothing)."""
    sections = read_sections(config) if config is not None else {}
    for item in items:
        name, sign, text = item.partition("=")
        section, dot, key = name.strip().partition(".")
        if not (sign and dot):
            raise UsageError(f"--set: expected SECTION.KEY=VALUE, found {item!r}")
        check_known(section, SECTIONS, f"--set: no section is called {section!r}")
        sections.setdefault(section, {})[key] = Given(guessed(text.strip()), "--set")
    for name, value in options.items():
        section, _, key = name.rpartition(".")
        if section:
            check_known(section, SECTIONS, f"no section is called {section!r}")
        if value is not None:
            sections.setdefault(section, {})[key] = Given(value, f"--{key}")
    return sections


def read_sections(path: str | os.PathLike[str]) -> Sections:
    """The sections of a TOML file; the section "" has the keys outside of any: the seed."""
    place = os.fspath(path)
    content = read_parsed(path, parse_toml, "settings in TOML")
    sections: Sections = {}
    for name, value in content.items():
        if name == "seed" and not isinstance(value, dict):
            sections[""] = {name: Given(value, place)}
            continue
        check_known(name, SECTIONS, f"{place}: no section is called {name!r}")
        if not isinstance(value, dict):
            raise FormatError(place, "", f"expected a section [{name}]; found {name} = {value!r}")
        sections[name] = {key: Given(entry, place) for key, entry in value.items()}
    return sections


def seed_of(sections: Sections) -> int:
    """The seed outside of all sections; 0 if there is none."""
    seed = _checked("", sections, {"seed": Setting("seed", int, 0)}).get("seed", 0)
    check_seed(seed)
    return int(seed)


def make_settings(sections: Sections) -> RunSettings:
    """Check everything; what is not given has the default of its stage."""
    preset = sections.get("train", {}).get("preset", Given(DEFAULT_PRESET, "")).value
    check_preset(preset)
    train_kind = {"solved": SolvedSettings, "fast": FastSettings}.get(preset, TrainingSettings)
    count = {"count": Setting("count", int, DEFAULT_COUNT)}
    known = {
        "queries": count | _without(QuerySettings, "gibbs") | settings_of(GibbsSettings),
        "teacher": settings_of(TeacherSettings),
        "collect": _without(CollectSettings, "teacher"),
        "train": {"preset": Setting("preset", str, DEFAULT_PRESET)} | settings_of(train_kind),
        "tune": settings_of(TuneSettings),
        "evaluate": _without(EvaluateSettings, "split", "count"),
    }
    values = {name: _checked(name, sections, known[name]) for name in SECTIONS}
    queries = values["queries"]
    gibbs = {key: queries.pop(key) for key in list(queries) if key in settings_of(GibbsSettings)}
    values["train"].pop("preset", None)
    trained = load_preset(preset)
    return RunSettings(
        count=queries.pop("count", DEFAULT_COUNT),
        queries=QuerySettings(**queries, gibbs=GibbsSettings(**gibbs)),
        collect=CollectSettings(teacher=TeacherSettings(**values["teacher"]), **values["collect"]),
        preset=preset,
        train=_changed(trained, values["train"]),
        tune=TuneSettings.of(values["tune"]),
        evaluate=replace(DEFAULT_EVALUATION, **values["evaluate"]),
    )


def _without(source: type, *names: str) -> dict[str, Setting]:
    return {key: setting for key, setting in settings_of(source).items() if key not in names}


def _checked(section: str, sections: Sections, known: Mapping[str, Setting]) -> dict[str, Any]:
    """The values of a section, each of the kind that its setting has."""
    given = sections.get(section, {})
    for key, (_, place) in given.items():
        if key not in known:
            raise UsageError(f"{place}: [{section}] has no setting {key!r}; {closest(key, list(known))}")
    return {
        key: converted(f"{place}: {section}.{key}".replace(": .", ": "), known[key].kind, value)
        for key, (value, place) in given.items()
    }


def first_difference(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], sections: Sequence[str]
) -> str:
    """The first setting of some sections that differs, with both values; empty if none does."""
    for section in sections:
        old, new = before.get(section, {}), now[section]
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                return f"{section}.{key} was {old.get(key)!r}, now {new.get(key)!r}"
    return ""
