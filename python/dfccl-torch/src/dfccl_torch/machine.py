"""Which machines the ranks are on, and where those of several meet: found out before they wait for each other in vain."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path
from typing import NamedTuple

import torch.distributed as dist

from .errors import DfcclError


class Meeting(NamedTuple):
    """Of ranks on several machines."""

    host: str  # rank 0's, where the others reach it
    secret: str  # of this meeting alone
    machine: str  # this one's name


def meet(store: dist.Store, meeting: str, rank: int, size: int) -> Meeting | None:
    """Waits until all ranks have told where they are. None: on one machine. `meeting` begins the store's keys, and no other's.

    Raises DfcclError: OTHER_MACHINE on every rank where nothing tells how to reach rank 0's machine, and RANKS_MISSING where
    some ranks don't come within the store's timeout.
    """
    mine, name = _place(), socket.gethostname()
    store.set(f"{meeting}/{rank}", "")
    try:
        if rank == 0:
            store.set(f"{meeting}/first", f"{mine}\n{name}\n{_reached_at(store)}\n{secrets.token_hex(32)}")
        first, name_of_first, host, secret = store.get(f"{meeting}/first").decode().split("\n")
        if mine != first:
            store.set(f"{meeting}/where", f"{name_of_first}, and rank {rank} on {name}")
            store.add(f"{meeting}/apart", 1)
        if store.add(f"{meeting}/come", 1) == size:
            apart = store.add(f"{meeting}/apart", 0)
            store.set(f"{meeting}/all", store.get(f"{meeting}/where").decode() if apart else "")
        where = store.get(f"{meeting}/all").decode()
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
    if where and not host:
        raise DfcclError(
            "OTHER_MACHINE",
            f"Rank 0 is on {where}: on another machine, or in another network namespace of it, and nothing tells where rank 0 "
            "is reached.",
            "Set MASTER_ADDR to rank 0's machine, as torchrun does, or start all ranks on one (containers: --network host).",
        )
    return Meeting(host, secret, mine) if where else None


def _place() -> str:
    """Equal where ranks meet in memory: they do through an abstract socket, which is a network namespace's.

    DFCCL_HOST tells machines apart that the system has as one, for trials.
    """
    named = os.environ.get("DFCCL_HOST", "")
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.stat('/proc/self/ns/net').st_ino} {named}"
    except OSError:  # unknown, as in some sandboxes: they will see
        return f"unknown {named}"


def _reached_at(store: dist.Store) -> str:
    """Where others reach rank 0's machine, which has the store or is named by the launcher; "" where nothing tells."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    return store.host if isinstance(store, dist.TCPStore) else os.environ.get("MASTER_ADDR", "")
