"""`beacon serve` with an enemy inside: twice a second one of its worker threads is ended.

Used by serve_load.py; takes the arguments of ``beacon``.
"""

from __future__ import annotations

import ctypes
import random
import threading
from time import sleep

from beacon.cli import main

PAUSE_SECONDS = 0.5
NAME = "beacon-worker"


def kill(thread: threading.Thread) -> None:
    """End a thread wherever it is, as soon as it runs Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
    )


def kill_now_and_then() -> None:
    """Until the process ends."""
    rng = random.Random(0)
    while True:
        sleep(PAUSE_SECONDS)
        workers = [thread for thread in threading.enumerate() if thread.name == NAME]
        if workers:
            kill(rng.choice(workers))


if __name__ == "__main__":
    threading.Thread(target=kill_now_and_then, daemon=True).start()
    main()
