"""DFCCL_IN_STREAMS=1: collectives that are kernels in streams, beside others that are the daemon's."""

import os

os.environ["DFCCL_IN_STREAMS"] = "1"

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from processes import expect, expect_equal, run_check

SIZES = [1, 1000, 1 << 18, 3 << 20]


def be_late(rank, turn):
    """Some milliseconds in the stream of one rank after the other, so that what waits for nothing comes too early."""
    if turn % 4 == rank:
        torch.cuda._sleep(5_000_000)


def sums(rank, ranks, device):
    """Without async_op they are in the current stream, with it in another; a chain of both, another on each rank."""
    for size in SIZES:
        x = torch.ones(size, device=device)
        for step in range(20):
            be_late(rank, step)
            if (step + rank) % 3 == 2:
                work = dist.all_reduce(x, async_op=True)
                work.wait()
            else:
                dist.all_reduce(x)
            x.div_(ranks)
            x.add_(1)
        expect_equal(x, 21, f"a chain of {size}")


def late_waits(rank, ranks, device):
    """Many under way, waited for in another order, in another stream, and by nobody."""
    be_late(rank, 1)
    tensors = [torch.full((100 + i,), float(rank), device=device) for i in range(40)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        for i in reversed(range(0, 40, 2)):
            works[i].wait()
            tensors[i].add_(1)
            expect_equal(tensors[i], ranks * (ranks - 1) / 2 + 1, f"sum {i}, in the stream that waited")
    del works
    torch.cuda.synchronize()
    total = ranks * (ranks - 1) / 2
    for i, tensor in enumerate(tensors):
        expect_equal(tensor, total + (i % 2 == 0), f"sum {i}")


def moves(rank, ranks, device):
    """Everything that isn't a sum, with and without gaps in the tensors."""
    base = torch.arange(6, device=device).reshape(2, 3) + 100 * rank
    gathered = torch.empty(ranks * 6, device=device, dtype=base.dtype)
    dist.all_gather_into_tensor(gathered, base.flatten())
    expect_equal(gathered, torch.cat([torch.arange(6) + 100 * r for r in range(ranks)]), "all_gather_into_tensor")
    lists = [torch.empty(3, 2, device=device, dtype=base.dtype).t() for _ in range(ranks)]
    dist.all_gather(lists, base)
    for r in range(ranks):
        expect_equal(lists[r], torch.arange(6).reshape(2, 3) + 100 * r, "all_gather into gaps")
    mine = torch.empty(4, device=device)
    dist.reduce_scatter_tensor(mine, torch.arange(4.0 * ranks, device=device))
    expect_equal(mine, ranks * torch.arange(4.0 * rank, 4.0 * rank + 4), "reduce_scatter_tensor")
    for root in range(ranks):
        x = torch.full((5,), float(rank), device=device)
        dist.broadcast(x, root)
        expect_equal(x, root, "broadcast")
    splits = [rank + 1] * ranks
    out = torch.empty(sum(r + 1 for r in range(ranks)), device=device)
    dist.all_to_all_single(out, torch.full((sum(splits),), float(rank), device=device), [r + 1 for r in range(ranks)], splits)
    expect_equal(out, torch.cat([torch.full((r + 1,), float(r)) for r in range(ranks)]), "all_to_all_single")


def beside(rank, ranks, device):
    """What has a tag, and messages: in another order on each rank, and a sum of the stream's after them."""
    import dfccl_torch

    tensors = {name: torch.full((64,), 1.0, device=device) for name in ("a", "b", "c")}
    works = []
    for name in sorted(tensors, reverse=rank % 2 == 1):
        with dfccl_torch.tag(name):
            works.append(dist.all_reduce(tensors[name], async_op=True))
    x = torch.ones(64, device=device)
    dist.all_reduce(x)
    to, got = torch.full((9,), float(rank), device=device), torch.empty(9, device=device)
    ops = [dist.P2POp(dist.isend, to, (rank + 1) % ranks), dist.P2POp(dist.irecv, got, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(ops) + works:
        work.wait()
    expect_equal(got, (rank - 1) % ranks, "a message")
    for name, tensor in {**tensors, "x": x}.items():
        expect_equal(tensor, ranks, f"sum {name}")


def futures(rank, ranks, device):
    """Complete at once, and what is called back is behind the result in its stream."""
    x = torch.full((1 << 20,), 1.0, device=device)
    be_late(rank, 0)
    future = dist.all_reduce(x, async_op=True).get_future()
    expect(future.done(), "a future is complete when the kernel is launched")
    doubled = future.then(lambda done: 2 * done.value()[0])
    expect_equal(doubled.wait(), 2 * ranks, "what a callback made")
    expect_equal(x, ranks, "the sum")
    # Whose value is nothing, at all but the root: what was given may be written behind it.
    for turn in range(8):
        be_late(rank, turn)
        given = torch.full((1 << 20,), float(rank), device=device)
        rows = [torch.empty(1 << 20, device=device) for _ in range(ranks)] if rank == 0 else None
        dist.gather(given, rows, dst=0, async_op=True).get_future().wait()
        given.fill_(-1)
        for r, row in enumerate(rows or []):
            expect_equal(row, r, "gather")


def batches(rank, ranks, device):
    """More in one than a kernel takes."""
    tensors = [torch.full((50 + i,), float(rank + i), device=device) for i in range(60)]
    be_late(rank, 1)
    with dist._coalescing_manager(device=device, async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    for i, tensor in enumerate(tensors):
        expect_equal(tensor, ranks * (ranks - 1) / 2 + ranks * i, f"sum {i} of a batch")


def alone(rank, ranks, device):
    groups = [dist.new_group([r]) for r in range(ranks)]
    x = torch.full((1000,), 3.0, device=device)
    dist.all_reduce(x, group=groups[rank])
    dist.all_reduce(x, group=groups[rank], async_op=True).wait()
    expect_equal(x, 3, "in a group of one")


def training(rank, ranks, device):
    """The same weights as those of the whole batch."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).to(device)
    whole = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8)).to(device)
    whole.load_state_dict(model.state_dict())
    parallel = DistributedDataParallel(model, device_ids=[device.index])
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (parallel, whole)]
    for step in range(10):
        inputs = [torch.randn(8, 64, generator=torch.Generator().manual_seed(step * ranks + r)) for r in range(ranks)]
        parallel(inputs[rank].to(device)).square().mean().backward()
        whole(torch.cat(inputs).to(device)).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    for mine, other in zip(model.parameters(), whole.parameters(), strict=True):
        expect(torch.allclose(mine, other, atol=1e-5), "the weights are those of the whole batch")


def check(rank, ranks, device):
    for part in (sums, late_waits, moves, beside, futures, batches, alone, training):
        part(rank, ranks, device)
        dist.barrier()
    # A group of some ranks, in the order of its own.
    part = dist.new_group([0, 1])
    x = torch.ones(10, device=device)
    dist.all_reduce(x, group=part)
    expect_equal(x, 2, "in a new group")


run_check(check, gpu_only=True)
