"""A thread with collectives and one with messages, at their own pace, each in a group and a stream of its own."""

import contextlib
import random
import threading
import time
import traceback

import torch
import torch.distributed as dist

from processes import ON_GPU, expect, expect_equal, run_check

ROUNDS = 100


def own_stream(device):
    return torch.cuda.stream(torch.cuda.Stream(device)) if ON_GPU else contextlib.nullcontext()


def check(rank, ranks, device):
    group_of_sums, group_of_messages = (dist.new_group(list(range(ranks))) for _ in range(2))
    failures = []

    def sums():
        pace = random.Random(rank)
        for i in range(ROUNDS):
            x = torch.full((50_000,), float(rank + i), device=device)
            dist.all_reduce(x, group=group_of_sums)
            expect_equal(x, ranks * (ranks - 1) / 2 + ranks * i, f"sum {i}")
            time.sleep(pace.random() * 2e-3)

    def messages():
        pace = random.Random(100 + rank)
        right, left = (rank + 1) % ranks, (rank - 1) % ranks
        for i in range(ROUNDS):
            got = torch.empty(50_000, device=device)
            sent = dist.isend(torch.full((50_000,), float(rank + i), device=device), right, group=group_of_messages)
            dist.irecv(got, left, group=group_of_messages).wait()
            sent.wait()
            expect_equal(got, left + i, f"message {i}")
            time.sleep(pace.random() * 2e-3)

    def guarded(work):
        try:
            if ON_GPU:
                torch.cuda.set_device(device)
            with own_stream(device):
                work()
        except BaseException:
            failures.append(traceback.format_exc())

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (sums, messages)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not failures, "\n".join(failures))


run_check(check)
