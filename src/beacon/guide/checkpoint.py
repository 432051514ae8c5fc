"""Guides on disk: a folder with ``guide.safetensors`` (the weights) and ``guide.json`` (all else).

A *profile* has no network, and so no weights: its ``guide.json`` says how to search a model without a guide.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon import __version__, plugins
from beacon.errors import BeaconError, FormatError, MissingDependencyError, ModelError, first_line
from beacon.io.files import (
    TEMPORARY,
    Budget,
    check_named,
    check_parent,
    new_temporary,
    parse_json,
    read_text,
    reason,
    write_text,
)
from beacon.io.structure import misfit
from beacon.plugins import installed_names, load_installed

if TYPE_CHECKING:
    from beacon.guided.guide import Guide
    from beacon.model.graphical_model import GraphicalModel

FORMAT = "beacon guide"
VERSION = 1
WEIGHTS_FILE = "guide.safetensors"
FACTS_FILE = "guide.json"
PROFILE = "profile"  # the kind without weights
RESERVED = ("format", "version", "kind", "weights_sha256", "versions")
SHAPE = {
    **dict.fromkeys(("kind", "fingerprint", "weights_sha256"), str),
    **{"settings": dict, "history": [dict], "network?": dict},
    "tuned": {"strategy?": str, "use?": dict, "profile?": dict},
}
DEFAULTS: dict[str, Any] = {"settings": {}, "tuned": {}, "history": []}

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a guide's folder holds."""

    path: Path
    """The folder, for messages."""
    kind: str
    """Which guide it is: solved, fast, attention or frequency."""
    tensors: dict[str, NDArray[Any]]
    """The weights by name."""
    facts: dict[str, Any]
    """``fingerprint`` of the model, ``settings``, ``tuned`` settings, training ``history`` and the rest."""

    @property
    def own_facts(self) -> dict[str, Any]:
        """The facts that a guide hands to :func:`save_checkpoint` to be saved again."""
        return {name: fact for name, fact in self.facts.items() if name not in RESERVED}


def save_checkpoint(
    path: AnyPath, kind: str, tensors: Mapping[str, NDArray[Any]], facts: dict[str, Any]
) -> None:
    """Write a guide; one already there is replaced only once the new one is complete.

    ``facts`` must name the model's ``fingerprint``; ``settings``, ``tuned`` and ``history`` are empty unless
    given, and anything else that JSON can hold may come along. Tensors are numpy arrays (no bfloat16).
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to its folder
    check_replaceable(target)
    weights = b"" if kind == PROFILE else _weights_bytes(tensors)
    text = _facts_text(kind, weights, facts)
    temporary = new_temporary(target.parent)
    try:
        temporary.mkdir()
        if kind != PROFILE:
            (temporary / WEIGHTS_FILE).write_bytes(weights)
        (temporary / FACTS_FILE).write_text(text, encoding="utf-8")
        _replace_folder(temporary, target)
    except OSError as error:
        raise BeaconError(f"cannot write {target}: {reason(error)}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load_checkpoint(path: AnyPath, model: GraphicalModel) -> Checkpoint:
    """Read a guide, and refuse one that is damaged or made for another model."""
    folder = _existing_folder(path)
    facts = read_facts(folder)
    if facts["fingerprint"] != model.fingerprint:
        raise ModelError(
            f"{folder}: this guide is for another model: its fingerprint is {facts['fingerprint']}, "
            f"the model's is {model.fingerprint}; train one for this model with `beacon train`"
        )
    weights = {} if facts["kind"] == PROFILE else _read_weights(folder, facts["weights_sha256"])
    return Checkpoint(folder, facts["kind"], weights, facts)


def load_guide(path: AnyPath, model: GraphicalModel, device: str = "auto") -> Guide:
    """Read a guide of any kind; ``device`` (auto, cpu or cuda) matters to the attention network alone.

    >>> import beacon
    >>> from beacon.model.families import ising_grid
    >>> beacon.load_guide("no such folder", ising_grid(4, 4))
    Traceback (most recent call last):
    beacon.errors.BeaconError: cannot read no such folder: no such folder; make a guide with `beacon train`
    """
    checkpoint = load_checkpoint(path, model)
    guide: Guide
    if checkpoint.kind == "fast":
        from beacon.guide.fast_guide import FastGuide  # noqa: PLC0415

        guide = FastGuide.from_checkpoint(model, checkpoint)
    elif checkpoint.kind == "solved":
        from beacon.guide.solved import SolvedGuide  # noqa: PLC0415

        guide = SolvedGuide.from_checkpoint(model, checkpoint)
    elif checkpoint.kind == "frequency":
        from beacon.guide.trivial import FrequencyGuide  # noqa: PLC0415

        guide = FrequencyGuide.from_checkpoint(model, checkpoint)
    elif checkpoint.kind == PROFILE:
        from beacon.guide.trivial import ProfileGuide  # noqa: PLC0415

        guide = ProfileGuide(model, checkpoint.own_facts["tuned"])
    elif checkpoint.kind == "attention":
        try:
            from beacon.guide.attention import AttentionGuide  # noqa: PLC0415  (torch is slow to import)
        except ImportError:
            raise MissingDependencyError("torch", f"the guide {path}", "learn") from None
        guide = AttentionGuide.from_checkpoint(model, checkpoint, device)
    else:
        guide = _of_another_package(path, model, checkpoint)
    return guide


def _of_another_package(path: AnyPath, model: GraphicalModel, checkpoint: Checkpoint) -> Guide:
    """The guide of a kind that an installed package declares; docs/extending.md says how."""
    kind = load_installed(plugins.GUIDES, checkpoint.kind)
    if kind is None:
        kinds = ", ".join(["solved, fast, attention, frequency", *installed_names(plugins.GUIDES)])
        raise FormatError(
            path,
            FACTS_FILE,
            f"expected a guide of a known kind ({kinds}), found {checkpoint.kind!r}; "
            "install the package that made it",
        )
    guide: Guide = kind.from_checkpoint(model, checkpoint)
    return guide


def update_tuned(path: AnyPath, tuned: dict[str, Any]) -> None:
    """Store tuned settings in a guide, in place of those it has."""
    folder = _existing_folder(path)
    facts = {**read_facts(folder), "tuned": tuned}
    write_text(folder / FACTS_FILE, _json(facts))


def damaged(path: AnyPath, what: str) -> FormatError:
    """The error of a guide whose files cannot be trusted."""
    return FormatError(path, "", f"the guide is damaged ({what}); train it again with `beacon train`")


def check_guide_folder(path: str) -> None:
    """Raise if a guide cannot be written there."""
    check_named(path)
    check_parent(path, Path(path).parent)
    check_replaceable(Path(os.path.realpath(path)))


def check_replaceable(target: Path) -> None:
    """Raise unless the path is free, an empty folder, or a guide and nothing but a guide."""
    if not target.exists():
        return
    names = {entry.name for entry in target.iterdir()} if target.is_dir() else None
    if names == set():
        return
    if names is None or FACTS_FILE not in names:
        raise BeaconError(f"{target} exists and is no guide; choose another name, or remove it first")
    others = sorted(
        name for name in names if name not in {FACTS_FILE, WEIGHTS_FILE} and not _is_leftover(name)
    )
    if others:
        raise BeaconError(
            f"{target} holds a guide and other files ({others[0]}); choose another name, or move them away"
        )


def _is_leftover(name: str) -> bool:
    return name.startswith(f".{TEMPORARY}")


def _replace_folder(new: Path, target: Path) -> None:
    """Put one folder in another's place; the old one can be read under one of two names until it is done."""
    previous = _previous(target)
    if target.exists():
        shutil.rmtree(previous, ignore_errors=True)
        os.replace(target, previous)
    try:
        os.replace(new, target)
    except OSError:
        if previous.exists():
            os.replace(previous, target)
        raise
    shutil.rmtree(previous, ignore_errors=True)


