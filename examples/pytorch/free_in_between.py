"""Memory is given back to CUDA while a collective waits for a peer that first wants another one.

cudaFree waits until the device is idle, which NCCL's kernel isn't until its peer comes: https://github.com/NVIDIA/nccl/issues/48.
Here `torch.cuda.empty_cache()` calls it; a cache that is full does so as well. dfccl's daemon leaves the device when it is stuck.
"""

import torch
import torch.distributed as dist
from side_by_side import compare


def program(rank, ranks, device):
    groups = [dist.new_group(), dist.new_group()]
    sums = [torch.ones(1000, device=device), torch.full((1000,), 10.0, device=device)]
    spare = torch.empty(64 << 20, dtype=torch.uint8, device=device)
    for group in groups:
        dist.all_reduce(torch.zeros(1, device=device), group=group)  # the ranks are connected
    torch.cuda.synchronize()
    del spare
    if rank == 0:
        first = dist.all_reduce(sums[0], group=groups[0], async_op=True)
        torch.cuda.empty_cache()
        second = dist.all_reduce(sums[1], group=groups[1], async_op=True)
    else:
        second = dist.all_reduce(sums[1], group=groups[1], async_op=True)
        second.wait()
        torch.cuda.synchronize()
        first = dist.all_reduce(sums[0], group=groups[0], async_op=True)
    first.wait()
    second.wait()
    return f"sums {sums[0][0]:g} and {sums[1][0]:g}"


if __name__ == "__main__":
    compare(program, needs_gpu=True)
