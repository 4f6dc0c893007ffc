"""The default group is destroyed and made anew, 20 times in one process."""

import torch
import torch.distributed as dist

from processes import begin_group, expect_equal, run_check

TIMES = 20


def check(rank, ranks, device):
    for i in range(TIMES):
        x = torch.full((1000,), float(rank + i), device=device)
        dist.all_reduce(x)
        expect_equal(x, ranks * (ranks - 1) / 2 + ranks * i, f"time {i}")
        dist.destroy_process_group()
        begin_group(rank, ranks, i + 1)


run_check(check)
