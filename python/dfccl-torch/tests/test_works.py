"""What an operation in flight gives its caller: a work to wait for, and a future."""

import threading
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks


def works(rank, size):
    tensor = torch.ones(4)
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        time.sleep(0.001)
    assert work.is_success() and work.wait() and torch.equal(tensor, torch.full((4,), float(size)))

    # A future, with nobody who waits for the work itself.
    tensor = torch.ones(4)
    doubled = dist.all_reduce(tensor, async_op=True).get_future().then(lambda future: future.value()[0] * 2)
    assert torch.equal(doubled.wait(), torch.full((4,), 2.0 * size))

    # One whose work was over before it was asked for.
    work = dist.all_reduce(torch.ones(2), async_op=True)
    work.wait()
    assert torch.equal(work.get_future().wait()[0], torch.full((2,), float(size)))

    # A work that nobody keeps goes on, and so does its tensor.
    kept = torch.zeros(3, 2).t()
    dist.all_reduce(kept.add_(1), async_op=True)
    dist.all_reduce(torch.ones(1 << 16), async_op=True)
    dist.barrier()
    for _ in range(2000):
        if kept[0, 0] == size:
            break
        time.sleep(0.005)
    assert torch.equal(kept, torch.full((2, 3), float(size)))

    # Several threads wait for one work.
    work = dist.all_reduce(torch.ones(1 << 18), async_op=True)
    threads = [threading.Thread(target=work.wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert work.is_completed()

    reqs = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, torch.full((3,), float(rank)), (rank + 1) % size),
            dist.P2POp(dist.irecv, kept2 := torch.empty(3), (rank - 1) % size),
        ]
    )
    for req in reqs:
        req.wait()
    assert torch.equal(kept2, torch.full((3,), float((rank - 1) % size)))

    with dist._coalescing_manager(async_ops=True) as manager:
        tensors = [torch.full((2,), float(i)) for i in range(3)]
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    assert [t[0].item() for t in tensors] == [0.0, float(size), 2.0 * size]


def test_works_and_futures():
    run_ranks(2, works)


def future_beside_a_wait(rank, size):
    """Asked for while a thread waits, in vain: the future comes all the same, without anybody who waits for the work."""
    store = dist.distributed_c10d._get_default_store()
    if rank != 0:
        store.get("nobody waits any more")
        dist.all_reduce(torch.ones(3))
        return
    work = dist.all_reduce(torch.ones(3), async_op=True)
    failures = []

    def wait_in_vain():
        try:
            work.wait(timedelta(milliseconds=500))
        except dist.DistBackendError as error:
            failures.append(error)

    thread = threading.Thread(target=wait_in_vain)
    thread.start()
    time.sleep(0.1)  # so that it is the thread's turn, most likely
    future = work.get_future()
    thread.join()
    assert len(failures) == 1
    store.set("nobody waits any more", "")
    assert torch.equal(future.wait()[0], torch.full((3,), float(size)))


def test_a_future_may_be_asked_for_while_another_thread_waits():
    run_ranks(2, future_beside_a_wait)


def futures_in_any_order(rank, size):
    """Rank 1 issues the first one only when rank 0 has heard of the second."""
    if rank == 0:
        first = dist.all_reduce(torch.ones(1), async_op=True).get_future()
        second = dist.all_reduce(torch.ones(2), async_op=True).get_future()
        assert torch.equal(second.wait()[0], torch.full((2,), float(size)))
        dist.all_reduce(torch.ones(3))
        assert torch.equal(first.wait()[0], torch.full((1,), float(size)))
        return
    for length in (2, 3, 1):
        dist.all_reduce(torch.ones(length))


def test_futures_come_in_any_order_all_the_same():
    run_ranks(2, futures_in_any_order)


