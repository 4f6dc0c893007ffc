"""Gradients and shards that go together by their parameters' names: each rank comes to them in an order of its own."""

import random
import threading

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks
from torch.nn.parallel import DistributedDataParallel

import dfccl_torch

LAYERS = 6


def layers():
    """All alike, so that nothing but names tells them apart."""
    torch.manual_seed(5)
    return torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(LAYERS)])


def batch(rank, step):
    return torch.randn(4, 8, generator=torch.Generator().manual_seed(100 * step + rank))


def drawn_order(rank, step, is_drawn):
    order = list(range(LAYERS))
    if is_drawn:
        random.Random(1000 * step + rank).shuffle(order)
    return order


def weights(model):
    return [parameter.detach().numpy().tobytes() for parameter in model.parameters()]


def average(rank, size, is_drawn):
    """Each layer's own loss, backwards in a drawn order; and each rank leaves a layer out."""
    model = layers()
    gradients = dfccl_torch.GradientAverage(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(5):
        inputs = batch(rank, step)
        with gradients.paused():
            for layer in model:
                layer(inputs).square().mean().backward()
        for i in drawn_order(rank, step, is_drawn):
            if i != (rank + step) % LAYERS:
                model[i](inputs).mean().backward()
        gradients.wait()
        optimizer.step()
        optimizer.zero_grad()
    return weights(model)


def test_gradients_are_averaged_in_any_order():
    in_order, drawn = run_ranks(2, average, False), run_ranks(2, average, True)
    assert drawn[0] == drawn[1] == in_order[0]


def average_by_hand(rank, size):
    """What a mean is: of the ranks' gradients, zeros included; none of what is left alone."""
    model = layers()
    gradients = dfccl_torch.GradientAverage(model, name="by hand")
    alone = layers()  # the other's gradients may be a mean by the time that they could be copied
    for either in (alone, model):
        either[rank](batch(rank, 0)).sum().backward()
    mine = alone[rank].bias.grad
    gradients.wait()
    assert torch.equal(model[rank].bias.grad, mine / size)
    assert torch.equal(model[LAYERS - 1].weight.grad, torch.zeros(8, 8))
    with pytest.raises(dfccl_torch.DfcclError, match="was added to while") as error:
        for _ in range(2):
            model[0](batch(0, 0)).sum().backward()
    assert error.value.code == "GRADIENT_IN_USE"
    gradients.wait()
    gradients.remove()
    model[0](batch(0, 0)).sum().backward()
    dist.barrier()


def test_what_a_mean_of_gradients_is():
    run_ranks(2, average_by_hand)


def two_models(rank, size, is_tagged, is_opposite):
    """Two that are alike, each learning in a thread of its own; one thread issues before the other does."""
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    models = [DistributedDataParallel(layers_in_a_row(seed)) for seed in (1, 2)]
    issued = [threading.Event() for _ in models]

    def noted(i, hook):
        def call(state, bucket):
            future = hook(state, bucket)
            issued[i].set()
            return future

        return call

    for i, model in enumerate(models):
        if is_tagged:
            tags = dfccl_torch.ParameterTags(model, f"model {i}")
            model.register_comm_hook(tags, noted(i, dfccl_torch.tagged_hook))
        else:
            model.register_comm_hook(None, noted(i, allreduce_hook))
    order = [1, 0] if is_opposite and rank else [0, 1]
    for step in range(3):
        losses = [model(batch(rank, step)).square().mean() for model in models]
        threads = []
        for i in order:
            issued[i].clear()
            threads.append(threading.Thread(target=losses[i].backward))
            threads[-1].start()
            issued[i].wait()
        for thread in threads:
            thread.join()
        for model in models:
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
                    parameter.grad = None
    return weights(models[0]), weights(models[1])


def part_of_a_world(rank, size):
    """Two of three ranks learn."""
    group = dist.new_group([0, 1])
    if rank == 2:
        return
    model = DistributedDataParallel(layers_in_a_row(1), process_group=group)
    model.register_comm_hook(dfccl_torch.ParameterTags(model, group=group), dfccl_torch.tagged_hook)
    model(batch(0, 0)).square().mean().backward()
    alone = layers_in_a_row(1)
    alone(batch(0, 0)).square().mean().backward()
    for mine, other in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(mine.grad, other.grad)


def test_buckets_of_a_part_of_the_ranks():
    run_ranks(3, part_of_a_world)


def layers_in_a_row(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(3)])


def test_buckets_of_models_that_are_alike():
    in_order = run_ranks(2, two_models, False, False)
    opposite = run_ranks(2, two_models, True, True)
    assert opposite[0] == opposite[1] == in_order[0]
    # The control: without tags, what is alike goes together, and the models get each other's gradients.
    assert run_ranks(2, two_models, False, True)[0] != in_order[0]


def shards(rank, size, is_tagged, is_drawn):
    """All layers are gathered before the first is needed."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model, mesh = torch.nn.Sequential(*layers()), init_device_mesh("cpu", (size,))
    for layer in model:
        fully_shard(layer, mesh=mesh, reshard_after_forward=False)
    if is_tagged:
        dfccl_torch.tag_shards(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        for i in drawn_order(rank, step, is_drawn):
            model[i].unshard(async_op=True)
        model(batch(rank, step)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return [parameter.full_tensor().detach().numpy().tobytes() for parameter in model.parameters()]


def test_shards_are_gathered_in_any_order():
    in_order = run_ranks(2, shards, False, False)
    drawn = run_ranks(2, shards, True, True)
    assert drawn[0] == drawn[1] == in_order[0]
    # The control: without tags each layer may get another one's weights.
    assert run_ranks(2, shards, False, True)[0] != in_order[0]


def test_what_has_no_tags_is_refused():
    with pytest.raises(dfccl_torch.DfcclError) as error:
        dfccl_torch.tag_shards(torch.nn.Linear(2, 2))
    assert error.value.code == "NOT_SHARDED"
    tags = dfccl_torch.ParameterTags(torch.nn.Linear(2, 2))
    # Of many, as one or the other is made where the first model's were.
    for other in [torch.nn.Linear(2, 2) for _ in range(100)]:
        with pytest.raises(dfccl_torch.DfcclError) as error:
            tags.of(other.parameters())
        assert error.value.code == "UNKNOWN_PARAMETER"
