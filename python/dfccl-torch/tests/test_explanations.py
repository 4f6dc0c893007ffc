"""What errors and `explain` say: in words of whoever writes Python."""

import os
import re
import subprocess
import sys
from datetime import timedelta

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

import dfccl_torch


def expect_words(text, *words):
    """All of these, and none of C's functions or of the numbers that stand for names."""
    missing = [word for word in words if word not in text]
    assert not missing, f"{missing} not in: {text}"
    assert not re.search("dfccl[A-Z]|[0-9]{12}", text), text


def unmatched(rank, size):
    """Rank 1 issues none of it before rank 0 has looked."""
    store = dist.distributed_c10d._get_default_store()
    other = dist.new_group()
    tensor, bits = torch.ones(3), torch.ones(4, dtype=torch.int16)
    flags = torch.ones(5, dtype=torch.bool)
    sparse = torch.sparse_coo_tensor([[1]], [1.0], (4,), check_invariants=True)
    if rank == 1:
        store.get("rank 0 has looked")
    with dfccl_torch.tag("layer3"):
        works = [dist.all_reduce(tensor, async_op=True)]
    works += [
        dist.all_reduce(bits, dist.ReduceOp.MAX, group=other, async_op=True),
        dist.broadcast(flags, 0, async_op=True),
        dist.all_reduce(sparse, async_op=True),
        dist.irecv(torch.empty(2), 1 - rank, tag=7),
        dist.isend(torch.empty(10_000), 1 - rank, tag=8),
    ]
    if rank == 0:
        with pytest.raises(dist.DistBackendError) as error:
            works[0].wait(timedelta(milliseconds=100))
        expect_words(
            str(error.value),
            'Timed out after 100 ms: all-reduce of 3 float32, sum, tag "layer3" (ranks 0, 1), in group 0, run 0: rank 1 has not',
            "another size, type, operator or tag",
        )
        text, issued = dfccl_torch.explain().split("\nIssued here", 1)
        store.set("rank 0 has looked", "")
        works += [dist.isend(torch.empty(2), 1, tag=7), dist.irecv(torch.empty(10_000), 1, tag=8)]
        more = re.search(r" And (\d+) more\.", text)
        told = len(re.findall("has not submitted it", text))
        assert told + int(more[1]) == len(works) - 2, text
        assert issued.count(__file__) == len(works) - 2, issued
        expect_words(text, "in group")
    else:
        works += [dist.isend(torch.empty(2), 0, tag=7), dist.irecv(torch.empty(10_000), 0, tag=8)]
    for work in works:
        work.wait()


def test_what_is_missing_is_named_as_the_program_names_it():
    run_ranks(2, unmatched)


def names_of_one(rank, size, issue, words):
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        store.get("rank 0 has looked")
        issue(rank).wait()
        return
    work = issue(rank)
    text = dfccl_torch.explain()
    store.set("rank 0 has looked", "")
    work.wait()
    expect_words(text, *words)


def sum_of_shorts(rank):
    return dist.all_reduce(torch.ones(4, dtype=torch.int16), dist.ReduceOp.MAX, async_op=True)


def broadcast_of_flags(rank):
    return dist.broadcast(torch.ones(5, dtype=torch.bool), 0, async_op=True)


def sum_of_sparse(rank):
    return dist.all_reduce(torch.sparse_coo_tensor([[1]], [1.0], (4,), check_invariants=True), async_op=True)


def message(rank):
    tensor = torch.empty(10_000)
    return dist.isend(tensor, 1, tag=8) if rank == 0 else dist.irecv(tensor, 0, tag=8)


def untagged(rank):
    return dist.all_reduce(torch.ones(3), async_op=True)


@pytest.mark.parametrize(
    ("issue", "words"),
    [
        (sum_of_shorts, "all-gather of 8 uint8, in torch Short, MAX (ranks 0, 1), in group 0"),
        (broadcast_of_flags, "broadcast of 5 uint8, root rank 0, in torch Bool (ranks 0, 1), in group 0"),
        (sum_of_sparse, ", part of the sum of a sparse tensor (ranks 0, 1), in group 0"),
        (message, "send-recv of 10000 float32, from rank 0 to rank 1, message tag 8, in group 0"),
        (untagged, "all-reduce of 3 float32, sum (ranks 0, 1), in group 0"),
    ],
)
def test_operations_are_named_as_they_were_asked_for(issue, words):
    run_ranks(2, names_of_one, issue, [words])


def disagree_by_position(rank, size):
    """The first of each is of another size; whose time is up second reads what the first one told."""
    os.environ["DFCCL_MATCH"] = "position"  # read when a group issues its first
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        store.get("rank 0 has told")
    work = dist.all_reduce(torch.ones(4 + rank), async_op=True)
    with pytest.raises(dist.DistBackendError) as error:
        work.wait(timedelta(milliseconds=100))
    if rank == 0:
        store.set("rank 0 has told", "")
        store.get("rank 1 has told")
        with pytest.raises(dist.DistBackendError) as error:
            work.wait(timedelta(milliseconds=100))
    mine, theirs = f"{4 + rank} float32", f"{5 - rank} float32"
    words = f"At position 1 rank {1 - rank} has issued all-reduce of {theirs}, sum, and this one all-reduce of {mine}, sum."
    expect_words(str(error.value), words)
    if rank == 1:
        store.set("rank 1 has told", "")
    store.set(f"rank {rank} is done", "")
    store.wait([f"rank {1 - rank} is done"])
    dist.group.WORLD._get_backend(torch.device("cpu")).abort()


def test_ranks_that_disagree_by_position_are_both_named():
    run_ranks(2, disagree_by_position)


def wait_for_who_is_late(rank, size):
    """All-to-alls are made of messages, which are others on each rank though the operation is the same."""
    os.environ["DFCCL_MATCH"] = "position"
    store = dist.distributed_c10d._get_default_store()
    if rank == 2:
        store.wait(["1 has told"])
    if rank == 1:
        store.wait(["0 has told"])
    received = torch.empty(size)
    work = dist.all_to_all_single(received, torch.full((size,), float(rank)), async_op=True)
    if rank != 2:
        with pytest.raises(dist.DistBackendError, match="Timed out") as error:
            work.wait(timedelta(milliseconds=100))
        assert "At position" not in str(error.value)
        store.set(f"{rank} has told", "")
    work.wait()
    assert received.tolist() == [0.0, 1.0, 2.0]


def test_ranks_with_the_same_all_to_all_are_not_said_to_disagree():
    run_ranks(3, wait_for_who_is_late)


KILLED = """
import os, signal, sys, torch, torch.distributed as dist, dfccl_torch
folder, rank = sys.argv[1], int(sys.argv[2])
dist.init_process_group("dfccl", init_method=f"file://{folder}/store", rank=rank, world_size=2)
dist.barrier()
store = dist.distributed_c10d._get_default_store()
if rank == 1:
    store.wait(["barrier is over"])
    os.kill(os.getpid(), signal.SIGKILL)
store.set("barrier is over", "")
for _ in range(2):
    try:
        dist.all_reduce(torch.ones(3))
    except dist.DistBackendError as error:
        print(str(error).splitlines()[0])
"""


def test_who_was_killed_is_named(tmp_path):
    first, second = (
        subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path), str(rank)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    )
    printed, errors = first.communicate(timeout=120)
    second.communicate(timeout=120)
    lines = printed.splitlines()
    assert first.returncode == 0 and len(lines) == 2, printed + errors
    for line in lines:
        expect_words(line, "all_reduce", "rank 1's process has ended", "Destroy the group", "begin again")
