"""How kernels are compiled: cached on disk, without the GIL, small helpers always in place.

Kernels allocate nothing, so numba's reference counting (``_nrt``) is off: it would touch a counter for
every array taken out of a state or model, which doubled the time of a step.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event as numba_event

F = TypeVar("F", bound=Callable[..., Any])
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
NOT_FOR_C: dict[str, Any] = {"no_cfunc_wrapper": True}
NOT_FOR_PYTHON: dict[str, Any] = {"no_cpython_wrapper": True, **NOT_FOR_C}
"""Without wrappers that Python or C would call: to unpack a model and a state takes longer to compile than
most functions themselves."""
PACKAGE = Path(__file__).parent
KERNEL_SOURCES = (
    "jit.py",
    "rng.py",
    "model/*.py",
    "reduce/*.py",
    "exact/*.py",
    "engine/*.py",
    "strategies/**/*.py",
    "guided/*.py",
    "learn/walks.py",
)
"""Where functions that kernels call are defined, and the tuples of arrays that they take."""
COMPILING = "compiling the search kernels (about a minute, once; they are kept on disk for later runs) …"


def kernel(function: F) -> F:
    """Compile a function that Python calls."""
    compiled: F = numba.njit(cache=True, **NOT_FOR_C, **OPTIONS)(function)
    _tie_cache_to_all_sources(compiled)
    return compiled


def inlined(function: F) -> F:
    """Compile a function that only kernels call, and always in place."""
    compiled: F = numba.njit(forceinline=True, **NOT_FOR_PYTHON, **OPTIONS)(function)
    return compiled


def called(function: F) -> F:
    """Compile a function that only kernels call, once for all of them: for what is large and rarely runs."""
    compiled: F = numba.njit(**NOT_FOR_PYTHON, **OPTIONS)(function)
    return compiled


def _tie_cache_to_all_sources(compiled: Any) -> None:
    """Recompile when any kernel source changes; numba looks only at the file of the kernel itself."""
    cache_file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _stamp_for(Path(compiled.py_func.__code__.co_filename))
    if hasattr(cache_file, "_load_index"):
        cache_file._load_index = _or_nothing(cache_file._load_index)
    _load_lightly(getattr(compiled, "_cache", None))


def _load_lightly(cache: Any) -> None:
    """Load a kernel from disk without the registries that only compiling needs.

    numba would import all of its numpy support, and scipy where it is installed: half a second.
    """
    if not (hasattr(cache, "load_overload") and hasattr(cache, "_load_overload")):
        return
    with_registries = cache.load_overload

    def load(signature: Any, context: Any) -> Any:
        try:
            return cache._load_overload(signature, context)
        except Exception:
            return with_registries(signature, context)

    cache.load_overload = load


def _or_nothing(load: Callable[[], dict[Any, str]]) -> Callable[[], dict[Any, str]]:
    """A list of kernels on disk; empty if it is damaged, or names classes that have moved since."""

    def load_or_nothing() -> dict[Any, str]:
        try:
            return load()
        except Exception:
            return {}

    return load_or_nothing


def _stamp_for(source: Path) -> tuple[float, ...]:
    """The stamp of the engine's sources; a kernel of another package is tied to its own file, too."""
    if source in _SOURCES:
        return _SOURCE_STAMP
    if not source.exists():  # a notebook's cell: numba's cache is named after its text
        return _SOURCE_STAMP
    own = source.stat()
    return (*_SOURCE_STAMP, own.st_mtime, own.st_size)


def _newest(sources: frozenset[Path]) -> tuple[float, int]:
    stats = [path.stat() for path in sources]
    return max(stat.st_mtime for stat in stats), sum(stat.st_size for stat in stats)


class _CompileNotice(numba_event.Listener):
    """Logs one line per process when a kernel is compiled, which takes a while; loading it does not."""

    def __init__(self) -> None:
        self.is_given = False

    def on_start(self, event: Any) -> None:
        """Called by numba when it finds no kernel on disk."""
        if not self.is_given and event.data["dispatcher"].py_func.__module__.startswith("beacon."):
            self.is_given = True
            logging.getLogger("beacon").warning(COMPILING)

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


numba_event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]

_SOURCES = frozenset(path for pattern in KERNEL_SOURCES for path in PACKAGE.glob(pattern))
_SOURCE_STAMP = _newest(_SOURCES)
