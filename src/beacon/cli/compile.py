"""``beacon compile``: all kernels, ahead of time."""

from __future__ import annotations

from time import perf_counter

from beacon.cli.console import ProgressBar, say, say_json
from beacon.cli.options import Json, Quiet


def compile_(*, json: Json = False, quiet: Quiet = False) -> None:
    """Compile all kernels now and keep them on disk, for images and clusters: no later run has to wait.

    They are kept beside the package, or in the folder that the environment variable NUMBA_CACHE_DIR names.

    Example:  NUMBA_CACHE_DIR=/opt/beacon-kernels beacon compile
    """
    from beacon.pipeline.kernels import compile_side_by_side  # noqa: PLC0415

    began = perf_counter()
    with ProgressBar("compiling", None, quiet):
        compile_side_by_side()
    seconds = perf_counter() - began
    say_json({"seconds": seconds}) if json else say(f"all kernels are compiled ({seconds:.1f} s)")
