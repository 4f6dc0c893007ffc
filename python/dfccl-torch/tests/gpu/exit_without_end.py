"""Processes that end while work is outstanding and the group is there: with 0, and without a word on stderr.

Of what is outstanding, some is never waited for, some has callbacks in Python, and some lacks a rank for good.
"""

import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist

from processes import expect, run_check

TIMES = 5


def leave(rank, ranks, device):
    kept = []
    for i in range(20):
        tensors = [torch.full((100_000,), float(rank), device=device) for _ in range(4)]
        for tensor in tensors:
            work = dist.all_reduce(tensor, async_op=True)
            if i % 2:
                kept.append(work.get_future().then(lambda future: future.value()[0].sum()))
        # Which nobody receives; for smaller ones the end would wait a while.
        dist.isend(torch.full((10_000,), float(i), device=device), (rank + 1) % ranks)
        strided = torch.full((1000, 2), 1.0, device=device)[:, 0]
        kept.append((dist.all_reduce(strided, async_op=True), strided))
    leave.kept = kept  # what only the end of the interpreter gives back


def main():
    for i in range(TIMES):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "DFCCL_CHECK_FOLDER": folder, "WORLD_SIZE": "2"}
            processes = [
                subprocess.Popen(
                    [sys.executable, __file__],
                    env={**environment, "RANK": str(rank)},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for rank in range(2)
            ]
            end = time.monotonic() + 120
            for rank, process in enumerate(processes):
                errors = process.communicate(timeout=end - time.monotonic())[1]
                expect(process.returncode == 0, f"time {i}, rank {rank} ended with {process.returncode}:\n{errors}")
                expect("terminate called" not in errors, errors)
    print(f"{TIMES} times: good")


if "RANK" in os.environ:
    run_check(leave, ends_group=False)
else:
    main()