def late_futures(rank, size):
    """As DistributedDataParallel waits: for a future, that has no limit of its own."""
    store = dist.distributed_c10d._get_default_store()
    group = dist.new_group(timeout=timedelta(seconds=1))
    if rank == 1:
        store.get("rank 0 has given up")
        dist.all_reduce(torch.ones(2), group=group)
        return
    tensor = torch.ones(2)
    work = dist.all_reduce(tensor, group=group, async_op=True)
    doubled = work.get_future().then(lambda future: future.value()[0] * 2)
    with pytest.raises(RuntimeError, match=r"Timed out after 1000 ms.*rank 1"):
        doubled.wait()
    store.set("rank 0 has given up", "")
    work.wait(timedelta(seconds=60))  # which goes on all the same
    assert torch.equal(tensor, torch.full((2,), float(size)))


def test_a_future_that_is_late_names_who_is_missing():
    run_ranks(2, late_futures, timeout_s=60)


def past_deadlines(rank, size):
    """A deadline that has passed leaves a negative time to wait."""
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        sparse = torch.sparse_coo_tensor([[1]], [1.0], (4,))
        for work in (dist.all_reduce(torch.ones(2), async_op=True), dist.all_reduce(sparse, async_op=True)):
            with pytest.raises(dist.DistBackendError, match="1"):
                work.wait(timedelta(seconds=-3))
        store.set("rank 0 has given up", "")
    else:
        store.get("rank 0 has given up")  # one that has left is another failure


def test_a_deadline_that_has_passed_is_no_limit_that_is_none():
    run_ranks(2, past_deadlines)


def learns_alone(rank, size):
    group = dist.new_group(timeout=timedelta(seconds=5))
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2), process_group=group)
    if rank == 0:
        with pytest.raises(RuntimeError, match=r"Timed out after 5000 ms.*rank 1"):
            model(torch.ones(1, 2)).sum().backward()
    dist.distributed_c10d._get_default_store().set(f"rank {rank} is done", "")
    dist.distributed_c10d._get_default_store().wait(["rank 0 is done"])


def test_data_parallel_training_names_who_is_missing():
    run_ranks(2, learns_alone, timeout_s=60)


def waited_for_and_asked(rank, size):
    """One thread waits for a work while another asks for its future."""
    for _ in range(300):
        work = dist.all_reduce(torch.ones(2), async_op=True)
        thread = threading.Thread(target=work.wait)
        thread.start()
        future = work.get_future()
        assert torch.equal(future.wait()[0], torch.full((2,), float(size)))
        thread.join()


def test_a_future_may_be_asked_for_while_its_work_ends():
    run_ranks(2, waited_for_and_asked)


def centuries(rank, size):
    """Times that don't fit the nanoseconds of a clock, of all that waits."""
    store = dist.distributed_c10d._get_default_store()
    long = timedelta(days=365 * 400)
    group = dist.new_group(timeout=long)
    for i in range(20):
        if rank == 1:
            store.get(f"rank 0 waits {i}")
        tensor, sparse = torch.ones(2), torch.sparse_coo_tensor([[1]], [1.0], (4,), check_invariants=True)
        with dist._coalescing_manager(group, async_ops=True) as manager:
            dist.all_reduce(torch.ones(3), group=group)
            dist.all_reduce(torch.ones(4), group=group)
        works = [dist.all_reduce(tensor, group=group, async_op=True), dist.all_reduce(sparse, group=group, async_op=True)]
        future = dist.all_reduce(torch.ones(5), group=group, async_op=True).get_future()
        if rank == 0:
            store.set(f"rank 0 waits {i}", "")
        for work in [*manager.works, *works] if i % 2 else [*works, *manager.works]:
            work.wait(long) if i % 3 else work.wait()
        future.wait()
        dist.monitored_barrier(group, long if i % 2 else None)
        assert tensor.tolist() == [size] * 2 and sparse.to_dense()[1] == size


def test_a_limit_of_centuries_is_not_over_at_once():
    run_ranks(2, centuries)
