"""The settings of a run: a section for each stage, mapped to the settings that the stages have anyway."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from beacon.cli.options import DEFAULT_COUNT
from beacon.cli.settings import Setting, settings_of
from beacon.errors import MissingDependencyError
from beacon.evaluation.catalog import check_names
from beacon.evaluation.method import Budget
from beacon.learn.collect import CollectSettings
from beacon.learn.teacher import TeacherSettings
from beacon.learn.train import FastSettings, TrainingSettings, check_preset
from beacon.learn.tune import TuneSettings
from beacon.model.checks import check_count, check_seed
from beacon.pipeline.toml_settings import Given, add_item, checked, read_sections
from beacon.query.query_set import QuerySettings
from beacon.query.sampling import GibbsSettings

if TYPE_CHECKING:
    from beacon.learn.attention import AttentionPreset as Preset

SECTIONS = ("queries", "teacher", "collect", "train", "tune", "evaluate")
DEFAULT_PRESET = "small"

Sections = dict[str, dict[str, Given]]


@dataclass(frozen=True)
class EvaluateSettings:
    """What is measured on the test queries."""

    methods: tuple[str, ...] = ("greedy", "gls+", "auto", "beacon-gls+", "beacon")
    """Strategies, guided methods and other solvers by name."""
    steps: tuple[int, ...] = (500, 1000, 2000, 4000)
    """Budgets in steps."""
    seconds: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0)
    """Budgets in seconds."""
    lambdas: tuple[float, ...] = ()
    """Weights with which the guided methods are measured, too."""
    seeds: int = 1
    """Repetitions, each from starts of its own."""
    limit: int | None = None
    """Only so many of the test queries."""
    drift: int = 0
    """Steps of each search that are followed towards the best known assignment."""
    propagate: bool = False
    """Do all methods first fix what the evidence implies?"""

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        check_names(self.methods)
        _ = self.budget
        check_count("evaluate.seeds", self.seeds, 1)
        check_count("evaluate.drift", self.drift, 0)
        if self.limit is not None:
            check_count("evaluate.limit", self.limit, 1)

    @property
    def budget(self) -> Budget:
        """Both kinds of budgets."""
        return Budget(self.steps, self.seconds)


@dataclass(frozen=True)
class RunSettings:
    """All that decides what a run makes, seed apart."""

    count: int
    queries: QuerySettings
    collect: CollectSettings
    preset: str
    train: FastSettings | Preset
    tune: TuneSettings
    evaluate: EvaluateSettings

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


def _train_facts(settings: FastSettings | Preset) -> dict[str, Any]:
    if isinstance(settings, FastSettings):
        return asdict(settings)
    return {**asdict(settings.training), "network": asdict(settings.network)}


def gathered(config: str | None, items: Sequence[str], options: Mapping[str, Any]) -> Sections:
    """What a file says, then ``--set``, then options such as ``{"train.preset": "fast"}`` (None: nothing)."""
    sections = read_sections(config, SECTIONS, ["seed"]) if config is not None else {}
    for item in items:
        add_item(sections, item, SECTIONS)
    for name, value in options.items():
        section, _, key = name.partition(".")
        if value is not None:
            sections.setdefault(section, {})[key] = Given(value, f"--{key}")
    return sections


def seed_of(sections: Sections) -> int:
    """The seed outside of all sections; 0 if there is none."""
    given = checked("", sections.get("", {}), {"seed": Setting("seed", int, 0)})
    check_seed(given.get("seed", 0))
    return int(given.get("seed", 0))


def make_settings(sections: Sections) -> RunSettings:
    """Check everything; what is not given has the default of its stage."""
    values = {name: checked(name, sections.get(name, {}), _known(name, sections)) for name in SECTIONS}
    queries, train, tune = values["queries"], values["train"], values["tune"]
    count = queries.pop("count", DEFAULT_COUNT)
    check_count("queries.count", count, 1)
    gibbs = GibbsSettings(**{key: queries.pop(key) for key in list(queries) if key in _names(GibbsSettings)})
    if tune.get("steps"):
        tune.setdefault("seconds", ())  # given steps take the place of the default times
    preset = train.pop("preset", DEFAULT_PRESET)
    return RunSettings(
        count=count,
        queries=QuerySettings(**queries, gibbs=gibbs),
        collect=CollectSettings(teacher=TeacherSettings(**values["teacher"]), **values["collect"]),
        preset=preset,
        train=_train_settings(preset, train),
        tune=TuneSettings(**tune),
        evaluate=EvaluateSettings(**values["evaluate"]),
    )


def _known(section: str, sections: Sections) -> dict[str, Setting]:
    """The settings that a section may have."""
    if section == "queries":
        count = {"count": Setting("count", int, DEFAULT_COUNT)}
        return count | _without(settings_of(QuerySettings), "gibbs") | settings_of(GibbsSettings)
    if section == "train":
        given = sections.get("train", {}).get("preset", Given(DEFAULT_PRESET, ""))
        check_preset(given.value)
        own = settings_of(FastSettings if given.value == "fast" else TrainingSettings)
        return {"preset": Setting("preset", str, DEFAULT_PRESET)} | own
    return {
        "teacher": settings_of(TeacherSettings),
        "collect": _without(settings_of(CollectSettings), "teacher"),
        "tune": settings_of(TuneSettings),
        "evaluate": settings_of(EvaluateSettings),
    }[section]


def _train_settings(preset: str, changes: dict[str, Any]) -> FastSettings | Preset:
    if preset == "fast":
        return FastSettings(**changes)
    try:
        from beacon.learn.attention import PRESETS  # noqa: PLC0415  (torch is slow to import)
    except ImportError:
        raise MissingDependencyError("torch", "training a guide", "learn") from None
    chosen = PRESETS[preset]
    return chosen._replace(training=replace(chosen.training, **changes))


def _without(known: dict[str, Setting], name: str) -> dict[str, Setting]:
    return {key: setting for key, setting in known.items() if key != name}


def _names(kind: type[GibbsSettings]) -> list[str]:
    return [field.name for field in fields(kind)]


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
