"""Tensors that are spread over ranks (DTensor), and models of them."""

import itertools

import torch
from layers_values import blocks, device, drawn, normal


def placements(rank, size):
    """From everything to everything on a mesh of two dimensions, of sizes that don't divide; and what is computed of it."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

    mesh = init_device_mesh(device(), (2, size // 2))
    every = [list(pair) for pair in itertools.product([Replicate(), Shard(0), Shard(1)], repeat=2)]
    whole = torch.arange(5.0 * 7).view(5, 7)
    results = []
    for before, after in itertools.product(every, every):
        moved = distribute_tensor(whole, mesh, before).redistribute(mesh, after)
        results += [moved.to_local(), moved]
    for op in ("sum", "avg", "max", "min"):
        partial = DTensor.from_local(drawn(rank, 4, 6), mesh, [Partial(op), Partial(op)])
        results += [partial.redistribute(mesh, after) for after in every]
    a = distribute_tensor(drawn(1, 8, 12), mesh, [Shard(0), Shard(1)])
    b = distribute_tensor(drawn(2, 12, 8), mesh, [Shard(1), Shard(0)])
    return [*results, a @ b, a.sum(), a.mean(0), a.max(), a.t(), torch.cat([a, a]), a.argmax(1)]


def tensor_parallel(rank, size):
    """Sequence parallel blocks whose loss is parallel too, each fully sharded over the mesh's other dimension."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        SequenceParallel,
        loss_parallel,
        parallelize_module,
    )

    mesh = init_device_mesh(device(), (2, size // 2), mesh_dim_names=("data", "tensor"))
    plan = {
        "norm": SequenceParallel(),
        "up": ColwiseParallel(input_layouts=Shard(1)),
        "down": RowwiseParallel(output_layouts=Shard(1)),
    }
    body = blocks(2)
    with torch.device("cpu"):
        head = torch.nn.Linear(16, 8 * size).to(device())
    model = torch.nn.Sequential(body, head)
    for block in body:
        parallelize_module(block, mesh["tensor"], plan)
        fully_shard(block, mesh=mesh["data"])
    by_columns = ColwiseParallel(input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False)
    parallelize_module(head, mesh["tensor"], by_columns)
    fully_shard(model, mesh=mesh["data"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    results, parts = [], size // 2
    for step in range(3):
        seed = step + 10 * mesh["data"].get_local_rank()
        inputs = normal(seed, 2, 4 * parts, 16)
        labels = (drawn(seed, 8 * parts) + 8).long() % (8 * size)
        outputs = model(inputs.chunk(parts, 1)[mesh["tensor"].get_local_rank()])
        with loss_parallel():
            loss = torch.nn.functional.cross_entropy(outputs.flatten(0, 1), labels)
            loss.backward()
        results += [loss, torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)]
        optimizer.step()
        optimizer.zero_grad()
    return results
