"""The command line: one file per verb.

Verbs import what they need inside their functions (``noqa: PLC0415``): numba, numpy and the file readers
take time to load, and ``beacon --help`` needs none of them.
"""

import gc
import signal
import sys

GARBAGE_THRESHOLD = 50_000  # loading packages makes many objects and no garbage: look for it less often


def main() -> None:
    """Run ``beacon`` with the arguments of the process, and leave with its exit code."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        from beacon.cli.app import app  # noqa: PLC0415
        from beacon.cli.console import make_streams_safe  # noqa: PLC0415
        from beacon.cli.ending import handle_signals  # noqa: PLC0415

        handle_signals()
        make_streams_safe()
        try:
            app(prog_name="beacon")
        finally:
            handle_signals(signal.SIG_IGN)  # all is said: nothing is left to be stopped
    except KeyboardInterrupt:
        print("beacon: interrupted", file=sys.stderr)
        sys.exit(130)
