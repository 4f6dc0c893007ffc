"""Ranks whose collectives on GPUs are over before another has any: it begins only when it is told that they are.

What isn't so with a world in which all ranks have to come with an operation: those two would wait for the third for ever.
"""

import torch
import torch.distributed as dist

from processes import expect_equal, run_check

RANKS = 3


def check(rank, ranks, device):
    some = dist.new_group([0, 1])
    news = torch.zeros(1)
    if rank < 2:
        tensor = torch.full((1 << 20,), float(rank + 1), device=device)
        for _ in range(3):
            dist.all_reduce(tensor, group=some)
        expect_equal(tensor.cpu(), 12, "the sums of two ranks")
    if rank == 1:
        dist.send(news, 2)
    if rank == 2:
        dist.recv(news, 1)
    tensor = torch.full((1000,), float(rank), device=device)
    dist.all_reduce(tensor)
    expect_equal(tensor.cpu(), 3, "the sum of all")


run_check(check, RANKS)
