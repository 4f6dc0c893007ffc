"""Sends of copies, which are over for their sender before they are received."""

import torch
import torch.distributed as dist
from ranks import run_ranks


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def one_unreceived(rank, size):
    """The first one is received last; those behind it, 96 MB in all, as they come."""
    bytes_each = 32 * 1024
    tensor = torch.zeros(bytes_each // 4)
    if rank == 0:
        dist.send(torch.full((1,), 5.0), 1, tag=99)
    for n in range(3_000):
        dist.send(tensor, 1) if rank == 0 else dist.recv(tensor, 0)
        if n == 200:
            before = resident_bytes()
        if n % 50 == 0:
            dist.barrier()
    grown = resident_bytes() - before
    last = torch.zeros(1)
    if rank == 1:
        dist.recv(last, 0, tag=99)
        assert last.item() == 5
    return grown


def test_one_that_nobody_receives_keeps_no_others():
    grown = run_ranks(2, one_unreceived)
    assert grown[0] < 30e6, grown
