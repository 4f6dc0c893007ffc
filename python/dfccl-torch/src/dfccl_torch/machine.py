"""Whether ranks can meet: found out before they wait for each other in vain."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import torch.distributed as dist

from .errors import DfcclError


def meet_on_one_machine(store: dist.Store, meeting: str, rank: int, size: int) -> None:
    """Waits until all ranks have told where they are. @param meeting: begins the store's keys, and no other meeting's.

    Raises DfcclError: OTHER_MACHINE on every rank where one can't be reached by rank 0, and RANKS_MISSING where some don't
    come within the store's timeout.
    """
    mine, name = _place(), socket.gethostname()
    store.set(f"{meeting}/{rank}", "")
    try:
        if rank == 0:
            store.set(f"{meeting}/first", f"{mine}\n{name}")
        first, name_of_first = store.get(f"{meeting}/first").decode().split("\n")
        if mine != first:
            store.set(f"{meeting}/apart", _apart(rank, name, name_of_first))
        elif store.add(f"{meeting}/together", 1) == size:
            store.set(f"{meeting}/apart", "")
        apart = store.get(f"{meeting}/apart").decode()
    except RuntimeError as error:  # of stores, some with no type of its own
        missing = [one for one in range(size) if not store.check([f"{meeting}/{one}"])]
        if not missing:
            raise
        raise DfcclError(
            "RANKS_MISSING",
            f"Ranks {', '.join(map(str, missing))} didn't come to this process group in time.",
            "See why those processes didn't start, or give init_process_group a longer timeout.",
            missing=missing,
        ) from error
    if apart:
        raise DfcclError(
            "OTHER_MACHINE",
            apart,
            "Start all ranks on one machine and, if in containers, with one network (docker run --network host).",
        )


def _place() -> str:
    """Equal where ranks meet: they do through an abstract socket, which is a network namespace's."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.stat('/proc/self/ns/net').st_ino}"
    except OSError:  # unknown, as in some sandboxes: they will see
        return "unknown"


def _apart(rank: int, host: str, host_of_first: str) -> str:
    where = f"{host_of_first}, and rank {rank} on {host}"
    return f"Rank 0 is on {where}: on another machine, or in another network namespace of it, where it can't be reached."
