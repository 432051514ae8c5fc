"""Beacon: most-probable-explanation inference by fast, learned local search.

The public names are listed in ``__init__.pyi`` and loaded when they are first used, so that ``import beacon``
is quick.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.2.0"

_NAME_TO_HOME: dict[str, str] = {
    name: home
    for home, name in re.findall(
        r"^from (\S+) import (\w+)",
        Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
__all__ = sorted(_NAME_TO_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name not in _NAME_TO_HOME:
        raise AttributeError(f"module 'beacon' has no attribute {name!r}")
    return getattr(import_module(_NAME_TO_HOME[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
