"""GradientAverage where something goes wrong, changes, or is let go."""

import gc
import weakref

import dfccl_torch
import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks


def model_of(value):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    for parameter in model.parameters():
        torch.nn.init.constant_(parameter, value)
    return model


def waited_for_again(rank, size):
    """One rank comes later than the group's timeout; each gradient's mean is begun once all the same."""
    store = dist.distributed_c10d._get_default_store()
    model = model_of(1.0)
    gradients = dfccl_torch.GradientAverage(model)
    for step in range(3):
        for parameter in model.parameters():
            parameter.grad = None
        if step == 0 and rank == 1:
            store.get("given up waiting")
        (sum(parameter.sum() for parameter in model.parameters()) * (10 * step + rank)).backward()
        if step == 0 and rank == 0:
            with pytest.raises(dist.DistBackendError, match="1"):
                gradients.wait()
            store.set("given up waiting", "")
        gradients.wait()
        for parameter in model.parameters():
            assert torch.equal(parameter.grad, torch.full((2, 2), 10 * step + 0.5)), step


def test_what_was_not_in_time_may_be_waited_for_again():
    run_ranks(2, waited_for_again, timeout_s=4)


def let_go(rank, size):
    model = model_of(1.0)
    first = dfccl_torch.GradientAverage(model)
    del first
    gradients = dfccl_torch.GradientAverage(model)  # in place of the first, whose hooks do nothing any more
    sum(parameter.sum() for parameter in model.parameters()).backward()
    gradients.wait()
    weight = weakref.ref(next(model.parameters()))
    del model, gradients
    gc.collect()
    assert weight() is None


def test_a_model_that_is_let_go_is_freed():
    run_ranks(2, let_go)


def frozen_later(rank, size):
    model = model_of(1.0)
    gradients = dfccl_torch.GradientAverage(model)
    model[0].requires_grad_(False)
    model[1].weight.sum().backward()
    gradients.wait()
    assert model[0].weight.grad is None
    assert torch.equal(model[1].weight.grad, torch.ones(2, 2))


def test_what_is_frozen_later_is_left_alone():
    run_ranks(2, frozen_later)
