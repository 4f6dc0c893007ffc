"""Data-parallel training gives what it gives with Gloo, to the last digit."""

import torch
import torch.distributed as dist
from ranks import run_ranks
from torch.nn.parallel import DistributedDataParallel


def train(rank, size):
    torch.manual_seed(7)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(4 * 36, 300),
        torch.nn.ReLU(),
        torch.nn.Linear(300, 10),
    )
    # Small buckets, so that there are several.
    parallel = DistributedDataParallel(model, bucket_cap_mb=0.1)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    inputs = torch.randn(8, 1, 8, 8, generator=generator)
    targets = torch.randint(0, 10, (8,), generator=generator)
    losses = []
    for _ in range(20):
        loss = torch.nn.functional.cross_entropy(parallel(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    return losses, weights


def test_distributed_data_parallel_equals_gloo_to_the_last_digit():
    with_dfccl, with_gloo = run_ranks(2, train), run_ranks(2, train, backend="gloo")
    for mine, theirs in zip(with_dfccl, with_gloo, strict=True):
        assert mine[0] == theirs[0]
        for name, value in theirs[1].items():
            assert mine[1][name].tobytes() == value.tobytes(), name
    assert with_dfccl[0][0][-1] < with_dfccl[0][0][0], "it learns"


def shard(rank, size):
    """What DTensor and FSDP call: functional collectives."""
    from torch.distributed import _functional_collectives as functional
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (size,))
    whole = torch.arange(32.0).view(8, 4)
    sharded = distribute_tensor(whole, mesh, [Shard(0)])
    assert torch.equal(sharded.full_tensor(), whole)
    assert torch.equal((sharded + sharded).full_tensor(), 2 * whole)
    assert torch.equal(sharded.redistribute(mesh, [Shard(1)]).full_tensor(), whole)
    gathered = functional.all_gather_tensor(torch.full((2,), float(rank)), 0, dist.group.WORLD)
    assert torch.equal(torch.as_tensor(gathered), torch.arange(size).repeat_interleave(2).float())
    scattered = functional.reduce_scatter_tensor(torch.ones(2 * size), "sum", 0, dist.group.WORLD)
    assert torch.equal(torch.as_tensor(scattered), torch.full((2,), float(size)))
    several = functional.all_reduce_coalesced([torch.ones(2), torch.ones(3)], "sum", dist.group.WORLD)
    assert [t.sum().item() for t in several] == [2.0 * size, 3.0 * size]
    several = functional.all_gather_into_tensor_coalesced([torch.full((n,), float(rank)) for n in (1, 2)], dist.group.WORLD)
    for n, gathered in zip((1, 2), several, strict=True):
        assert torch.equal(torch.as_tensor(gathered), torch.arange(size).repeat_interleave(n).float())
    inputs = [torch.arange(size).repeat_interleave(n).float() for n in (1, 2)]
    several = functional.reduce_scatter_tensor_coalesced(inputs, "sum", [0, 0], dist.group.WORLD)
    for n, scattered in zip((1, 2), several, strict=True):
        assert torch.equal(torch.as_tensor(scattered), torch.full((n,), float(rank * size)))


def test_sharded_tensors():
    run_ranks(2, shard)
    run_ranks(4, shard)


def fully_shard_model(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    mesh = init_device_mesh("cpu", (size,))
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    losses = []
    for _ in range(5):
        loss = model(torch.randn(4, 8, generator=generator)).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def test_fully_sharded_training_equals_gloo():
    assert run_ranks(2, fully_shard_model) == run_ranks(2, fully_shard_model, backend="gloo")


def compress_gradients(rank, size):
    """PowerSGD: its callbacks wait for collectives that they issue themselves, of buckets that are alike."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power

    torch.manual_seed(7)
    model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(8)])
    parallel = DistributedDataParallel(model, bucket_cap_mb=0.005)
    parallel.register_comm_hook(power.PowerSGDState(None, 2, start_powerSGD_iter=2), power.powerSGD_hook)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(6):
        parallel(torch.randn(4, 32, generator=generator)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return [value.numpy().tobytes() for value in model.state_dict().values()]


def test_gradients_compressed_by_hooks_that_wait_are_equal_on_all_ranks():
    weights = run_ranks(4, compress_gradients)
    assert weights[1:] == weights[:1] * 3
    assert run_ranks(4, compress_gradients) == weights
