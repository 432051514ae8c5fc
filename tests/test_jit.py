"""How kernels are compiled and cached, and that they do the same when they are not compiled."""

from __future__ import annotations

import ast
import errno
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
from numba.core.caching import IndexDataCacheFile

from beacon import jit
from beacon.engine.core import CoreState
from beacon.engine.incumbent import Limits
from beacon.guided.guidance import Guidance, GuidanceConstants
from beacon.guided.state import GuideState
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.batch import SearchBatch
from beacon.runner.stop import MaxSteps
from beacon.solver import solve
from beacon.strategies.gls import GlsConstants, GlsPlus, GlsState
from beacon.strategies.greedy import Greedy, GreedyState, run_greedy
from beacon.strategies.strategy import STRATEGIES, Strategy
from beacon.strategies.tree.kernel import TreeConstants
from beacon.strategies.tree.state import TreeState
from tests.engine.helpers import small_models, some_evidence

ROOT = Path(__file__).resolve().parents[1]
compiled_only = pytest.mark.skipif(not hasattr(run_greedy, "py_func"), reason="kernels are not compiled")

KERNELS_LOADED_LATE = """
import sys
import numpy as np
from beacon.model.families import ising_grid, random_bayes_net
from beacon.runner.batch import SearchBatch
from beacon.engine.core import CoreState
from beacon.engine.incumbent import Limits
from beacon.guided.guidance import Guidance, GuidanceConstants
from beacon.guided.state import GuideState
from beacon.model.flat import FlatModel
from beacon.strategies.gls import GlsConstants, GlsState
from beacon.strategies.tree.kernel import TreeConstants
from beacon.strategies.tree.state import TreeState
from beacon.solver import solve
from beacon.runner.stop import MaxSteps
from beacon.strategies.strategy import make_strategy
from beacon.runner.warm_up import warm_up_exact, warm_up_guided, warm_up_long_way, warm_up_search

def loaded():
    modules = [module for name, module in sys.modules.items() if name.startswith("beacon.")]
    functions = {id(f): f for module in modules for f in vars(module).values() if hasattr(f, "signatures")}
    return {(f.__module__, f.__name__, str(s)) for f in functions.values() for s in f.signatures}

name, _, guided = sys.argv[1].partition(" ")
model = random_bayes_net(60, seed=1)
warm_up_exact()
warm_up_long_way()
warm_up_search(make_strategy(name))
if guided:
    warm_up_guided(name)
before = loaded()
if guided:
    scores = np.full((1, model.domain_sizes.sum()), 0.5)
    SearchBatch(model, [{}], name).run(60_000, scores, Guidance(0.5, "all", restart_from="guide"))
else:
    for asked in (model, ising_grid(40, 40)):  # one that is solved exactly by auto, one that is not
        solve(asked, strategy=name, stop=MaxSteps(60_000))
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
def test_a_damaged_list_of_kernels_on_disk_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "tiny_kernel.py"
    path.write_text(TINY_KERNEL)
    assert cache_hits(path) == 0
    (index,) = tmp_path.rglob("*.nbi")
    begun = index.read_bytes()
    index.write_bytes(begun[: len(begun) // 2])
    assert cache_hits(path) == 0
    assert cache_hits(path) == 1


@compiled_only
@pytest.mark.parametrize("damage", [0, 40, -1])
def test_a_damaged_kernel_on_disk_is_compiled_anew(tmp_path: Path, damage: int) -> None:
    path = tmp_path / "tiny_kernel.py"
    path.write_text(TINY_KERNEL)
    assert cache_hits(path) == 0
    (kernel,) = tmp_path.rglob("*.nbc")
    data = bytearray(kernel.read_bytes())
    data[damage] ^= 0xFF
    kernel.write_bytes(data)
    assert cache_hits(path) == 0
    kernel.write_bytes(data[: len(data) // 2])
    assert cache_hits(path) == 0
    assert cache_hits(path) == 1


@compiled_only
def test_a_full_disk_costs_the_cache_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    jit._notice.cache_clear()
    path = tmp_path / "tiny_kernel.py"
    path.write_text(TINY_KERNEL)
    monkeypatch.setattr(IndexDataCacheFile, "_save_index", fail)
    assert cache_hits(path) == 0
    assert cache_hits(path) == 0
    (record,) = caplog.records
    assert "compiled kernels cannot be kept in" in record.getMessage()
    assert "(No space left on device), and compiling takes" in record.getMessage()


WITHOUT_A_CACHE = """
import logging, os, sys, tempfile
from numba.core import caching
caching.CacheImpl._locator_classes = [caching.UserProvidedCacheLocator]  # no other folder can be written
if sys.argv[2] == "nowhere":
    tempfile.mkdtemp = lambda **_: (_ for _ in ()).throw(OSError("read-only"))
sys.path.insert(0, sys.argv[1])
import tiny_kernel
print(tiny_kernel.double(21), os.environ.get("NUMBA_CACHE_DIR", "none"))
"""


@compiled_only
@pytest.mark.parametrize("place", ["temporary", "nowhere"])
def test_where_no_folder_can_be_written_kernels_are_kept_for_the_run(tmp_path: Path, place: str) -> None:
    (tmp_path / "tiny_kernel.py").write_text(TINY_KERNEL)
    environment = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-c", WITHOUT_A_CACHE, str(tmp_path), place]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    answer, folder = done.stdout.split()
    assert answer == "42"
    assert (folder == "none") == (place == "nowhere")
    assert not Path(folder).exists()  # cleared up
    (line,) = done.stderr.splitlines()
    assert line.startswith("no folder for compiled kernels can be written: they are kept for this run alone")


READ_ONLY = """
import sys
from numba.core import caching
def refuse(self):
    raise OSError("read-only")
