"""How kernels are compiled and cached, and that they do the same when they are not compiled."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from beacon import jit
from beacon.guided.guidance import Guidance
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.solver import solve
from beacon.runner.stop import MaxSteps
from beacon.strategies.greedy import run_greedy
from beacon.strategies.gls import GlsPlus
from beacon.strategies.greedy import Greedy
from beacon.strategies.strategy import STRATEGIES, Strategy
from tests.engine.helpers import small_models, some_evidence

ROOT = Path(__file__).resolve().parents[2]
compiled_only = pytest.mark.skipif(not hasattr(run_greedy, "py_func"), reason="kernels are not compiled")

KERNELS_LOADED_LATE = """
import sys
import numpy as np
from beacon.model.families import random_bayes_net
from beacon.runner.batch import SearchBatch
from beacon.guided.guidance import Guidance
from beacon.solver import solve
from beacon.runner.stop import MaxSteps
from beacon.strategies.strategy import make_strategy
from beacon.runner.warm_up import warm_up, warm_up_guided

def loaded():
    modules = [module for name, module in sys.modules.items() if name.startswith("beacon.")]
    functions = {id(f): f for module in modules for f in vars(module).values() if hasattr(f, "signatures")}
    return {(f.__module__, f.__name__, str(s)) for f in functions.values() for s in f.signatures}

name, _, guided = sys.argv[1].partition(" ")
model = random_bayes_net(60, seed=1)
warm_up(make_strategy(name))
if guided:
    warm_up_guided()
before = loaded()
if guided:
    scores = np.full((1, model.domain_sizes.sum()), 0.5)
    SearchBatch(model, [{}], name).run(60_000, scores, Guidance(0.5, "all", restart_from="guide"))
else:
    solve(model, strategy=name, stop=MaxSteps(60_000))
print(*sorted(name for _, name, _ in loaded() - before))
"""

TINY_KERNEL = """
from beacon.jit import kernel

@kernel
def double(number):
    return 2 * number
"""


def small_searches() -> list[Any]:
    """What every strategy finds on a few small models, as JSON has it."""
    found = []
    for name in ("grid", "bayes", "pedigree", "oddities"):
        model = small_models()[name]
        strategies: list[str | Strategy] = [*STRATEGIES, GlsPlus(restart_interval=30)]
        for strategy in strategies:
            result = solve(model, some_evidence(model, 1, 7), strategy=strategy, stop=MaxSteps(60), seed=3)
            answer = [result.assignment.tolist(), result.floored_log_score, result.steps, result.stop]
            found.append([*answer, result.trace.steps.tolist(), result.trace.scores.tolist()])
        found += [guided_search(model, GlsPlus()), guided_search(model, Greedy())]
    return found


def guided_search(model: GraphicalModel, strategy: Strategy) -> list[Any]:
    batch = SearchBatch(model, [some_evidence(model, 1, 7)], strategy, seed=3)
    scores = np.random.default_rng(1).random((1, int(model.domain_sizes.sum())))
    for guidance in (Guidance(0.5), Guidance(0.3, "all", 2.0, "guide")):
        batch.run(40, scores, guidance)
    trace = batch.traces[0]
    return [batch.assignments.tolist(), trace.steps.tolist(), trace.scores.tolist()]


def output_of(code: str, *arguments: str, **environment: str) -> str:
    """What a script prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def interpreted_searches() -> list[Any]:
    code = "import json; from tests.test_jit import small_searches as s; print(json.dumps(s()))"
    searches: list[Any] = json.loads(output_of(code, NUMBA_DISABLE_JIT="1"))
    return searches


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("tiny_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cache_hits(path: Path) -> int:
    """Load a module with a kernel, call the kernel, and say whether it came from the cache."""
    module = load(path)
    assert module.double(21) == 42
    return sum(module.double.stats.cache_hits.values())


@compiled_only
def test_searches_are_the_same_compiled_and_interpreted() -> None:
    for compiled, interpreted in zip(small_searches(), interpreted_searches(), strict=True):
        assert compiled == interpreted


@compiled_only
@pytest.mark.parametrize("strategy", [*STRATEGIES, "gls+ guided", "greedy guided"])
def test_warming_up_leaves_no_kernel_to_be_compiled_while_the_clock_runs(strategy: str) -> None:
    assert output_of(KERNELS_LOADED_LATE, strategy).split() == []


@compiled_only
def test_a_kernel_is_compiled_again_only_when_a_source_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiny_kernel.py"
    path.write_text(TINY_KERNEL)
    assert cache_hits(path) == 0
    assert cache_hits(path) == 1
    monkeypatch.setattr(jit, "_SOURCE_STAMP", (1.0, 1))  # as if another file of the engine were new
    assert cache_hits(path) == 0
    assert cache_hits(path) == 1


@compiled_only
def test_a_kernel_of_another_package_is_compiled_again_when_its_own_file_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "tiny_kernel.py"
    path.write_text(TINY_KERNEL)
    assert cache_hits(path) == 0
    path.write_text(TINY_KERNEL.replace("2 * number", "number + number"))
    assert cache_hits(path) == 0
    assert cache_hits(path) == 1


@compiled_only
def test_the_kernels_of_the_engine_are_tied_to_all_its_sources() -> None:
    assert run_greedy._cache._cache_file._source_stamp == jit._SOURCE_STAMP  # type: ignore[attr-defined]


def test_the_stamp_changes_with_any_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search, model = tmp_path / "search", tmp_path / "model"
    search.mkdir()
    model.mkdir()
    (search / "flip.py").write_text("a = 1\n")
    (model / "flat.py").write_text("b = 1\n")
    monkeypatch.setattr(jit, "SEARCH_FOLDER", search)
    stamps = [jit._newest_source()]
    for path, text in [
        (search / "flip.py", "a = 12\n"),
        (search / "new.py", "c\n"),
        (model / "flat.py", "b\n"),
    ]:
        path.write_text(text)
        stamps.append(jit._newest_source())
    os.utime(model / "flat.py", (2e9, 2e9))
    stamps.append(jit._newest_source())
    assert len(set(stamps)) == len(stamps)
    assert stamps[-1] == jit._newest_source()
