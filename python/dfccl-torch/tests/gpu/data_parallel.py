"""DistributedDataParallel: ResNet-50, each rank with inputs of its own; in the end all ranks' weights are equal to the bit.

Without torchvision, or on a CPU, a small network in its place.
"""

import hashlib
import importlib.util

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from processes import ON_GPU, expect, run_check

STEPS = 20


def network():
    torch.manual_seed(1)
    if ON_GPU and importlib.util.find_spec("torchvision"):
        import torchvision

        return torchvision.models.resnet50(weights=None), "resnet50"
    layers = [torch.nn.Conv2d(3, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(512, 1000)), "a small network"


def digest_of(model):
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def check(rank, ranks, device):
    model, name = network()
    before = digest_of(model)
    model = model.to(device)
    parallel = DistributedDataParallel(model, device_ids=[device.index] if ON_GPU else None)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=1e-3, momentum=0.9)
    generator = torch.Generator().manual_seed(100 + rank)
    for _ in range(STEPS):
        images = torch.randn(4, 3, 64, 64, generator=generator).to(device)
        labels = torch.randint(1000, (4,), generator=generator).to(device)
        torch.nn.functional.cross_entropy(parallel(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
    digests = [None] * ranks
    dist.all_gather_object(digests, digest_of(model))
    expect(digests[0] != before, "the weights haven't changed")
    expect(len(set(digests)) == 1, f"the weights differ: {digests}")
    if rank == 0:
        print(f"{name}, {STEPS} steps, weights {digests[0][:16]} on {ranks} ranks")


run_check(check)
