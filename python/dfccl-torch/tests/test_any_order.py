"""What hangs with backends that match operations by their place."""

import threading
import time
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

import dfccl_torch


def opposite_groups(rank, size):
    first, second = dist.new_group(list(range(size))), dist.new_group(list(range(size)))
    a, b = torch.full((4,), float(rank)), torch.full((4,), 10.0 * rank)
    works = []
    for group, tensor in ((first, a), (second, b)) if rank % 2 == 0 else ((second, b), (first, a)):
        works.append(dist.all_reduce(tensor, group=group, async_op=True))
    for work in works:
        work.wait()
    assert torch.equal(a, torch.full((4,), float(sum(range(size)))))
    assert torch.equal(b, torch.full((4,), 10.0 * sum(range(size))))


def test_two_groups_of_the_same_ranks_in_opposite_orders():
    run_ranks(2, opposite_groups)
    run_ranks(4, opposite_groups)


def subgroups(rank, size):
    lists = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3], [3, 1, 0]]
    groups = [dist.new_group(ranks) for ranks in lists]
    mine = [i for i, ranks in enumerate(lists) if rank in ranks]
    tensors = {i: torch.full((3,), float(rank + 1)) for i in mine}
    works = [dist.all_reduce(tensors[i], group=groups[i], async_op=True) for i in (mine if rank % 2 else mine[::-1])]
    for work in works:
        work.wait()
    for i in mine:
        assert torch.equal(tensors[i], torch.full((3,), float(sum(r + 1 for r in lists[i]))))


def test_overlapping_groups_from_different_ends():
    run_ranks(4, subgroups)


def sends_first_async(rank, size):
    works = []
    for peer in range(size):
        if peer != rank:
            works += [dist.isend(torch.full((7,), float(rank)), peer, tag=tag) for tag in range(5)]
    outputs = {}
    for peer in reversed(range(size)):
        for tag in reversed(range(5)):
            if peer != rank:
                outputs[peer, tag] = torch.empty(7)
                works.append(dist.irecv(outputs[peer, tag], peer, tag=tag))
    for work in reversed(works):
        work.wait()
    for (peer, _), output in outputs.items():
        assert torch.equal(output, torch.full((7,), float(peer)))


def test_all_sends_before_all_receives():
    run_ranks(2, sends_first_async)
    run_ranks(4, sends_first_async)


def tagged(rank, size):
    order = ["a", "b", "c"] if rank == 0 else ["c", "a", "b"]
    tensors = {name: torch.full((5,), float(ord(name) * (rank + 1))) for name in order}
    works = []
    for name in order:
        with dfccl_torch.tag(name):
            works.append(dist.all_reduce(tensors[name], async_op=True))
    for work in works:
        work.wait()
    for name in order:
        assert torch.equal(tensors[name], torch.full((5,), float(ord(name) * sum(range(1, size + 1)))))


def test_tags_match_what_is_alike_in_all_else():
    run_ranks(2, tagged)


def two_threads(rank, size):
    background = dist.new_group(list(range(size)))
    failures = []

    def messages():
        try:
            for i in range(50):
                output = torch.empty(64)
                works = [
                    dist.isend(torch.full((64,), float(i)), (rank + 1) % size, background),
                    dist.irecv(output, (rank - 1) % size, background),
                ]
                for work in works:
                    work.wait()
                assert torch.equal(output, torch.full((64,), float(i)))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=messages)
    thread.start()
    for _ in range(50):
        tensor = torch.ones(64)
        dist.all_reduce(tensor)
        assert torch.equal(tensor, torch.full((64,), float(size)))
    thread.join()
    assert not failures, failures


def test_collectives_and_messages_from_two_threads():
    run_ranks(4, two_threads)


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


def late(rank, size):
    tensor = torch.ones(3)
    if rank == 0:
        work = dist.all_reduce(tensor, async_op=True)
        with pytest.raises(dist.DistBackendError, match=r"all_reduce.*ms.*1"):
            work.wait(timedelta(milliseconds=300))
        text = dfccl_torch.explain()
        assert "all" in text and "1" in text, text
        dist.barrier()
        work.wait()  # nothing was given up
    else:
        dist.barrier()
        dist.all_reduce(tensor)
    assert torch.equal(tensor, torch.full((3,), float(size)))


