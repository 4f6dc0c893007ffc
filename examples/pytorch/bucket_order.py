"""Three buckets of gradients in the order that a set of their names has, which differs from rank to rank.

That is what https://github.com/NVIDIA/Megatron-LM/pull/2218 found and mended. The buckets are equally large, so that only a
tag tells them apart.
"""

import torch
import torch.distributed as dist
from side_by_side import compare

import dfccl_torch


def program(rank, ranks, device):
    gradients = {"embedding": 1.0, "layers": 10.0, "head": 100.0}
    buckets = {name: torch.full((1000,), gradient, device=device) for name, gradient in gradients.items()}
    order = ["embedding", "layers", "head"] if rank == 0 else ["head", "embedding", "layers"]
    works = []
    for name in order:
        with dfccl_torch.tag(name):
            works.append(dist.all_reduce(buckets[name], async_op=True))
    for work in works:
        work.wait()
    return ", ".join(f"{name} {bucket[0]:g}" for name, bucket in buckets.items())


if __name__ == "__main__":
    print("right: embedding 2, layers 20, head 200")
    compare(program)
