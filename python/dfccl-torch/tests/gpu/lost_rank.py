"""A rank's process ends between two steps: the other one, whose host waits for nothing, is told by a later collective."""

import os
import time

import torch
import torch.distributed as dist

from processes import ON_GPU, expect, run_check

STEPS, LIMIT_S = 5, 60


def train_on(rank, ranks, device):
    end = time.monotonic() + LIMIT_S
    for step in range(1 << 30):
        gradient = torch.full((1000,), float(rank), device=device)
        try:
            # On a GPU it's the stream that waits.
            dist.all_reduce(gradient, async_op=not ON_GPU)
        except dist.DistBackendError as error:
            expect("nobody waited on the host" in str(error), f"an error of another kind: {error}")
            expect(step >= STEPS, f"told in step {step}, and rank 1 took part in {STEPS}")
            return
        if rank == 1 and step + 1 == STEPS:
            if ON_GPU:
                torch.cuda.synchronize()
            os._exit(0)
        time.sleep(1e-3)
        expect(time.monotonic() < end, f"not told in {LIMIT_S} s, {step} steps")


run_check(train_on)