if sys.argv[2] == "read-only":
    caching._CacheLocator.ensure_cache_path = refuse
sys.path.insert(0, sys.argv[1])
import tiny_kernel
print(tiny_kernel.double(21), sum(tiny_kernel.double.stats.cache_hits.values()))
"""


@compiled_only
def test_kernels_of_a_read_only_image_are_used(tmp_path: Path) -> None:
    (tmp_path / "tiny_kernel.py").write_text(TINY_KERNEL)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    assert output_of(READ_ONLY, str(tmp_path), "writable", **cache) == "42 0\n"
    assert output_of(READ_ONLY, str(tmp_path), "read-only", **cache) == "42 1\n"


@compiled_only
def test_the_kernels_of_the_engine_are_tied_to_all_its_sources() -> None:
    assert run_greedy._cache._cache_file._source_stamp == jit._SOURCE_STAMP  # type: ignore[attr-defined]


def test_the_stamp_changes_with_any_source(tmp_path: Path) -> None:
    first, second = tmp_path / "flip.py", tmp_path / "flat.py"
    first.write_text("a = 1\n")
    second.write_text("b = 1\n")
    sources = frozenset({first, second})
    stamps = [jit._newest(sources)]
    for path, text in [(first, "a = 12\n"), (second, "b\n")]:
        path.write_text(text)
        stamps.append(jit._newest(sources))
    os.utime(second, (2e9, 2e9))
    stamps.append(jit._newest(sources))
    third = tmp_path / "new.py"
    third.write_text("c\n")
    stamps.append(jit._newest(sources | {third}))
    assert len(set(stamps)) == len(stamps)
    assert stamps[-1] == jit._newest(sources | {third})


def package_files() -> list[Path]:
    return sorted(jit.PACKAGE.rglob("*.py"))


def functions_marked(path: Path, marks: set[str]) -> set[str]:
    """The functions of a file that are decorated with one of these words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {f.name for f in functions if marks & {d.id for d in f.decorator_list if isinstance(d, ast.Name)}}


def test_every_file_with_kernels_belongs_to_the_sources_that_kernels_are_tied_to() -> None:
    users = {path for path in package_files() if functions_marked(path, {"kernel", "inlined", "called"})}
    assert len(users) > 15
    assert users <= jit._SOURCES


def test_the_tuples_that_kernels_take_are_defined_in_those_sources() -> None:
    """A field that is added to one of them must compile every kernel anew."""
    kinds = [CoreState, FlatModel, Limits, GlsConstants, GlsState, TreeConstants, TreeState, GreedyState]
    kinds += [GuidanceConstants, GuideState]
    assert {Path(str(sys.modules[kind.__module__].__file__)) for kind in kinds} <= jit._SOURCES


def test_files_without_kernels_that_change_often_are_not_among_them() -> None:
    names = {path.relative_to(jit.PACKAGE).as_posix() for path in jit._SOURCES}
    assert not {"solver.py", "__init__.py", "runner/search.py", "learn/train.py"} & names


class Calls(ast.NodeVisitor):
    """Calls of some functions outside of functions that are compiled."""

    def __init__(self, names: set[str]) -> None:
        self.names, self.lines = names, list[int]()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        marks = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        if not marks & {"kernel", "inlined", "called"}:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in self.names:
            self.lines.append(node.lineno)
        self.generic_visit(node)


def test_python_calls_no_function_that_only_kernels_may_call() -> None:
    """They have no wrapper for Python: a call would end the process."""
    inner = {name for path in package_files() for name in functions_marked(path, {"inlined", "called"})}
    inner -= {name for path in package_files() for name in functions_marked(path, {"kernel"})}
    wrong = []
    for path in package_files():
        calls = Calls(inner & imported_or_defined(path))
        calls.visit(ast.parse(path.read_text(encoding="utf-8")))
        wrong += [f"{path.relative_to(jit.PACKAGE)}:{line}" for line in calls.lines]
    assert wrong == []


def imported_or_defined(path: Path) -> set[str]:
    """The names of a file that stand for functions of kernels."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = functions_marked(path, {"inlined", "called"})
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("beacon."):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


LOADED_BY = """
import sys
import beacon
from beacon.model.families import ising_grid
beacon.solve(ising_grid(4, 4), strategy=sys.argv[1], stop=beacon.MaxSteps(20))
modules = [module for name, module in sys.modules.items() if name.startswith("beacon.")]
kernels = {f for module in modules for f in vars(module).values() if getattr(f, "signatures", None)}
print(*sorted(f.__name__ for f in kernels))
print(*(name for name in sys.modules if name.startswith("beacon.")))
"""


@compiled_only
@pytest.mark.parametrize(
    ("strategy", "needed", "not_needed"),
    [
        ("greedy", {"run_greedy"}, {"run_gls", "rebuild_utilities", "run_tree"}),
        ("gls+", {"run_gls", "rebuild_utilities"}, {"run_greedy", "run_tree", "recount"}),
        ("tree", {"run_tree", "recount"}, {"run_gls", "run_greedy", "rebuild"}),
        ("auto", {"answer_at_once"}, {"run_gls", "run_tree", "run_greedy", "pass_messages"}),
    ],
)
def test_a_query_loads_the_kernels_of_its_strategy_alone(
    strategy: str, needed: set[str], not_needed: set[str]
) -> None:
    lines = output_of(LOADED_BY, strategy).splitlines()
    kernels, modules = set(lines[0].split()), lines[1].split()
    assert needed <= kernels
    assert not not_needed & kernels
    assert not {"run_guided_gls", "run_guided_greedy", "build_guide"} & kernels
    if strategy in {"greedy", "gls+"}:
        assert not [name for name in modules if name.startswith("beacon.strategies.tree")]
