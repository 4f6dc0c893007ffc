"""Three communicators, in another order on each rank."""
import random

import torch
import torch.distributed as dist

GROUPS = 3


def run(options, device):
    """Each round begins a sum in each group, in a random order, and waits for them in another; at times the device is
    synchronized in between, and memory given back, which CUDA may do only when the device is idle."""
    rank, size = dist.get_rank(), dist.get_world_size()
    groups = [dist.new_group(list(range(size))) for _ in range(GROUPS)]
    chance = random.Random(rank)
    synchronized = freed = 0
    for round_number in range(options.rounds):
        works = [None] * GROUPS
        tensors = [torch.full((1000 * 8 ** g,), rank + 1.0, device=device) for g in range(GROUPS)]
        for g in chance.sample(range(GROUPS), GROUPS):
            works[g] = dist.all_reduce(tensors[g], group=groups[g], async_op=True)
            if chance.random() < 0.1:
                torch.cuda.synchronize()
                synchronized += 1
        for g in chance.sample(range(GROUPS), GROUPS):
            works[g].wait()
        for g in range(GROUPS):
            assert tensors[g].eq(size * (size + 1) / 2).all(), f"round {round_number}, group {g}"
        if chance.random() < 0.1:
            del tensors, works
            torch.cuda.empty_cache()
            freed += 1
    return {"rounds": options.rounds, "synchronized": synchronized, "freed": freed}
