"""Where the network runs, and how much it may take on at once there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

import torch

from beacon.errors import UsageError

GIB = 2**30
CPU_TRAINING_BYTES = GIB // 2
MAX_CUDA_TRAINING_BYTES = 24 * GIB  # larger batches are no faster
DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str | torch.device = "auto") -> torch.device:
    """The device of that name; ``auto`` is the GPU where there is one."""
    if isinstance(name, torch.device):
        return name
    kind = name.partition(":")[0]
    if kind not in DEVICES:
        raise UsageError(f"device must be auto, cpu or cuda; found {name!r}")
    has_gpu = torch.cuda.is_available()
    if kind == "cuda" and not has_gpu:
        raise UsageError("device cuda was asked for and torch finds no GPU; use --device cpu or auto")
    return torch.device(("cuda" if has_gpu else "cpu") if kind == "auto" else name)


def autocast(device: torch.device) -> AbstractContextManager[None]:
    """Matrix products in bfloat16 on a GPU; single precision, which is reproducible, on the CPU."""
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda")


def training_bytes(device: torch.device) -> int:
    """Memory that the activations of one micro-batch may take."""
    if device.type != "cuda":
        return CPU_TRAINING_BYTES
    free, _ = torch.cuda.mem_get_info(device)
    return min(MAX_CUDA_TRAINING_BYTES, int(0.6 * free))


def number_bytes(device: torch.device) -> int:
    """Bytes of a number in a matrix product there."""
    return 2 if device.type == "cuda" else 4


@cache
def can_compile(device: torch.device) -> bool:
    """Is it a GPU, and does torch find what it needs to compile for it (Triton and a C compiler)?"""
    if device.type != "cuda":
        return False
    try:
        torch.compile(_trial)(torch.zeros(8, device=device))
    except Exception:  # whatever is missing, the network runs without
        return False
    return True


def _trial(x: torch.Tensor) -> torch.Tensor:
    return x.relu() + 1