def _previous(target: Path) -> Path:
    """Where a guide stands while it is replaced; it is still there if the machine died just then."""
    return target.with_name(f".{target.name}.previous")


def _existing_folder(path: AnyPath) -> Path:
    folder, previous = Path(path), _previous(Path(os.path.realpath(path)))
    if not folder.exists():
        if not previous.exists():
            raise BeaconError(f"cannot read {folder}: no such folder; make a guide with `beacon train`")
        folder = previous
    for name in (FACTS_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            if name == WEIGHTS_FILE and read_facts(folder)["kind"] == PROFILE:
                break
            parts = f"a folder with {FACTS_FILE} and {WEIGHTS_FILE}"
            raise FormatError(folder, "", f"expected a guide, {parts}; found no {name}")
    return folder


def _weights_bytes(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    from safetensors.numpy import save  # noqa: PLC0415

    data: bytes = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    return data


def _read_weights(folder: Path, digest: object) -> dict[str, NDArray[Any]]:
    from safetensors.numpy import load  # noqa: PLC0415

    path = folder / WEIGHTS_FILE
    try:
        if problem := Budget().problem(path.stat().st_size):
            raise FormatError(path, "", problem)
        data = path.read_bytes()
    except OSError as error:
        raise BeaconError(f"cannot read {path}: {reason(error)}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged(folder, f"{WEIGHTS_FILE} is not the one that {FACTS_FILE} was written for")
    try:
        tensors: dict[str, NDArray[Any]] = load(data)
    except Exception as error:  # of a class of its own, or whatever numpy raises for a shape that is none
        raise damaged(folder, f"{WEIGHTS_FILE}: {first_line(error)}") from None
    return tensors


def _facts_text(kind: str, weights: bytes, facts: dict[str, Any]) -> str:
    taken = sorted(set(facts) & set(RESERVED))
    if taken or "fingerprint" not in facts:
        raise ValueError(f"facts need a fingerprint and may not name {', '.join(RESERVED)}; found {taken}")
    own = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "versions": _versions(),
    }
    return _json({**own, **DEFAULTS, **facts})


def read_facts(folder: Path) -> dict[str, Any]:
    """What ``guide.json`` says."""
    try:
        facts = parse_json(read_text(folder / FACTS_FILE), finite=False)  # a loss may have been nan
    except ValueError:
        raise damaged(folder, f"{FACTS_FILE} is no JSON") from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise FormatError(folder, FACTS_FILE, "expected the description of a guide, found something else")
    if facts.get("version") != VERSION:
        raise FormatError(
            folder,
            FACTS_FILE,
            f"expected a guide of version {VERSION}, found {facts.get('version')!r}; "
            "train it again with `beacon train`, or use the Beacon that made it",
        )
    if problem := misfit(facts, SHAPE):
        raise damaged(folder, f"{FACTS_FILE}: {problem}")
    if not facts["fingerprint"].isalnum():
        raise damaged(folder, f"{FACTS_FILE}: {facts['fingerprint']!r} is no fingerprint")
    return facts


def _json(facts: dict[str, Any]) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: object) -> Any:
    """Numpy's numbers as Python's own."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"JSON cannot hold {value!r}")


def _versions() -> dict[str, str]:
    """What made this guide; torch only where it took part."""
    versions = {"beacon": __version__, "python": platform.python_version(), "numpy": np.__version__}
    torch = sys.modules.get("torch")
    if torch is not None:
        versions["torch"] = str(torch.__version__)
    return versions
