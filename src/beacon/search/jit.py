"""How kernels are compiled: cached on disk, without the GIL, and small helpers always inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function that Python calls."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled


def inlined(function: F) -> F:
    """Compile a function that only kernels call, and always in place."""
    compiled: F = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function)
    return compiled
