"""DFCCL_IN_STREAMS=1 on one rank and not on the other: both are told so at the first collective."""

import os

os.environ["DFCCL_IN_STREAMS"] = str(1 - int(os.environ.get("RANK", "0")))

import torch
import torch.distributed as dist

from processes import expect, run_check


def check(rank, ranks, device):
    try:
        dist.all_reduce(torch.ones(8, device=device))
    except dist.DistBackendError as error:
        expect("DFCCL_IN_STREAMS=1 is set on rank 0 and not on rank 1" in str(error), str(error))
    else:
        raise AssertionError("it was accepted")


run_check(check, gpu_only=True)
