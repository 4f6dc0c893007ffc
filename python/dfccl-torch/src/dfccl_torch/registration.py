"""What torch.distributed calls to make a process group's backend."""

from __future__ import annotations

import os
import secrets
import socket
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from . import monitored_barrier, split_group
from .extension import load_extension
from .gpu_call import Listener
from .machine import Meeting, meet
from .name import NAME


def register() -> None:
    """Makes "dfccl" known to torch.distributed, for tensors on CPUs, and on GPUs where torch has CUDA.

    Done already by importing the package.
    """
    if NAME not in dist.Backend.backend_list:
        devices = ["cpu", "cuda"] if torch.version.cuda else ["cpu"]
        dist.Backend.register_backend(NAME, create_backend, extended_api=True, devices=devices)
        for replaced in (monitored_barrier, split_group):
            replaced.let_torch_call_it()


def create_backend(options: Any, _group_options: Any = None) -> dist.Backend:
    """One process group's backend; waits for the other ranks where they have no world in common yet."""
    extension = load_extension()
    # A default group's list is empty, and there are no others before it.
    world_ranks = list(options.global_ranks_in_group) or list(range(options.group_size))
    timeout = _timedelta_of(options.timeout)
    # A default group begins anew, on all ranks: whoever still holds one from before has that one's universe.
    universe = _universe_of_all(extension, options) if options.global_ranks_in_group else None
    if universe is None:
        is_everybody = _is_everybody(options)
        if not is_everybody:  # a group of some ranks beside a default group of another backend: a world of its own
            world_ranks = list(range(options.group_size))
        job, meeting = _agree_on_job(options.store, options.group_rank, options.group_size)
        where = meeting._asdict() if meeting else {}
        rank, size = world_ranks[options.group_rank], options.group_size
        universe = extension.Universe(job, rank, size, timeout, options.store, **where)
        if is_everybody:
            extension.share_universe(universe)
        if extension.has_cuda and torch.cuda.device_count() > 0:
            Listener(extension.GpuCall(universe), size)
    return extension.make_backend(universe, world_ranks, options.group_id, options.group_rank, timeout)


def _universe_of_all(extension: Any, options: Any) -> Any:
    """The universe that all ranks of the group hold, or None.

    Beside a default group of another backend some may still hold one that others have none of any more, or another one.
    """
    mine = extension.shared_universe()
    if NAME in dist.get_backend_config():  # each rank's default group holds it
        return mine
    job, store, size = mine.job if mine else "", options.store, options.group_size
    attempt = _attempt(size)
    coming = (store.add(f"{attempt}/meetings", 1) - 1) // size  # of all ranks, as below
    holders, told, shared = (f"{attempt}/meeting/{coming}/{what}" for what in (f"holders/{job}", "told", "shared"))
    store.add(holders, 1)
    if store.add(told, 1) == size:
        store.set(shared, job if store.add(holders, 0) == size else "")
    return mine if job and store.get(shared).decode() == job else None


def _is_everybody(options: Any) -> bool:
    if not options.global_ranks_in_group:
        return True
    return dist.is_initialized() and options.group_size == dist.get_world_size()


def _timedelta_of(timeout: timedelta | float) -> timedelta:
    # What is longer doesn't fit the nanoseconds of clocks.
    return min(timeout if isinstance(timeout, timedelta) else timedelta(seconds=timeout), timedelta(days=3650))


def _attempt(size: int) -> str:
    """Begins the store's keys of this many ranks, as an agent has started them."""
    return f"dfccl/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{size}"


def _agree_on_job(store: dist.Store, rank: int, size: int) -> tuple[str, Meeting | None]:
    """A name that no other job has, made by rank 0 and told through the store, and where its ranks meet.

    Raises DfcclError as meet().

    Programs may destroy their groups and begin again with the same store, in which the last name still is: the n-th
    coming of all ranks has the n-th name. Of ranks that an agent starts again some may never have come: each attempt
    counts for itself.
    """
    attempt = _attempt(size)
    coming = (store.add(f"{attempt}/comings", 1) - 1) // size
    meeting = meet(store, f"{attempt}/meeting-on/{coming}", rank, size)
    key = f"{attempt}/job/{coming}"
    if rank == 0:
        store.set(key, f"torch-{socket.gethostname()[:32]}-{os.getpid()}-{secrets.token_hex(8)}")
    return store.get(key).decode(), meeting
