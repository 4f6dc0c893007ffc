"""A network in parts, by PyTorch's own tensor parallelism and pipelines, beside the whole of it on one rank."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as functional

WIDTH, DEPTH, BATCH = 512, 4, 32


class Block(nn.Module):
    """As of a transformer, without its attention."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, hidden):
        return hidden + self.down(functional.gelu(self.up(self.norm(hidden))))


def network(depth=DEPTH):
    torch.manual_seed(1)
    return nn.Sequential(*[Block() for _ in range(depth)])


def batches(iterations, device):
    """The same on all ranks."""
    generator = torch.Generator().manual_seed(7)
    for _ in range(iterations):
        yield tuple(torch.randn(BATCH, WIDTH, generator=generator).to(device) for _ in range(2))


def optimizer_of(part):
    # One by one: tensors that are spread and others don't go together.
    return torch.optim.SGD(part.parameters(), lr=0.05, foreach=False)


def losses_of(whole, options, device):
    """Of a network that each rank calls as a whole."""
    optimizer, losses = optimizer_of(whole), []
    for inputs, targets in batches(options.iterations, device):
        optimizer.zero_grad(set_to_none=True)
        loss = functional.mse_loss(whole(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def compare(losses, options, device):
    """With what the whole network comes to, on this rank alone."""
    alone = torch.stack(losses_of(network().to(device), options, device))
    torch.testing.assert_close(torch.stack(losses), alone, rtol=1e-4, atol=1e-5)
    return {"iterations": options.iterations, "firstLoss": round(float(alone[0]), 4), "lastLoss": round(float(losses[-1]), 4)}


def tensor_parallel(options, device):
    """Each block's matrices are cut in columns and in rows, and the sums are all-reduces."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cuda", (dist.get_world_size(),))
    part = network().to(device)
    for block in part:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return compare(losses_of(part, options, device), options, device)


def pipeline(options, device):
    """Each rank has a stage, and micro-batches go through them, forward one and backward one."""
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    rank, stages = dist.get_rank(), dist.get_world_size()
    per_stage = DEPTH // stages
    part = network()[rank * per_stage : (rank + 1) * per_stage].to(device)
    stage = PipelineStage(part, rank, stages, device)
    schedule = Schedule1F1B(stage, n_microbatches=8, loss_fn=functional.mse_loss)
    optimizer, losses = optimizer_of(part), []
    for inputs, targets in batches(options.iterations, device):
        optimizer.zero_grad(set_to_none=True)
        found = []
        if rank == stages - 1:
            schedule.step(*([inputs] if rank == 0 else []), target=targets, losses=found)
        else:
            schedule.step(*([inputs] if rank == 0 else []))
        optimizer.step()
        loss = torch.stack([one.detach() for one in found]).mean() if found else torch.zeros((), device=device)
        dist.broadcast(loss, stages - 1)
        losses.append(loss)
    return compare(losses, options, device)


def hybrid(options, device):
    """Cut within each machine, and the same on all machines: groups of one machine beside groups of several."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    machines = int(os.environ.get("MACHINES", "1"))
    mesh = init_device_mesh("cuda", (machines, dist.get_world_size() // machines), mesh_dim_names=("machine", "gpu"))
    part = network().to(device)
    for block in part:
        fully_shard(block, mesh=mesh)
    fully_shard(part, mesh=mesh)
    return compare(losses_of(part, options, device), options, device)
