"""A barrier that says who is missing."""

from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

LONG, SHORT = timedelta(seconds=60), timedelta(seconds=1)


def pass_it(rank, size):
    pair = dist.new_group(sorted({0, size - 1}))
    for _ in range(3):
        dist.monitored_barrier()
        dist.monitored_barrier(timeout=LONG, wait_all_ranks=True)
        dist.monitored_barrier(pair, LONG)  # nothing, on ranks that aren't in it


@pytest.mark.parametrize("size", [1, 2, 4])
def test_all_pass_where_all_come(size):
    run_ranks(size, pass_it)


def wait_for_nobody(rank, size):
    if rank == 0:
        with pytest.raises(dist.DistBackendError, match="Rank 1 failed to pass monitoredBarrier in 1000 ms"):
            dist.monitored_barrier(timeout=SHORT)
        with pytest.raises(dist.DistBackendError, match="Ranks 1, 2 failed to pass monitoredBarrier"):
            dist.monitored_barrier(timeout=SHORT, wait_all_ranks=True)
        with pytest.raises(dist.DistBackendError, match="Rank 0 timed out in monitoredBarrier"):
            dist.monitored_barrier(timeout=timedelta(0))
    dist.barrier()
    # Who comes too late is told so at once, and the next barrier is a barrier again.
    for _ in range(2 if rank else 0):
        with pytest.raises(dist.DistBackendError, match=f"Rank {rank} successfully reached.* rank 0 has missed rank 1"):
            dist.monitored_barrier(timeout=LONG)
    dist.monitored_barrier(timeout=LONG)
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    return tensor.tolist()


def test_those_that_do_not_come_are_named():
    assert run_ranks(3, wait_for_nobody) == [[3.0, 3.0]] * 3


def wait_for_rank_0(rank, size):
    if rank == 1:
        with pytest.raises(dist.DistBackendError, match="Rank 1 successfully reached.* from rank 0 in 1000 ms"):
            dist.monitored_barrier(timeout=SHORT)
    dist.barrier()
    if rank == 0:
        dist.monitored_barrier(timeout=LONG)  # which rank 1 had come to
    dist.monitored_barrier(timeout=LONG)


def test_rank_0_may_be_the_one_that_is_missing():
    run_ranks(2, wait_for_rank_0)


def stay_torchs_own(rank, size):
    dist.monitored_barrier(timeout=LONG)


def test_groups_of_gloo_have_gloos():
    run_ranks(2, stay_torchs_own, backend="gloo")
