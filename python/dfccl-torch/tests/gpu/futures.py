"""Futures: callbacks are behind the results, in streams of their own, and whoever waits is behind the callbacks."""

import torch
import torch.distributed as dist

from processes import expect_equal, run_check


def check(rank, ranks, device):
    total = ranks * (ranks + 1) / 2
    for i in range(50):
        x = torch.full((1 << 18,), float(rank + 1), device=device)
        strided = torch.full((1000, 2), float(rank + 1), device=device)[:, 1]
        doubled = dist.all_reduce(x, async_op=True).get_future().then(lambda future: future.value()[0] * 2)
        expect_equal(doubled.wait(), 2 * total, "what a callback made")
        work = dist.all_reduce(strided, async_op=True)
        after = work.get_future().then(lambda future: future.value()[0] + 1)
        work.wait()
        expect_equal(strided, total, "what was waited for beside its future")
        expect_equal(after.wait(), total + 1, "what a callback made of what has gaps")
    # As DistributedDataParallel's join() asks: no wait for the future itself, and a peer that comes late.
    for _ in range(5):
        late = torch.full((1000,), float(rank + 1), device=device)
        if rank and device.type == "cuda":
            torch.cuda._sleep(200_000_000)
        work = dist.all_reduce(late, async_op=True)
        work.wait()
        expect_equal(work.get_future().value()[0], total, "a future's value behind the work's wait")
        # The work may be asked again, before and behind its end.
        work.wait()
        while not work.is_completed():
            pass
        expect_equal(work.get_future().wait()[0], total, "a future behind its work's end")
    # In another stream than the one that has the wait, and of what has no value.
    if device.type == "cuda":
        x = torch.full((1000,), float(rank + 1), device=device)
        work = dist.all_reduce(x, async_op=True)
        work.wait()
        with torch.cuda.stream(torch.cuda.Stream()):
            expect_equal(work.get_future().wait()[0], total, "a future in another stream")
        token = torch.full((1000,), float(rank), device=device)
        received = torch.empty_like(token)
        sent, got = dist.isend(token, (rank + 1) % ranks), dist.irecv(received, (rank - 1) % ranks)
        sent.wait()
        with torch.cuda.stream(torch.cuda.Stream()):
            sent.get_future().wait()
            token.zero_()
        got.wait()
        expect_equal(received, float((rank - 1) % ranks), "what was sent, and changed behind its future")
    pairs = [torch.full((n + 1,), float(rank + 1), device=device) for n in range(20)]
    futures = [dist.all_reduce(pair, async_op=True).get_future() for pair in pairs]
    torch.futures.wait_all(futures)
    for pair in pairs:
        expect_equal(pair, total, "one of twenty futures")
    rows = [torch.empty(100, device=device) for _ in range(ranks)]
    future = dist.all_gather(rows, torch.full((100,), float(rank), device=device), async_op=True).get_future()
    future.wait()
    for sender, row in enumerate(rows):
        expect_equal(row, sender, "all_gather's future")


run_check(check)
