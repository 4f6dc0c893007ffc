"""Ranks whose collectives on GPUs are over before another has any: it begins only when it is told that they are.

What isn't so with a world in which all ranks have to come with an operation: those two would wait for the third for ever.
"""

import socket
import time

import torch
import torch.distributed as dist

from processes import expect_equal, folder, run_check

RANKS = 3


def tcp_store(rank, ranks):
    """One that is closed to a process's other threads while one of them waits, which a file's isn't."""
    told = folder() / "port"
    if rank == 0:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        store = dist.TCPStore("127.0.0.1", port, ranks, True, wait_for_workers=False)
        (folder() / "port.new").write_text(str(port))
        (folder() / "port.new").rename(told)
        return store
    while not told.exists():
        time.sleep(0.01)
    return dist.TCPStore("127.0.0.1", int(told.read_text()), ranks, False, wait_for_workers=False)


def check(rank, ranks, device):
    begin_late(rank, device, lambda: dist.send(torch.zeros(1), 2), lambda: dist.recv(torch.zeros(1), 1))
    dist.destroy_process_group()
    store = tcp_store(rank, ranks)
    dist.init_process_group("dfccl", store=store, rank=rank, world_size=ranks)
    begin_late(rank, device, lambda: store.set("news", ""), lambda: store.get("news"))


def begin_late(rank, device, tell, hear):
    some = dist.new_group([0, 1])
    if rank < 2:
        tensor = torch.full((1 << 20,), float(rank + 1), device=device)
        for _ in range(3):
            dist.all_reduce(tensor, group=some)
        expect_equal(tensor.cpu(), 12, "the sums of two ranks")
    if rank == 1:
        tell()
    if rank == 2:
        hear()
    tensor = torch.full((1000,), float(rank), device=device)
    dist.all_reduce(tensor)
    expect_equal(tensor.cpu(), 3, "the sum of all")


run_check(check, RANKS)
