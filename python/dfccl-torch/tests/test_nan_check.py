"""DFCCL_NAN_CHECK=1: who brings NaN is told so, before anybody gets it."""

import os

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

NAN = float("nan")


def operations(rank, size):
    """What a rank's calls are with a value in their inputs, and what errors call them."""

    def row(value, dtype=torch.float32):
        return torch.tensor([1.0, value, 2.0, 3.0]).to(dtype)

    def sparse(value):
        return torch.sparse_coo_tensor([[1]], [value], (4,), check_invariants=True)

    outputs = [torch.empty(4) for _ in range(size)]
    uneven = [torch.empty(2 + one) for one in range(size)]
    return [
        ("all_reduce", lambda value: dist.all_reduce(row(value))),
        ("all_reduce", lambda value: dist.all_reduce(row(value, torch.float8_e4m3fn))),
        ("all_reduce", lambda value: dist.all_reduce(row(value, torch.complex64))),
        ("all_reduce", lambda value: dist.all_reduce(sparse(value))),
        ("reduce", lambda value: dist.reduce(row(value), 0)),
        ("all_gather", lambda value: dist.all_gather(outputs, row(value))),
        ("gather", lambda value: dist.gather(row(value), outputs if rank == 0 else None, 0)),
        ("reduce_scatter", lambda value: dist.reduce_scatter(outputs[0], [row(value)] * size)),
        ("reduce_scatter", lambda value: dist.reduce_scatter(uneven[rank], [torch.full_like(one, value) for one in uneven])),
        ("all_to_all", lambda value: dist.all_to_all(outputs, [row(value)] * size)),
        ("all_to_all", lambda value: dist.all_to_all_single(torch.empty(4), row(value))),
        ("all_reduce", lambda value: dist.group.WORLD.allreduce_coalesced([row(1.0), row(value)]).wait()),
    ]


def one_brings_nan(rank, size):
    os.environ["DFCCL_NAN_CHECK"] = "1"
    for name, call in operations(rank, size):
        if rank == 1:
            with pytest.raises(dist.DistBackendError, match=rf"Rank 1's input of {name}\w* in group 0 has NaN"):
                call(NAN)
        call(5.0)  # nothing of the refused one has begun, so this one goes with the other's
    if rank == 0:
        for call in (
            lambda: dist.broadcast(torch.tensor([NAN]), 0),
            lambda: dist.scatter(torch.empty(1), [torch.tensor([NAN])] * size, 0),
            lambda: dist.send(torch.tensor([NAN]), 1),
        ):
            with pytest.raises(dist.DistBackendError, match="Rank 0's input of .* has NaN"):
                call()
    # What isn't an input may hold anything.
    received = torch.full((1,), float(rank) if rank == 0 else NAN)
    dist.broadcast(received, 0)
    assert received.item() == 0


def test_who_brings_nan_is_refused():
    run_ranks(2, one_brings_nan)


def nobody_looks(rank, size):
    tensor = torch.tensor([NAN, 1.0])
    dist.all_reduce(tensor)
    return tensor[1].item()


def test_nobody_looks_unless_asked_to():
    assert run_ranks(2, nobody_looks) == [2.0, 2.0]
