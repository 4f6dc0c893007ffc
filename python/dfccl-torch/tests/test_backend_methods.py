"""What torch.distributed asks of some backends only."""

import os
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import gather_results, run_ranks

from dfccl_torch.extension import load_extension


def from_any_source(rank, size):
    if rank != 0:
        dist.send(torch.full((3,), float(rank)), 0, tag=5)
        dist.send(torch.full((3,), 10.0 * rank), 0, tag=5)
        dist.send(torch.full((100_000,), float(rank)), 0)
        dist.barrier()
        if rank == 1:
            dist.send(torch.ones(2), 0, tag=6)
        return
    seen, wide = [], torch.zeros(3, 2)
    for _ in range(size):
        source = dist.recv(wide[:, 0], tag=5)
        seen.append((source, wide[0, 0].item()))
    assert len(set(seen)) == size and all(value in (source, 10.0 * source) for source, value in seen), seen
    # What is named takes what is outstanding from it, or has come.
    for source in range(1, size):
        for _ in range(2 - sum(source == one for one, _ in seen)):
            dist.recv(wide[:, 0], source, tag=5)
            assert torch.equal(wide[:, 0], torch.full((3,), 10.0 * source))
    large = [torch.zeros(100_000) for _ in range(size - 1)]
    works = [dist.irecv(tensor) for tensor in large]
    for work in works:
        work.wait()
    assert sorted(tensor[-1].item() for tensor in large) == list(range(1, size))
    assert sorted(work._source_rank() for work in works) == list(range(1, size))
    with pytest.raises(dist.DistBackendError, match="of 7 float32.*no rank has sent it"):
        dist.irecv(torch.zeros(7)).wait(timedelta(milliseconds=50))
    later = torch.zeros(2)
    future = dist.irecv(later, tag=6).get_future()
    dist.barrier()
    assert torch.equal(future.wait()[0], torch.ones(2)), later


def test_receives_without_a_source():
    run_ranks(2, from_any_source)
    run_ranks(3, from_any_source)


def senders_leave(rank, size, folder):
    told = dist.FileStore(f"{folder}/told", size)
    dist.init_process_group("dfccl", init_method=f"file://{folder}/store", rank=rank, world_size=size)
    one = torch.full((1,), float(rank))
    if rank == 0:
        sources = [dist.recv(one) for _ in range(size - 1)]
    else:
        if rank > 1:
            told.wait([f"{rank - 1} is gone"])
        sources = dist.send(one, 0)
    dist.destroy_process_group()
    told.set(f"{rank} is gone", "")
    return sources


def test_receives_without_a_source_from_ranks_that_leave_then(tmp_path):
    """Found by layers_collectives.messages: what was asked for next was given up when a sender had left."""
    assert gather_results(4, senders_leave, (4, str(tmp_path))) == [[1, 2, 3], None, None, None]


def listens_when_it_leaves(rank, size, folder):
    def threads():
        return len(os.listdir("/proc/self/task"))

    groups, before = 8, threads()
    for number in range(groups):
        dist.init_process_group("dfccl", init_method=f"file://{folder}/store-{number}", rank=rank, world_size=size)
        listening = dist.irecv(torch.zeros(3))
        dist.barrier()
        dist.destroy_process_group()
        del listening
    # A group that stayed would keep its world, and that its worker. Some threads are the process's.
    while threads() >= before + groups:
        time.sleep(0.01)


def test_what_listens_ends_with_the_group(tmp_path):
    gather_results(2, listens_when_it_leaves, (2, str(tmp_path)), limit_s=60)


def split(rank, size):
    part = dist.split_group(split_ranks=[[0, 2], [1]], group_desc="mine")
    if rank == 3:
        assert part is None
        return
    tensor = torch.ones(4)
    dist.all_reduce(tensor, group=part)
    assert tensor[0] == dist.get_world_size(part) == (1 if rank == 1 else 2)


def test_groups_are_split():
    run_ranks(4, split)


