"""How kernels are compiled: cached on disk, without the GIL, small helpers always in place.

Kernels allocate nothing, so numba's reference counting (``_nrt``) is off: it would touch a counter for
every array taken out of a state or model, which doubled the time of a step.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event as numba_event
from numba.core.caching import IndexDataCacheFile, InTreeCacheLocator, UserProvidedCacheLocator

F = TypeVar("F", bound=Callable[..., Any])
ZERO: int = np.int64(0)  # type: ignore[assignment]
"""Not a literal, and 64 bits wide: numba compiles a helper once more for each kind of number it is handed."""
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
    compiled: F = numba.njit(**NOT_FOR_C, **OPTIONS)(function)
    _keep_on_disk(compiled)
    return compiled


def inlined(function: F) -> F:
    """Compile a function that only kernels call, and always in place."""
    compiled: F = numba.njit(forceinline=True, **NOT_FOR_PYTHON, **OPTIONS)(function)
    return compiled


def called(function: F) -> F:
    """Compile a function that only kernels call, once for all of them: for what is large and rarely runs."""
    compiled: F = numba.njit(**NOT_FOR_PYTHON, **OPTIONS)(function)
    return compiled


def _keep_on_disk(compiled: Any) -> None:
    """Keep what is compiled; where no folder can be written, use what is there, or a temporary one."""
    if not hasattr(compiled, "enable_caching"):  # compiling is switched off
        return
    try:
        compiled.enable_caching()
    except (RuntimeError, OSError):
        if not (_can_be_read(compiled) or _temporary_folder()):
            return
        compiled.enable_caching()
    cache_file: Any = compiled._cache._cache_file
    cache_file.__class__ = _CheckedCacheFile
    cache_file._source_stamp = _stamp_for(Path(compiled.py_func.__code__.co_filename))
    _load_lightly(compiled._cache)


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


def _can_be_read(compiled: Any) -> bool:
    """Is there a folder with this kernel, such as one in an image, though nothing can be written to it?"""
    source = compiled.py_func.__code__.co_filename
    locators: list[Any] = [UserProvidedCacheLocator] if numba.config.CACHE_DIR else []  # type: ignore[attr-defined]
    locators.append(InTreeCacheLocator)
    for locator in locators:
        folder = Path(locator(compiled.py_func, source).get_cache_path())
        if any(folder.glob(f"{Path(source).stem}.{compiled.py_func.__qualname__}-*.nbi")):
            locator.ensure_cache_path = lambda self: None
            return True
    return False


@cache
def _temporary_folder() -> str:
    """A folder for the kernels of this process and its children; empty if there can be none."""
    _notice("no folder for compiled kernels can be written: they are kept for this run alone")
    try:
        folder = tempfile.mkdtemp(prefix="beacon-kernels-")
    except OSError:
        return ""
    atexit.register(_remove, folder, os.getpid())
    os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    return folder


def _remove(folder: str, owner: int) -> None:
    """Clear up at the end of the process that made the folder; a fork of it leaves it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _notice(what: str) -> None:
    """Say something once."""
    logging.getLogger("beacon").warning(
        "%s, and compiling takes about a minute; set NUMBA_CACHE_DIR to a folder with some 100 MB", what
    )


class _CheckedCacheFile(IndexDataCacheFile):
    """Kernels on disk with a digest: damaged ones are compiled anew, and a full disk stops no search.

    A list of kernels may also name classes that have moved since.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep a kernel, if that is possible."""
        try:
            super().save(key, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            _notice(f"compiled kernels cannot be kept in {self._cache_path} ({error.strerror})")

    def load(self, key: Any) -> Any:
        """A kernel, if there is one."""
        try:
            return super().load(key)  # type: ignore[no-untyped-call]
        except Exception:
            return None

    def _load_index(self) -> dict[Any, str]:
        try:
            with open(self._index_path, "rb") as file:
                version = pickle.load(file)
                stamp, kernels = self._checked(file.read())
        except Exception:
            return {}
        return kernels if (version, stamp) == (self._version, self._source_stamp) else {}

    def _load_data(self, name: str) -> Any:
        return self._checked(Path(self._cache_path, name).read_bytes())

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)  # type: ignore[no-untyped-call]
        return hashlib.blake2b(data, digest_size=16).digest() + data

    def _checked(self, data: bytes) -> Any:
        if hashlib.blake2b(data[16:], digest_size=16).digest() != data[:16]:
            raise ValueError("damaged")
        return pickle.loads(data[16:])


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
