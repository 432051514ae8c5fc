"""Guides on disk: what is written is read, and nothing else is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.errors import BeaconError, FormatError, ModelError
from beacon.guide import checkpoint
from beacon.guide.checkpoint import load_checkpoint, load_guide, save_checkpoint, update_tuned
from tests.guide.helpers import MIXED, chain

TENSORS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2], dtype=np.int64)}
FACTS = {"fingerprint": MIXED.fingerprint, "settings": {"width": np.int64(64)}, "history": [{"epoch": 0}]}


def save(path: Path, tensors: dict[str, Any] = TENSORS, **facts: Any) -> Path:
    save_checkpoint(path, "frequency", tensors, {**FACTS, **facts})
    return path


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    return save(tmp_path / "a.guide")


def edit(guide: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    facts = json.loads((guide / "guide.json").read_text())
    change(facts)
    (guide / "guide.json").write_text(json.dumps(facts))


def test_what_is_saved_is_loaded(guide: Path) -> None:
    loaded = load_checkpoint(guide, MIXED)
    assert loaded.kind == "frequency"
    assert {name: array.tolist() for name, array in loaded.tensors.items()} == {
        name: array.tolist() for name, array in TENSORS.items()
    }
    assert {name: array.dtype for name, array in loaded.tensors.items()} == {
        name: array.dtype for name, array in TENSORS.items()
    }
    assert loaded.facts["settings"] == {"width": 64}
    assert loaded.facts["history"] == [{"epoch": 0}]
    assert loaded.facts["tuned"] == {}
    assert set(loaded.facts["versions"]) >= {"beacon", "python", "numpy"}


def test_a_guide_is_two_files_and_leaves_nothing_beside_them(guide: Path) -> None:
    assert sorted(os.listdir(guide)) == ["guide.json", "guide.safetensors"]
    assert os.listdir(guide.parent) == ["a.guide"]


def test_saving_again_replaces_the_guide(guide: Path) -> None:
    save(guide, {"a": np.zeros(1)})
    assert load_checkpoint(guide, MIXED).tensors["a"].tolist() == [0]
    assert os.listdir(guide.parent) == ["a.guide"]


def test_a_link_to_a_guide_stays_a_link(guide: Path) -> None:
    link = guide.parent / "link"
    link.symlink_to(guide)
    save(link, {"a": np.zeros(1)})
    assert link.is_symlink()
    assert load_checkpoint(guide, MIXED).tensors["a"].tolist() == [0]


def test_an_empty_folder_may_become_a_guide(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert load_checkpoint(save(tmp_path / "new"), MIXED).kind == "frequency"


def test_a_failed_save_leaves_the_old_guide(guide: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.replace

    def full(source: Path, target: Path) -> None:
        if Path(source).name.endswith(".tmp"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(checkpoint.os, "replace", full)
    with pytest.raises(BeaconError, match=r"cannot write .*a\.guide: no space left on device"):
        save(guide, {"a": np.zeros(1)})
    assert len(load_checkpoint(guide, MIXED).tensors) == 2
    assert os.listdir(guide.parent) == ["a.guide"]


def test_a_guide_that_was_being_replaced_when_the_machine_died_can_be_read(guide: Path) -> None:
    guide.rename(guide.with_name(".a.guide.previous"))
    assert len(load_checkpoint(guide, MIXED).tensors) == 2
    save(guide, {"a": np.zeros(1)})
    assert len(load_checkpoint(guide, MIXED).tensors) == 1
    assert os.listdir(guide.parent) == ["a.guide"]


def test_a_folder_that_is_no_guide_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("meow")
    with pytest.raises(BeaconError, match="photos exists and is no guide; choose another name"):
        save(tmp_path / "photos")
    (tmp_path / "notes").write_text("text")
    with pytest.raises(BeaconError, match="notes exists and is no guide; choose another name"):
        save(tmp_path / "notes")
    assert (tmp_path / "photos" / "cat.png").read_text() == "meow"
    assert (tmp_path / "notes").read_text() == "text"


def test_other_files_in_a_guide_are_not_lost(guide: Path) -> None:
    (guide / "notes.txt").write_text("text")
    with pytest.raises(BeaconError, match=r"holds a guide and other files \(notes.txt\)"):
        save(guide)
    assert (guide / "notes.txt").read_text() == "text"


def test_a_guide_cannot_be_saved_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match=r"cannot write .*: no such file or directory"):
        save(tmp_path / "nowhere" / "a.guide")


def test_tuned_settings_are_replaced_and_the_rest_kept(guide: Path) -> None:
    before = load_checkpoint(guide, MIXED).facts
    update_tuned(guide, {"weight": 0.5})
    update_tuned(guide, {"refresh": np.int64(50)})
    assert load_checkpoint(guide, MIXED).facts == {**before, "tuned": {"refresh": 50}}
    assert sorted(os.listdir(guide)) == ["guide.json", "guide.safetensors"]


def test_facts_need_a_fingerprint_and_leave_the_files_own_facts_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="facts need a fingerprint"):
        save_checkpoint(tmp_path / "g", "fast", TENSORS, {})
    with pytest.raises(ValueError, match=re.escape("found ['kind']")):
        save(tmp_path / "g", kind="fast")


def test_a_guide_of_another_model_is_refused(guide: Path) -> None:
    with pytest.raises(ModelError, match=r"this guide is for another model: .*; train one for this model"):
        load_checkpoint(guide, chain(3))


def test_a_missing_guide_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BeaconError, match="no such folder; make a guide with `beacon train`"):
        load_checkpoint(tmp_path / "none", MIXED)
    with pytest.raises(BeaconError, match="no such folder"):
        update_tuned(tmp_path / "none", {})


@pytest.mark.parametrize("name", ["guide.json", "guide.safetensors"])
def test_a_missing_file_is_named(guide: Path, name: str) -> None:
    (guide / name).unlink()
    with pytest.raises(FormatError, match=f"expected a guide, a folder with .*; found no {name}"):
        load_checkpoint(guide, MIXED)


def test_a_file_is_no_guide(guide: Path) -> None:
    with pytest.raises(FormatError, match=r"found no guide\.json"):
        load_checkpoint(guide / "guide.json", MIXED)


def test_another_version_is_refused(guide: Path) -> None:
    edit(guide, lambda facts: facts.update(version=2))
    with pytest.raises(FormatError, match="expected a guide of version 1, found 2; train it again"):
        load_checkpoint(guide, MIXED)


def test_another_kind_of_json_is_refused(guide: Path) -> None:
    (guide / "guide.json").write_text("[1, 2]")
    with pytest.raises(FormatError, match="expected the description of a guide, found something else"):
        load_checkpoint(guide, MIXED)


@pytest.mark.parametrize("text", ["{", "", "\udcff"])
def test_damaged_json_is_refused(guide: Path, text: str) -> None:
    (guide / "guide.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(
        FormatError, match=r"guide\.json is no JSON\); train it again|is empty|expected UTF-8"
    ):
        load_checkpoint(guide, MIXED)


def test_a_missing_fact_is_named(guide: Path) -> None:
    edit(guide, lambda facts: facts.pop("history"))
    with pytest.raises(FormatError, match=r"damaged \(guide\.json: expected 'history', found nothing\)"):
        load_checkpoint(guide, MIXED)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("tuned", 1, "expected an object as 'tuned', found a whole number"),
        ("tuned", {"use": []}, "expected an object as 'tuned.use', found a list"),
        ("tuned", {"strategy": 3}, "expected text as 'tuned.strategy', found a whole number"),
        ("history", [1], r"expected an object as 'history\[0\]', found a whole number"),
        ("settings", None, "expected an object as 'settings', found null"),
        ("fingerprint", 2.5, "expected text as 'fingerprint', found a number"),
    ],
)
def test_facts_of_another_kind_are_named(guide: Path, name: str, value: object, problem: str) -> None:
    edit(guide, lambda facts: facts.update({name: value}))
    with pytest.raises(FormatError, match=problem):
        load_checkpoint(guide, MIXED)


def test_weights_that_are_cut_and_signed_again_are_refused(guide: Path) -> None:
    weights = guide / "guide.safetensors"
    weights.write_bytes(weights.read_bytes()[:-5])
    edit(guide, lambda facts: facts.update(weights_sha256=hashlib.sha256(weights.read_bytes()).hexdigest()))
    with pytest.raises(FormatError, match=r"the guide is damaged \(guide\.safetensors: "):
        load_checkpoint(guide, MIXED)


def test_weights_beyond_the_budget_of_memory_are_not_read(
    guide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (guide / "guide.safetensors").open("ab") as file:
        file.truncate(3 << 30)  # a hole: it takes no room on the disk
    with pytest.raises(FormatError, match="expected what fits into 1 GiB of memory, found 3"):
        load_checkpoint(guide, MIXED)


def test_weights_of_another_guide_are_refused(guide: Path) -> None:
    other = save(guide.with_name("other"), {"a": np.zeros(1)})
    (other / "guide.safetensors").replace(guide / "guide.safetensors")
    with pytest.raises(FormatError, match=r"damaged \(guide\.safetensors is not the one that guide\.json"):
        load_checkpoint(guide, MIXED)


def test_one_wrong_byte_is_found(guide: Path) -> None:
    data = bytearray((guide / "guide.safetensors").read_bytes())
    data[-1] ^= 1
    (guide / "guide.safetensors").write_bytes(data)
    with pytest.raises(FormatError, match="the guide is damaged"):
        load_checkpoint(guide, MIXED)


@pytest.mark.parametrize("kind", ["frequency", "fast"])
def test_weights_that_do_not_fit_are_refused(tmp_path: Path, kind: str) -> None:
    save_checkpoint(tmp_path / "g", kind, TENSORS, FACTS)
    with pytest.raises(FormatError, match=r"the guide is damaged \(its weights do not fit the model\)"):
        load_guide(tmp_path / "g", MIXED)


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "g", "crystal ball", TENSORS, FACTS)
    with pytest.raises(
        FormatError,
        match=r"expected a guide of a known kind \(solved, fast, attention, frequency\), found",
    ):
        load_guide(tmp_path / "g", MIXED)


def test_loading_and_scoring_need_no_torch(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["torch"] = None
import numpy as np
from beacon import solve
from beacon.runner.stop import MaxSteps
from tests.guide.helpers import MIXED, random_weights
from beacon.guide.fast_guide import FastGuide
FastGuide(MIXED, random_weights(MIXED)).save(sys.argv[1])
print(solve(MIXED, {0: 1}, guide=sys.argv[1], stop=MaxSteps(5)).assignment[0])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "g")]
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.stdout == "1\n", done.stderr