def timeouts_of_parts(rank, size):
    cpu = torch.device("cpu")
    parent = dist.new_group(timeout=timedelta(seconds=7))
    parts = [
        dist.split_group(parent, [[0], [1]]),
        dist.split_group(parent, [[0], [1]], timeout=timedelta(seconds=3)),
    ]
    return [load_extension().timeout_of(part._get_backend(cpu)).total_seconds() for part in parts]


def test_a_part_has_its_parents_timeout_if_none_is_given():
    assert run_ranks(2, timeouts_of_parts) == [[7, 3]] * 2


def allocated(rank, size, store):
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    assert backend.supports_tensor_alloc(torch.device("cpu"))
    tensor = backend.allocate_tensor(5000, dtype=torch.float64, device=torch.device("cpu"))
    assert tensor.shape == (5000,) and tensor.dtype == torch.float64
    tensor.fill_(rank)
    dist.all_reduce(tensor)
    assert tensor[-1] == sum(range(size))
    assert backend.allocate_tensor(0, dtype=torch.float32, device=torch.device("cpu")).numel() == 0
    for elements in (-1, (1 << 62) + 1):
        with pytest.raises(dist.DistBackendError, match="elements was asked for"):
            backend.allocate_tensor(elements, dtype=torch.float32, device=torch.device("cpu"))
    with pytest.raises(dist.DistBackendError, match="no allocator for pools without CUDA"):
        backend.mem_allocator  # noqa: B018: a property that is computed
    # It outlives the group that it came from, and the next one doesn't mind.
    dist.destroy_process_group()
    assert tensor.sum() == 5000 * sum(range(size))
    dist.init_process_group("dfccl", store=dist.FileStore(store, size), rank=rank, world_size=size)
    dist.all_reduce(tensor)
    assert tensor[0] == size * sum(range(size))


def test_tensors_in_reach_of_all_ranks(tmp_path):
    run_ranks(2, allocated, str(tmp_path / "store"))


def begin_coalescing_for_ever(rank, size):
    group, device = dist.group.WORLD, torch.device("cpu")
    group._start_coalescing(device)  # as batch_isend_irecv does, of which an operation then raises
    tensor = torch.ones(1)
    for _ in range(3000):
        dist.all_reduce(tensor)
    tensor.fill_(1)
    last = dist.all_reduce(tensor, async_op=True)
    work = group._end_coalescing(device)
    work.wait()
    assert last.is_completed() and tensor.item() == size
    return len(work.result())


def test_a_batch_that_never_ends_keeps_no_more_than_is_under_way_and_some():
    assert max(run_ranks(2, begin_coalescing_for_ever)) <= 1024


def refused_as_a_whole(rank, size):
    """What is wrong with one tensor of several is found before any of them is touched."""
    group = dist.group.WORLD
    one, whole = torch.full((5,), float(rank + 1)), torch.full((5 * size,), float(rank + 1))
    greatest = dist.AllreduceCoalescedOptions()
    greatest.reduceOp = dist.ReduceOp.MAX
    with pytest.raises(dist.DistBackendError):
        group.allreduce_coalesced([one, torch.zeros(2, dtype=torch.complex64)], greatest)
    with pytest.raises(dist.DistBackendError):
        group.allgather_into_tensor_coalesced([whole, whole[1:]], [one, one])
    with pytest.raises(dist.DistBackendError):
        group.reduce_scatter_tensor_coalesced([one, one], [whole, whole[1:]])
    with pytest.raises(dist.DistBackendError):
        group.allgather_coalesced([[torch.zeros(5), torch.zeros(4)]] * size, [one, one])
    dist.barrier()  # no batch is left open, and what had begun would be over behind it
    dist.barrier()
    assert torch.equal(one, torch.full((5,), float(rank + 1))), one
    assert torch.equal(whole, torch.full((5 * size,), float(rank + 1))), whole
    group.allreduce_coalesced([one, whole]).wait()
    assert torch.equal(one, torch.full((5,), 3.0)) and torch.equal(whole, torch.full((5 * size,), 3.0))


def test_several_tensors_are_refused_together():
    run_ranks(2, refused_as_a_whole)
