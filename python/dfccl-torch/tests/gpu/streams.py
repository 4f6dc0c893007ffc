"""What waits for what: streams for runs and runs for streams, and the host for nothing but a barrier."""

import time

import torch
import torch.distributed as dist

from processes import expect, expect_equal, folder, run_check

ROUNDS = 50


def spin(device):
    """Some milliseconds of work, so that what isn't ordered behind it comes too early."""
    a = torch.ones(1024, 1024, device=device)
    for _ in range(20):
        a = a @ a * 1e-3
    return a


def behind_the_current_stream(rank, ranks, device):
    for i in range(ROUNDS):
        x = torch.zeros(1 << 18, device=device)
        spin(device)
        x.fill_(rank + i)
        work = dist.all_reduce(x, async_op=True)
        work.wait()
        y = x * 2  # without any synchronization of the host
        expect_equal(y, 2 * (ranks * (ranks - 1) / 2 + ranks * i), "what follows wait()")


def issued_and_waited_for_elsewhere(rank, ranks, device):
    issues, waits = torch.cuda.Stream(), torch.cuda.Stream()
    for i in range(ROUNDS):
        with torch.cuda.stream(issues):
            spin(device)
            x = torch.full((100_003,), float(rank + i), device=device)
            strided = torch.full((1000, 2), float(rank + i), device=device)[:, 0]
            works = [dist.all_reduce(x, async_op=True), dist.all_reduce(strided, async_op=True)]
        with torch.cuda.stream(waits):
            for work in works:
                work.wait()
            total = ranks * (ranks - 1) / 2 + ranks * i
            expect_equal(x, total, "a run of another stream")
            expect_equal(strided, total, "what has gaps, of another stream")
        torch.cuda.current_stream().wait_stream(waits)


def temporaries(rank, ranks, device):
    """Nobody holds what is given: it stays all the same."""
    for i in range(ROUNDS):
        works = [dist.all_reduce(torch.full((1 << 20,), 1.0, device=device), async_op=True) for _ in range(4)]
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        works.append(dist.isend(torch.full((1 << 20,), float(i), device=device), right))
        litter = [torch.full((1 << 20,), -1.0, device=device) for _ in range(8)]
        got = torch.empty(1 << 20, device=device)
        dist.recv(got, left)
        expect_equal(got, i, "what was sent from a temporary")
        for work in works:
            work.wait()
        del litter


def memory_goes_on(rank, ranks, device):
    """What a stream has waited for belongs to nobody any more, as with NCCL, though a rank hasn't come: torch.compile looks
    into a graph's pool for what was left. Whoever gets the memory next in the same stream comes behind the run."""
    x = torch.full((1 << 20,), float(rank), device=device)
    x.clone().add_(x)  # no kernel is to be launched for the first time while a stream waits, which may wait for that
    torch.cuda.synchronize()
    place, held = x.data_ptr(), torch.cuda.memory_allocated()
    if rank == ranks - 1:
        wait_for("dropped", ranks - 1)
    total = x.clone()
    dist.all_reduce(total)
    dist.all_reduce(x)
    y = total.clone().add_(x)
    del x, total
    expect(torch.cuda.memory_allocated() <= held, "the tensors of a run that a stream has waited for are kept")
    next_there = [torch.full((1 << 20,), -1.0, device=device) for _ in range(4)]
    expect(place in [z.data_ptr() for z in next_there], "nobody got the memory")
    (folder() / f"dropped-{rank}").touch()
    expect_equal(y, ranks * (ranks - 1), "a run whose tensors were dropped")


def wait_for(name, ranks):
    while not all((folder() / f"{name}-{r}").exists() for r in range(ranks)):
        time.sleep(0.01)


def host_goes_on(rank, ranks, device):
    """wait() returns though the last rank hasn't issued its part: it does so only when it hears that the others have."""
    x = torch.ones(1000, device=device)
    if rank == ranks - 1:
        wait_for("waited", ranks - 1)
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    (folder() / f"waited-{rank}").touch()
    expect_equal(x, ranks, "a run whose wait was there first")


def barrier_waits(rank, ranks, device):
    """The last rank comes late: who is past the barrier sees that it has."""
    if rank == ranks - 1:
        time.sleep(0.5)
        (folder() / "came").touch()
    dist.barrier()
    expect((folder() / "came").exists(), "a barrier let a rank go before all had come")


def waits_in_other_orders(rank, ranks, device):
    for i in range(ROUNDS):
        tensors = {n: torch.full((1000 + n,), float(rank + n), device=device) for n in range(8)}
        order = torch.randperm(8, generator=torch.Generator().manual_seed(100 * rank + i)).tolist()
        works = {n: dist.all_reduce(tensors[n], async_op=True) for n in order}
        for n in reversed(order):
            works[n].wait()
            expect_equal(tensors[n], ranks * (ranks - 1) / 2 + ranks * n, "one of eight in any order")


def check(rank, ranks, device):
    for part in (
        behind_the_current_stream,
        issued_and_waited_for_elsewhere,
        temporaries,
        memory_goes_on,
        host_goes_on,
        barrier_waits,
        waits_in_other_orders,
    ):
        part(rank, ranks, device)
        torch.cuda.synchronize()
        if rank == 0:
            print(f"{part.__name__}: good", flush=True)


run_check(check, gpu_only=True)
