"""Two groups of the same ranks, used in another order on each, and the device synchronized in between.

Where a collective holds the device until its peers come, as NCCL's kernel does, the synchronization waits for a peer that
itself synchronizes on the other group's. Here a run that waits for ranks holds nothing.
"""

import torch
import torch.distributed as dist

from processes import ON_GPU, expect_equal, run_check


def check(rank, ranks, device):
    groups = [dist.new_group(list(range(ranks))) for _ in range(2)]
    for i in range(50):
        tensors = [torch.full((1 << 18,), float(rank + n + i), device=device) for n in range(2)]
        works = {}
        for n in (0, 1) if rank % 2 == 0 else (1, 0):
            works[n] = dist.all_reduce(tensors[n], group=groups[n], async_op=True)
            if ON_GPU:
                torch.cuda.synchronize()
        for n in (0, 1):
            works[n].wait()
            expect_equal(tensors[n], ranks * (ranks - 1) / 2 + ranks * (n + i), f"group {n}, round {i}")


run_check(check)
