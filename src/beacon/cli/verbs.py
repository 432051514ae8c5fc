"""The verbs, loaded when they are asked for: ``beacon --help`` needs neither numba nor settings."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

VERBS = (
    "info",
    "solve",
    "check",
    "convert",
    "generate",
    "queries",
    "collect",
    "train",
    "tune",
    "evaluate",
    "report",
    "run",
    "uai",
    "compile",
    "demo",
)


def verb_command(name: str) -> Any:
    """The command of a verb: the function of that name in the module of that name."""
    module = import_module(f"beacon.cli.{name}")
    alone = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    alone.command(name)(getattr(module, name, None) or getattr(module, f"{name}_"))
    return typer.main.get_command(alone)


def verb_listed(name: str) -> TyperCommand:
    """A stand-in with the verb's help, read from its file."""
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    verb = next(node for node in tree.body if getattr(node, "name", "").rstrip("_") == name)
    return TyperCommand(name, help=inspect.cleandoc(ast.get_docstring(verb) or ""), rich_markup_mode="rich")  # type: ignore[arg-type]
