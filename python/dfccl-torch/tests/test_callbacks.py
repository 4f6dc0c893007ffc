"""Callbacks of futures: on which thread, in which order, and what they may wait for."""

import io
import os
import tempfile
import threading
from contextlib import contextmanager

import torch
import torch.distributed as dist
from ranks import run_ranks


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


def waiting_callbacks(rank, size):
    """As PowerSGD's: each waits for a collective that it has issued, and others come meanwhile."""

    def again(future):
        return dist.all_reduce(future.value()[0], async_op=True).get_future().wait()[0]

    def again_behind(future):
        return dist.all_reduce(future.value() * 2, async_op=True).get_future().then(lambda done: again(done)).wait()

    works = [dist.all_reduce(torch.full((n + 1,), 1.0), async_op=True) for n in range(20)]
    futures = [work.get_future().then(again).then(again_behind) for work in works]
    for n, future in enumerate(futures):
        assert torch.equal(future.wait(), torch.full((n + 1,), 2.0 * size**4))


def test_callbacks_may_wait_for_what_they_have_issued():
    run_ranks(2, waiting_callbacks)


@contextmanager
def standard_error():
    """What the process writes there meanwhile, the library in it too."""
    told, before = io.StringIO(), os.dup(2)
    with tempfile.TemporaryFile(mode="w+") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield told
        finally:
            os.dup2(before, 2)
            os.close(before)
            file.seek(0)
            told.write(file.read())


def callback_before_its_own(rank, size):
    """A callback waits for a future whose own callbacks would come behind it."""
    store = dist.distributed_c10d._get_default_store()
    first = dist.all_reduce(torch.ones(1), async_op=True) if rank == 0 else None
    second = dist.all_reduce(torch.ones(2), async_op=True) if rank == 0 else None
    if rank == 0:
        begun, last = first.get_future(), second.get_future()
        waited = begun.then(lambda _: last.wait()[0])
        with standard_error() as told:
            store.set("both futures are there", "")
            assert torch.equal(waited.wait(), torch.full((2,), float(size)))
        assert told.getvalue().count("is called out of order now") == 1, told.getvalue()
        return
    store.get("both futures are there")
    dist.all_reduce(torch.ones(1))
    dist.all_reduce(torch.ones(2))


def test_a_callback_may_wait_for_any_future():
    run_ranks(2, callback_before_its_own)


def callbacks_in_asking_order(rank, size):
    """The first takes much longer than those behind it."""
    order = []
    for n in range(10):
        works = [dist.all_reduce(torch.ones(length), async_op=True) for length in (1 << 20, 1, 2)]
        futures = [work.get_future().then(lambda _, n=n, i=i: order.append((n, i))) for i, work in enumerate(works)]
        torch.futures.wait_all(futures)
    return order


def test_callbacks_come_in_the_order_in_which_they_were_asked_for():
    expected = [(n, i) for n in range(10) for i in range(3)]
    assert run_ranks(2, callbacks_in_asking_order) == [expected, expected]


def told_at_once(rank, size):
    """Both futures are complete before the first callback begins, which waits for the second."""
    works = [dist.all_reduce(torch.ones(n), async_op=True) for n in (1, 2)]
    futures = [work.get_future() for work in works]
    waited = futures[0].then(lambda _: futures[1].wait()[0])
    for work in works:
        work.wait()
    assert torch.equal(waited.wait(), torch.full((2,), float(size)))


def test_a_callback_may_wait_for_what_is_complete():
    for _ in range(3):
        run_ranks(2, told_at_once)
