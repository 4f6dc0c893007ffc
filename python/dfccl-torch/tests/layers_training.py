"""How torch trains: data parallel with its hooks and optimizers, sharded in its ways, pipelined, from checkpoints."""

import tempfile

import torch
import torch.distributed as dist
from layers_values import Block, batch, blocks, device, normal


def learn(rank, model, optimizer, steps=2):
    losses = []
    for step in range(steps):
        loss = model(batch(rank, step)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
    return losses


def data_parallel(rank, size):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
    from torch.distributed.algorithms.join import Join
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    def sgd(model):
        return torch.optim.SGD(model.parameters(), lr=0.1)

    results = []
    for hook in (default_hooks.allreduce_hook, default_hooks.fp16_compress_hook):
        model = DistributedDataParallel(blocks(2), bucket_cap_mb=0.01)
        model.register_comm_hook(None, hook)
        results += [*learn(rank, model, sgd(model)), *model.parameters()]
    model = DistributedDataParallel(blocks(2), gradient_as_bucket_view=True, static_graph=True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01, parameters_as_bucket_view=True)
    results += [*learn(rank, model, optimizer), *model.parameters()]
    optimizer.consolidate_state_dict(0)
    # Some ranks have more steps than others.
    model = DistributedDataParallel(blocks(2), find_unused_parameters=True)
    with Join([model]):
        results += learn(rank, model, sgd(model), 1 + rank)
    with model.no_sync():
        model(batch(rank, 0)).square().mean().backward()
    results += learn(rank, model, sgd(model))
    return [*results, *model.parameters()]


def compiled_data_parallel(rank, size):
    model = torch.nn.parallel.DistributedDataParallel(blocks(2))
    compiled = torch.compile(model, backend="aot_eager")
    return [*learn(rank, compiled, torch.optim.SGD(model.parameters(), lr=0.1)), *model.parameters()]


def hybrid_shards(rank, size):
    """Sharded within, replicated between; in bfloat16; gradients gathered over two steps; the state as a whole."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = init_device_mesh(device(), (2, size // 2), mesh_dim_names=("replicas", "shards"))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    model = blocks(2)
    for block in model:
        fully_shard(block, mesh=mesh, mp_policy=policy, reshard_after_forward=False)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for step in range(4):
        model.set_requires_gradient_sync(step % 2 == 1)
        loss = model(batch(rank, step)).float().square().mean()
        loss.backward()
        losses.append(loss)
        if step % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    whole = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_model_state_dict(model, dict(state), options=whole)
    return [*losses, *state.values(), *model.parameters()]


def older_shards(rank, size):
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy

    results = []
    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD):
        model = FullyShardedDataParallel(
            blocks(2),
            auto_wrap_policy=ModuleWrapPolicy({Block}),
            sharding_strategy=strategy,
            device_id=torch.device(device()),
            use_orig_params=True,
        )
        results += learn(rank, model, torch.optim.SGD(model.parameters(), lr=0.1))
        model(batch(rank, 9)).square().mean().backward()
        results.append(model.clip_grad_norm_(1.0))
    return results


def pipelines(rank, size):
    """Each schedule that torch has, with one stage a rank or two."""
    from torch.distributed.pipelining import PipelineStage, schedules

    of_one = ["ScheduleGPipe", "Schedule1F1B"]
    of_two = ["ScheduleInterleaved1F1B", "ScheduleLoopedBFS", "ScheduleInterleavedZeroBubble"]
    folded = ["ScheduleZBVZeroBubble", "ScheduleDualPipeV"]
    inputs, targets = normal(9, 4 * size, 16), normal(8, 4 * size, 16)
    results = []
    for name in of_one + of_two + folded:
        count = size if name in of_one else 2 * size
        mine = [rank, count - 1 - rank] if name in folded else list(range(rank, count, size))
        parts = blocks(count)
        stages = [PipelineStage(parts[i], i, count, torch.device(device())) for i in mine]
        schedule = getattr(schedules, name)(
            stages[0] if name in of_one else stages, 2 * size, loss_fn=torch.nn.functional.mse_loss
        )
        for _ in range(2):
            losses = []
            last = {"target": targets, "losses": losses} if count - 1 in mine else {}
            schedule.step(*([inputs] if 0 in mine else []), **last)
            results += losses
        results += [parameter.grad for i in mine for parameter in parts[i].parameters()]
    return results


def checkpoints(rank, size):
    """Written by as many ranks as there are, read into shards of another mesh; at once, and on the side."""
    import torch.distributed.checkpoint as checkpoint
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def sharded(mesh):
        model = blocks(2)
        for block in model:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model, torch.optim.Adam(model.parameters(), lr=1e-2)

    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, 0)
    model, optimizer = sharded(init_device_mesh(device(), (size,)))
    learn(rank, model, optimizer)
    state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True))
    checkpoint.save(state, checkpoint_id=f"{folder[0]}/at-once")
    checkpoint.async_save(state, checkpoint_id=f"{folder[0]}/on-the-side").result()
    results = []
    for name in ("at-once", "on-the-side"):
        model, optimizer = sharded(init_device_mesh(device(), (2, size // 2), mesh_dim_names=("replicas", "shards")))
        state = dict(zip(("model", "optimizer"), get_state_dict(model, optimizer), strict=True))
        checkpoint.load(state, checkpoint_id=f"{folder[0]}/{name}")
        loaded = {"model_state_dict": state["model"], "optim_state_dict": state["optimizer"]}
        set_state_dict(model, optimizer, **loaded)
        results += [*model.parameters(), *learn(rank, model, optimizer), *model.parameters()]
    return results
