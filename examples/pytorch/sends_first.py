"""Both ranks send before they receive, as the stages of a pipeline do that exchange what their neighbours need.

A send that waits for its receiver never ends then (https://github.com/NVIDIA/nccl/issues/783). Here small ones are copied, and over
at once; large ones are `isend`, on both backends, and wait for nobody either.
"""

import torch
import torch.distributed as dist
from side_by_side import compare


def program(rank, ranks, device):
    neighbour = 1 - rank
    received = torch.empty(1000, device=device)
    dist.send(torch.full((1000,), float(rank), device=device), neighbour)
    dist.recv(received, neighbour)
    return f"received {received[0]:g}"


if __name__ == "__main__":
    compare(program)
