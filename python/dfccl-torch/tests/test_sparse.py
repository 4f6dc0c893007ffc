"""Sums of sparse tensors, which torch's embeddings have as gradients: the same as with Gloo, in any order."""

import ctypes
import os
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

import dfccl_torch


def some_elements(rank, shape, count, dtype=torch.float32, dense=()):
    """`count` elements in drawn places, some twice in one."""
    generator = torch.Generator().manual_seed(17 * rank + count)
    indices = torch.stack([torch.randint(0, extent, (count,), generator=generator) for extent in shape])
    values = torch.randint(-8, 9, (count, *dense), generator=generator).to(dtype)
    return torch.sparse_coo_tensor(indices, values, (*shape, *dense), check_invariants=True)


def sum_of(size, *arguments, **options):
    return sum(some_elements(rank, *arguments, **options).to_dense() for rank in range(size))


def sparse_sums(rank, size):
    for dtype in (torch.float32, torch.float64, torch.int64, torch.bfloat16):
        for shape, dense in (((5,), ()), ((4, 6), (3,))):
            tensor = some_elements(rank, shape, 3 + rank, dtype, dense)
            dist.all_reduce(tensor)
            wanted = sum(some_elements(r, shape, 3 + r, dtype, dense).to_dense() for r in range(size))
            assert tensor.is_coalesced() and torch.equal(tensor.to_dense(), wanted), (dtype, shape)

    # Some ranks have nothing, and all.
    for counts in (lambda r: r, lambda r: 0):
        tensor = some_elements(rank, (5, 5), counts(rank))
        dist.all_reduce(tensor)
        assert torch.equal(tensor.to_dense(), sum(some_elements(r, (5, 5), counts(r)).to_dense() for r in range(size)))

    tensor = some_elements(rank, (5, 5), 3)
    dist.all_reduce(tensor, dist.ReduceOp.AVG)
    assert torch.equal(tensor.to_dense(), sum_of(size, (5, 5), 3) / size)

    # A gradient, of which there is a view.
    tensor = some_elements(rank, (5, 5), 3).requires_grad_()
    dist.all_reduce(tensor)
    assert torch.equal(tensor.detach().to_dense(), sum_of(size, (5, 5), 3))


def sparse_sums_in_any_order(rank, size):
    """Of many shapes and tags, forwards on one rank and backwards on the other; several of each are alike."""
    cases = [(n, copy, tag) for n in range(1, 6) for tag in ("", "a") for copy in range(3)]
    if rank % 2:
        cases = [(n, 2 - copy, tag) for n, copy, tag in reversed(cases)]
    begun = []
    for n, copy, tag in cases:
        tensor = some_elements(rank, (n, 4), n + copy)
        with dfccl_torch.tag(tag):
            begun.append((tensor, (n, copy), dist.all_reduce(tensor, async_op=True)))
    for tensor, (n, copy), work in begun if rank else reversed(begun):
        if copy == 1:
            tensor = work.get_future().wait()[0]
        work.wait()
        assert work.is_completed() and work.is_success()
        assert torch.equal(tensor.to_dense(), sum_of(size, (n, 4), n + copy))

    # Nobody waits on rank 0, which the others need all the same.
    tensor = some_elements(rank, (3, 3), 2)
    work = dist.all_reduce(tensor, async_op=True)
    if rank:
        work.wait()
    del work
    dist.barrier()


def sparse_sums_go_wrong(rank, size):
    with pytest.raises(dist.DistBackendError, match="adds up"):
        dist.all_reduce(some_elements(rank, (3, 3), 2), dist.ReduceOp.MAX)
    with pytest.raises(dist.DistBackendError, match="adds up"):
        dist.all_reduce(some_elements(rank, (3, 3), 2, torch.int64), dist.ReduceOp.AVG)
    dist.barrier()
    if rank == 0:
        work = dist.all_reduce(some_elements(rank, (3, 3), 2), async_op=True)
        with pytest.raises(dist.DistBackendError, match=r"Timed out.*rank 1"):
            work.wait(timedelta(milliseconds=300))
        dist.barrier()
        work.wait()
        return
    dist.barrier()
    dist.all_reduce(some_elements(rank, (3, 3), 2))


def test_sparse_sums():
    run_ranks(2, sparse_sums)
    run_ranks(4, sparse_sums)


def test_sparse_sums_in_any_order():
    run_ranks(2, sparse_sums_in_any_order)
    run_ranks(4, sparse_sums_in_any_order)


def test_sparse_sums_that_cannot_be():
    run_ranks(2, sparse_sums_go_wrong)


def many_sparse_sums(rank, size):
    """What is over keeps no memory, long before its time would be up."""
    values = torch.ones(1, 1 << 18)  # a megabyte
    for n in range(200):
        dist.all_reduce(torch.sparse_coo_tensor([[rank]], values, (size, 1 << 18), check_invariants=True))
        if n == 20:
            before = resident_megabytes()
    assert resident_megabytes() - before < 100  # and not several megabytes a sum


def resident_megabytes():
    ctypes.CDLL(None).malloc_trim(0)  # what is free but kept by the allocator, for each thread its own, is nobody's
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def test_sparse_sums_keep_no_memory():
    run_ranks(2, many_sparse_sums)


def late_sparse_sum(rank, size):
    """Nothing is given up when the group's own time is up."""
    store = dist.distributed_c10d._get_default_store()
    group = dist.new_group(timeout=timedelta(seconds=1))
    tensor = some_elements(rank, (3, 3), 2)
    if rank == 0:
        work = dist.all_reduce(tensor, group=group, async_op=True)
        with pytest.raises(RuntimeError, match=r"Timed out.*rank 1"):
            work.get_future().wait()
        with pytest.raises(dist.DistBackendError, match=r"Timed out.*rank 1"):
            work.wait()
        store.set("rank 0 has given up", "")
        work.wait(timedelta(seconds=60))
    else:
        store.get("rank 0 has given up")
        dist.all_reduce(tensor, group=group, async_op=True).wait(timedelta(seconds=60))
    assert torch.equal(tensor.to_dense(), sum_of(size, (3, 3), 2))


def test_a_sparse_sum_may_be_waited_for_again():
    run_ranks(2, late_sparse_sum, timeout_s=60)


def sums_matched_by_position(rank, size):
    """What a sparse sum issues behind the caller's back doesn't count."""
    os.environ["DFCCL_MATCH"] = "position"  # read when a group issues its first
    sparse = [some_elements(rank, (n, 4), n) for n in (1, 2, 3)]
    works = []
    for n, tensor in enumerate(sparse):
        works.append(dist.all_reduce(tensor, async_op=True))
        works.append(dist.all_reduce(torch.ones(n + 1), async_op=True))
        if rank:
            works[-2].wait()
    for work in works:
        work.wait()
    for n, tensor in enumerate(sparse):
        assert torch.equal(tensor.to_dense(), sum_of(size, (n + 1, 4), n + 1))


def test_sparse_sums_matched_by_position():
    run_ranks(2, sums_matched_by_position)


def embed(rank, size):
    torch.manual_seed(3)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.EmbeddingBag(40, 4, sparse=True, mode="sum"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(5):
        model(torch.randint(0, 40, (3, 2), generator=generator)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.module.weight.detach().numpy().tobytes()


def test_embeddings_learn_as_with_gloo():
    assert run_ranks(2, embed) == run_ranks(2, embed, backend="gloo")
