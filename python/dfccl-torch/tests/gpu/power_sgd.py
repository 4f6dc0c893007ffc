"""PowerSGD as a hook of DistributedDataParallel's: its callbacks issue collectives and wait for them, where Gloo hangs. In the end
all ranks' weights are equal to the bit; until it begins to compress, losses are those without it; and it learns its batch."""

import hashlib

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.nn.parallel import DistributedDataParallel

from processes import ON_GPU, expect, run_check

STEPS, BATCH, WIDTH, BEGIN = 30, 16, 512, 4


def trained(rank, device, is_compressed):
    """@return the losses, and the weights' digest"""
    torch.manual_seed(1)
    layers = [torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()) for _ in range(4)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 10)).to(device)
    parallel = DistributedDataParallel(model, device_ids=[device.index] if ON_GPU else None, bucket_cap_mb=1)
    if is_compressed:
        parallel.register_comm_hook(power.PowerSGDState(None, 2, start_powerSGD_iter=BEGIN), power.powerSGD_hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)
    inputs = torch.randn(BATCH, WIDTH, generator=generator).to(device)
    labels = torch.randint(10, (BATCH,), generator=generator).to(device)
    losses = []
    for _ in range(STEPS):
        loss = torch.nn.functional.cross_entropy(parallel(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().cpu().numpy().tobytes())
    return losses, digest.hexdigest()


def check(rank, ranks, device):
    losses, digest = trained(rank, device, True)
    plain, _ = trained(rank, device, False)
    digests = [None] * ranks
    dist.all_gather_object(digests, digest)
    expect(len(set(digests)) == 1, f"the weights differ: {digests}")
    farthest = max(abs(a - b) for a, b in zip(losses[:BEGIN], plain[:BEGIN]))
    expect(farthest < 1e-4, f"the first losses are {farthest} from those without it: {losses} and {plain}")
    expect(losses[-1] < losses[0] / 2, f"it doesn't learn: {losses}")
    if rank == 0:
        print(f"{STEPS} steps, loss {losses[0]:.4f} to {losses[-1]:.4f}, without compression to {plain[-1]:.4f}")


run_check(check)
