"""Each folder of the package sees only the folders above it; heavy packages stay where they belong."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "beacon"
LAYERS = [
    "io",
    "model",
    "formats",
    "reduce",
    "exact",
    "engine",
    "strategies",
    "guided",
    "runner",
    "query",
    "peers",
    "guide",
    "learn",
    "solver",
    "session",
    "evaluation",
    "report",
    "pipeline",
    "serve",
    "cli",
]
NOT_SEEN = {
    "engine": {"formats"},
    "strategies": {"formats"},
    "runner": {"formats"},
}  # above it, and still none of its business
LATER_IMPORTS = {
    ("runner/result.py", "report"),
    ("evaluation/evaluation.py", "report"),
}  # inside functions only: results can draw themselves
FOR_ALL = {"errors", "jit", "rng", "plugins", "__version__"}
HOMES = {"torch": {"guide", "learn"}, "matplotlib": {"report"}, "starlette": {"serve"}, "uvicorn": {"serve"}}
HEAVY = ["numba", "pyarrow", "torch", "matplotlib", "starlette", "uvicorn"]


class Import(NamedTuple):
    file: str
    module: str
    line: int
    in_function: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"

    @property
    def layer(self) -> str:
        """The folder that imports."""
        return self.file.split("/")[0]

    @property
    def target(self) -> str:
        """The folder of Beacon that is imported from; empty for other packages, and for what is for all."""
        package, name = (*self.module.split("."), "")[:2]
        return name or "all of Beacon" if package == "beacon" and name not in FOR_ALL else ""


def imports_in(source: str, file: str) -> list[Import]:
    return list(_imports(ast.parse(source), file, in_function=False))


def _imports(node: ast.AST, file: str, in_function: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(file, alias.name, node.lineno, in_function)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{file}:{node.lineno} has a relative import"
        names = [f"beacon.{alias.name}" for alias in node.names] if node.module == "beacon" else [node.module]
        for name in names:
            yield Import(file, str(name), node.lineno, in_function)
    inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, file, inside)


def all_imports() -> list[Import]:
    files = [path for layer in LAYERS for path in sorted((PACKAGE / layer).rglob("*.py"))]
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in files}
    return [found for file, text in texts.items() for found in imports_in(text, file)]


def breaks_the_order(found: Import) -> bool:
    if not found.target or found.target == found.layer:
        return False
    if found.target not in LAYERS or found.target in NOT_SEEN.get(found.layer, ()):
        return True
    goes_down = LAYERS.index(found.target) < LAYERS.index(found.layer)
    allowed = found.in_function and (found.file, found.target) in LATER_IMPORTS
    return not goes_down and not allowed


def modules_after(statement: str) -> list[str]:
    """The heavy packages that are loaded after a statement in a fresh interpreter."""
    code = f"import json, sys; {statement}; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(done.stdout)
    return loaded


def test_every_folder_of_the_package_is_a_known_layer() -> None:
    folders = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert folders <= set(LAYERS)
    assert {"model", "formats", "engine", "query", "cli"} <= folders


def test_folders_import_only_from_folders_above_them() -> None:
    assert [str(found) for found in all_imports() if breaks_the_order(found)] == []


@pytest.mark.parametrize("package", HOMES)
def test_heavy_packages_are_imported_only_in_their_folders(package: str) -> None:
    users = [found for found in all_imports() if found.module.split(".")[0] == package]
    assert [str(found) for found in users if found.layer not in HOMES[package]] == []


def test_the_list_of_exceptions_holds_no_more_than_is_used() -> None:
    used = {(found.file, found.target) for found in all_imports() if found.in_function}
    assert used >= LATER_IMPORTS


def test_a_broken_order_would_be_found() -> None:
    lines = ["import beacon.cli.app", "from beacon.formats import uai", "import beacon", "def f():"]
    lines += ["    from beacon.query import gibbs", "from beacon import solve"]
    broken = [found for found in imports_in("\n".join(lines), "engine/flip.py") if breaks_the_order(found)]
    assert [found.line for found in broken] == [1, 2, 3, 5, 6]


def test_what_lies_above_and_what_is_for_all_may_be_imported() -> None:
    lines = [
        "from beacon.model.flat import FlatModel",
        "from beacon.errors import UsageError",
        "import numpy",
    ]
    lines += ["from beacon import __version__", "import beacon.engine.flip"]
    assert not any(map(breaks_the_order, imports_in("\n".join(lines), "strategies/gls.py")))


@pytest.mark.parametrize(
    "statement", ["import beacon", "import beacon.cli", "from beacon import BeaconError"]
)
def test_importing_beacon_loads_nothing_heavy(statement: str) -> None:
    assert modules_after(statement) == []


def test_solving_loads_neither_torch_nor_matplotlib() -> None:
    assert set(modules_after("from beacon import solve, read_model")) <= {"numba"}


def test_the_notes_for_contributors_list_the_layers_in_their_order() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", text, flags=re.MULTILINE)
    assert listed == LAYERS


def test_one_solve_imports_no_more_files_than_the_design_page_says(tmp_path: Path) -> None:
    model = tmp_path / "pair.uai"
    model.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n")
    code = """
import contextlib, io, sys
from beacon.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "beacon"]
slow = [name for name in ("torch", "matplotlib", "pyarrow", "pydantic") if name in sys.modules]
print(slow, len({module.__file__ for module in modules if len(open(module.__file__).readlines()) > 2}))
"""
    command = ["solve", str(model), "--method", "gls+", "--steps", "100", "--quiet"]
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    said = re.search(r"(\d+) files, not counting", (ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
    assert said is not None
    slow, _, count = done.stdout.splitlines()[-1].rpartition(" ")
    assert slow == "[]"
    assert int(count) <= int(said[1])
