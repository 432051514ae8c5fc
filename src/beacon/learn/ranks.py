"""Training in several processes: who am I, and what do we have together? Alone unless torchrun says so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from beacon.guide.device import choose_device


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Is this the one process that writes files and tells people?"""
        return self.rank == 0

    @property
    def share(self) -> slice:
        """This process's part of a batch."""
        return slice(self.rank, None, self.world)

    def joined(self, network: nn.Module) -> nn.Module:
        """The network with gradients that are averaged over all processes."""
        if self.world == 1:
            return network
        places = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=places)

    def total(self, sums: Tensor) -> Tensor:
        """Sums over all processes."""
        if self.world > 1:
            distributed.all_reduce(sums)
        return sums


def num_processes() -> int:
    """Processes that torchrun started for this training."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_leader() -> bool:
    """Is this process to write files and tell people? True of a process on its own."""
    return int(os.environ.get("RANK", "0")) == 0


@contextmanager
def ranks_on(device: str | torch.device) -> Iterator[Ranks]:
    """Join the other processes of a torchrun, if there are any, each with a GPU of its own."""
    chosen = choose_device(device)
    if num_processes() == 1:
        yield Ranks(chosen)
        return
    if chosen == torch.device("cuda"):  # any of them
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    is_new = not distributed.is_initialized()
    if is_new:
        distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield Ranks(chosen, distributed.get_rank(), distributed.get_world_size())
    finally:
        if is_new:
            distributed.destroy_process_group()
