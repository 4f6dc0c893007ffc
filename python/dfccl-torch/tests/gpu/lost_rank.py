"""A rank's process ends between two steps: the other one, whose host waits for nothing, is told by the next collective."""

import os
import time

import torch
import torch.distributed as dist

from processes import expect, run_check

STEPS, LIMIT_S = 5, 60


def train_on(rank, ranks, device):
    parameter = torch.zeros(1000, device=device)
    end = time.monotonic() + LIMIT_S
    for step in range(1 << 30):
        gradient = torch.full_like(parameter, float(rank))
        try:
            dist.all_reduce(gradient)
        except dist.DistBackendError as error:
            expect("gone" in str(error), f"an error of another kind: {error}")
            expect(step >= STEPS, f"told in step {step}, and rank 1 took part in {STEPS}")
            return
        parameter -= gradient
        if rank == 1 and step + 1 == STEPS:
            if device.type == "cuda":
                torch.cuda.synchronize()
            os._exit(0)
        expect(time.monotonic() < end, f"not told in {LIMIT_S} s, {step} steps")


run_check(train_on)