def test_a_timeout_names_who_is_missing_and_gives_nothing_up():
    run_ranks(2, late)


def aborted(rank, size):
    group, other = dist.new_group(list(range(size))), dist.new_group(list(range(size)))
    if rank == 0:
        work = dist.all_reduce(torch.ones(3), group=group, async_op=True)
        dist.send(torch.ones(3), 1, group)  # which nobody receives, so that the end must not wait for it
        group._get_backend(torch.device("cpu")).abort()
        with pytest.raises(dist.DistBackendError, match="given up"):
            work.wait()
    tensor = torch.ones(3)
    dist.all_reduce(tensor, group=other)
    assert torch.equal(tensor, torch.full((3,), float(size)))


def test_an_abort_ends_what_is_in_flight_in_the_group_alone():
    run_ranks(2, aborted)


def sends_before_receives(rank, size):
    """Small ones don't wait for their receivers; what was sent is what the tensor held then."""
    for i in range(100):
        tensor = torch.full((1000,), float(rank + i))
        dist.send(tensor, (rank + 1) % size)
        tensor.zero_()
        work = dist.isend(torch.full((7,), float(rank)), (rank + 1) % size, tag=3)
        assert work.is_completed()
        received, other = torch.empty(1000), torch.empty(7)
        dist.recv(received, (rank - 1) % size)
        dist.recv(other, (rank - 1) % size, tag=3)
        assert torch.equal(received, torch.full((1000,), float((rank - 1) % size + i)))
        assert torch.equal(other, torch.full((7,), float((rank - 1) % size)))


def test_all_ranks_may_send_first():
    run_ranks(2, sends_before_receives)
    run_ranks(3, sends_before_receives)


def send_and_end(rank, size):
    if rank == 0:
        dist.send(torch.full((1000,), 5.0), 1)
        return
    time.sleep(1)  # rank 0 has come to its end by then
    tensor = torch.empty(1000)
    dist.recv(tensor, 0)
    assert torch.equal(tensor, torch.full((1000,), 5.0))


def test_the_end_waits_for_what_was_sent():
    run_ranks(2, send_and_end)


def callbacks(rank, size):
    threads, order = [], []
    store = dist.distributed_c10d._get_default_store()
    if rank != 0:
        store.get("the callbacks are there")
    works = [dist.all_reduce(torch.full((n + 1,), float(rank)), async_op=True) for n in range(50)]
    if rank != 0:
        for work in works:
            work.wait()
        return True

    def note(number):
        threads.append(threading.get_ident())
        order.append(number)

    futures = [work.get_future().then(lambda _, n=n: note(n)) for n, work in enumerate(works)]
    store.set("the callbacks are there", "")
    for work in works:
        work.wait()
    torch.futures.wait_all(futures)
    return len(order) == 50 and len(set(threads)) == 1 and threading.get_ident() not in threads


def test_callbacks_of_futures_run_on_one_thread_of_their_own():
    assert run_ranks(2, callbacks) == [True, True]


def callbacks_in_order(rank, size):
    """All but the first come while that one runs, and after each other."""
    store = dist.distributed_c10d._get_default_store()
    if rank != 0:
        store.get("the first callback is there")
    first = dist.all_reduce(torch.ones(1), async_op=True)
    goes_on, order = threading.Event(), []
    futures = [first.get_future().then(lambda _: goes_on.wait())] if rank == 0 else []
    store.set("the first callback is there", "")
    first.wait()
    for n in range(8):
        work = dist.all_reduce(torch.ones(n + 2), async_op=True)
        futures += [work.get_future().then(lambda _, n=n: order.append(n))] if rank == 0 else []
        work.wait()
    goes_on.set()
    torch.futures.wait_all(futures)
    return order


def test_callbacks_come_in_the_order_in_which_works_complete():
    assert run_ranks(2, callbacks_in_order) == [list(range(8)), []]


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
