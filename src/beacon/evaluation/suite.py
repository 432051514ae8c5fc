"""Suites: lists of networks with what is known of them, as TOML files (``benchmarks/paper.toml`` is one)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from beacon.errors import FormatError
from beacon.io.files import parse_toml
from beacon.io.settings import closest
from beacon.model.graphical_model import GraphicalModel

SUFFIXES = ("", ".xz", ".gz", ".bz2")
FORMATS = (".uai", ".lg", ".wcsp", ".cfn", ".bif")


@dataclass(frozen=True)
class SuiteNetwork:
    """One network of a suite: how to find its file, and what to expect in it."""

    name: str
    file: str
    """File name, without the suffix of a compressed one."""
    short_name: str = ""
    """What tables call it."""
    variables: int | None = None
    factors: int | None = None
    source: str = ""
    """Where to obtain it: public repository, commit and path."""
    stands_in_for: str = ""
    """The network that was meant, if this one takes its place."""
    published: dict[str, Any] = field(default_factory=dict)
    """Figures that others have published for it."""

    def find(self, folder: Path) -> Path | None:
        """The network's file in a folder or one of its subfolders, compressed or not."""
        folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
        names = [self.file + suffix for suffix in SUFFIXES]
        return next((path for place in folders for name in names if (path := place / name).is_file()), None)

    def surprise(self, model: GraphicalModel) -> str:
        """What differs between the model and what was expected; empty if nothing does."""
        expected = {"variables": self.variables, "factors": self.factors}
        found = {"variables": model.num_variables, "factors": model.num_factors}
        wrong = [name for name, count in expected.items() if count is not None and count != found[name]]
        return ", ".join(f"expected {expected[name]} {name}, found {found[name]}" for name in wrong)


@dataclass(frozen=True)
class Suite:
    """Networks to be evaluated together."""

    networks: tuple[SuiteNetwork, ...]
    title: str = ""


def load_suite(path: str | os.PathLike[str]) -> Suite:
    """Read a suite; a misspelt key is an error that suggests the right one."""
    try:
        content = parse_toml(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(path, "", f"expected a suite in TOML: {error}") from None
    entries = content.pop("network", [])
    title = content.pop("title", "")
    if content or not entries:
        problem = f"unknown key {next(iter(content))!r}" if content else "no [[network]] in it"
        raise FormatError(path, "", f"expected a suite: a title and [[network]] tables; {problem}")
    networks = tuple(_network(path, place, entry) for place, entry in enumerate(entries, start=1))
    names = [network.name for network in networks]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(path, "", f"two networks are called {name!r}; give each a name of its own")
    return Suite(networks, str(title))


def _network(path: object, place: int, entry: dict[str, Any]) -> SuiteNetwork:
    known = [spec.name for spec in fields(SuiteNetwork)]
    for key in entry:
        if key not in known:
            raise FormatError(path, f"network {place}", f"no key is called {key!r}; {closest(key, known)}")
    for key in ("name", "file"):
        if not isinstance(entry.get(key), str):
            raise FormatError(path, f"network {place}", f"expected a {key}, found {entry.get(key)!r}")
    return SuiteNetwork(**entry)


def network_name(file: str | os.PathLike[str]) -> str:
    """A model's name: its file's without the suffixes of the format and of the compression."""
    name = Path(file).name
    for suffixes in (SUFFIXES, FORMATS):
        name = next(
            (name.removesuffix(suffix) for suffix in suffixes if suffix and name.endswith(suffix)), name
        )
    return name


def with_names_of(suite: Suite, run: dict[str, Any]) -> None:
    """Enter what a suite knows of the networks that were evaluated into the record of the evaluation."""
    for network in suite.networks:
        if network.name in run["networks"]:
            run["networks"][network.name] |= {
                "short_name": network.short_name,
                "stands_in_for": network.stands_in_for,
                "published": network.published,
            }
