"""Three communicators, in another order on each rank."""
import random
import time

import torch
import torch.distributed as dist

GROUPS = 3


def begin_groups(device):
    """PyTorch makes a group's communicator in its first collective, and waits for all ranks then: in one order."""
    everybody = list(range(dist.get_world_size()))
    groups = [dist.new_group(everybody) for _ in range(GROUPS)]
    for group in groups:
        dist.all_reduce(torch.ones(1, device=device), group=group)
    torch.cuda.synchronize()
    return groups


def run(options, device):
    """Each round begins a sum in each group, in a random order, and waits for them in another; at times the device is
    synchronized in between, and memory given back, which CUDA may do only when the device is idle. Ranks take turns
    in synchronizing: if two did so at a time, each could wait for what the other has not begun."""
    rank, size = dist.get_rank(), dist.get_world_size()
    groups = begin_groups(device)
    chance = random.Random(rank)
    synchronized = freed = 0
    began = time.monotonic()
    for round_number in range(options.rounds):
        works = [None] * GROUPS
        tensors = [torch.full((1000 * 8 ** g,), rank + 1.0, device=device) for g in range(GROUPS)]
        for g in chance.sample(range(GROUPS), GROUPS):
            works[g] = dist.all_reduce(tensors[g], group=groups[g], async_op=True)
            if round_number % size == rank and chance.random() < 0.2:
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
        if round_number % 10 == 9:
            print(f"rank {rank}: {round_number + 1} rounds in {time.monotonic() - began:.1f} s", flush=True)
    return {"rounds": options.rounds, "synchronized": synchronized, "freed": freed}
