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
    known = _store_is_at(store)
    store.set(f"{meeting}/{rank}", "")
    try:
        if rank == 0:
            told = (mine, name, _address_towards(known) if known else "nowhere", secrets.token_hex(32))
            store.set(f"{meeting}/first", "\n".join(told))
        first, name_of_first, address, secret = store.get(f"{meeting}/first").decode().split("\n")
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
    if not where:
        return None
    if address == "nowhere":
        raise DfcclError(
            "OTHER_MACHINE",
            f"Rank 0 is on {where}: on another machine, or in another network namespace of it, and nothing tells where rank 0 "
            "is reached.",
            "Set MASTER_ADDR to rank 0's machine, as torchrun does, or start all ranks on one (containers: --network host).",
        )
    # Without an address of its own rank 0 is where the store is, which each rank knows by its own name for it.
    return Meeting(_everywhere() if rank == 0 else address or known, secret, mine)


def _place() -> str:
    """Equal where ranks meet in memory: they do through an abstract socket, which is a network namespace's.

    DFCCL_HOST tells machines apart that the system has as one, for trials.
    """
    named = os.environ.get("DFCCL_HOST", "")
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.stat('/proc/self/ns/net').st_ino} {named}"
    except OSError:  # unknown, as in some sandboxes: they will see
        return f"unknown {socket.gethostname()} {named}"


def _store_is_at(store: dist.Store) -> str:
    """The host of the store, or which the launcher names; "" where nothing tells."""
    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    return store.host if isinstance(store, dist.TCPStore) else os.environ.get("MASTER_ADDR", "")


def _address_towards(host: str) -> str:
    """This machine's address on the way to a host; "" where that is this machine, or isn't known."""
    try:
        found = socket.getaddrinfo(host, 1, type=socket.SOCK_DGRAM)
    except OSError:
        return ""
    for family, _, _, _, address in found:
        with socket.socket(family, socket.SOCK_DGRAM) as way:
            try:
                way.connect(address)  # sends nothing
                mine = way.getsockname()[0]
            except OSError:
                continue
            return "" if mine == "::1" or mine.startswith("127.") or mine == address[0] else mine
    return ""


def _everywhere() -> str:
    """All of this machine's addresses: what its own name stands for here may be a loopback's."""
    try:
        with socket.socket(socket.AF_INET6) as both:
            both.bind(("::", 0))
            if not both.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
                return "::"
    except OSError:
        pass
    return "0.0.0.0"
