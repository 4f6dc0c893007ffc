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


def reduced(dtype, op, value, wanted):
    """An all-reduce to which each rank gives `value(rank)`."""

    def issue(rank, size):
        tensor = torch.full((4,), value(rank), dtype=dtype)
        return dist.all_reduce(tensor, op, async_op=True), tensor, torch.full_like(tensor, wanted)

    return issue


def broadcast(dtype, elements, value):
    def issue(rank, size):
        tensor = torch.full((elements,), value if rank == 0 else 0, dtype=dtype)
        return dist.broadcast(tensor, 0, async_op=True), tensor, torch.full_like(tensor, value)

    return issue


def gathered_bytes(rank, size):
    output = torch.zeros(8 * size, dtype=torch.uint8)
    own = torch.full((8,), 100 + rank, dtype=torch.uint8)
    wanted = torch.arange(100, 100 + size, dtype=torch.uint8).repeat_interleave(8)
    return dist.all_gather_into_tensor(output, own, async_op=True), output, wanted


def message(dtype, value, from_any=False):
    """From rank 0 to rank 1."""

    def issue(rank, size):
        wanted = torch.full((8,), value, dtype=dtype)
        if rank == 0:
            return dist.isend(wanted.clone(), 1), wanted, wanted
        tensor = torch.zeros(8, dtype=dtype)
        return dist.irecv(tensor, None if from_any else 0), tensor, wanted

    return issue


def sparse(op, wanted):
    def issue(rank, size):
        tensor = torch.sparse_coo_tensor([[1]], [wanted * (rank + 1)], (4,), check_invariants=True)
        total = sum(range(1, size + 1)) / (size if op == dist.ReduceOp.AVG else 1)
        return dist.all_reduce(tensor, op, async_op=True), tensor, torch.tensor([0, wanted * total, 0, 0])

    return issue


SUM, MAX, AVG, BOR = dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.AVG, dist.ReduceOp.BOR
HALVED = dist._make_nccl_premul_sum(0.5)
# Of each pair both move as many bytes in the same way, and are told apart by torch's type or operator alone. Complex
# tensors aren't told apart from real ones: torch.distributed hands them on as such.
ALIKE_IN_BYTES = {
    "int16 SUM, MAX": [reduced(torch.int16, SUM, lambda r: 1 + r, 3), reduced(torch.int16, MAX, lambda r: 10 + r, 11)],
    "SUM, PREMUL_SUM": [
        reduced(torch.float32, SUM, lambda r: 1.0 + r, 3),
        reduced(torch.float32, HALVED, lambda r: 10.0 + r, 10.5),
    ],
    "broadcast of int16, bool": [broadcast(torch.int16, 4, 7), broadcast(torch.bool, 8, True)],
    "int16 all-reduce, all-gather of bytes": [reduced(torch.int16, SUM, lambda r: 1 + r, 3), gathered_bytes],
    "bool SUM, MAX": [reduced(torch.bool, SUM, lambda r: r == 0, True), reduced(torch.bool, MAX, lambda r: False, False)],
    "bool BOR, uint8 MAX": [
        reduced(torch.bool, BOR, lambda r: r == 0, True),
        reduced(torch.uint8, MAX, lambda r: 5 + r, 6),
    ],
    "message of bool, uint8": [message(torch.bool, True), message(torch.uint8, 7)],
    "message from any of int16, uint16": [
        message(torch.int16, 5, from_any=True),
        message(torch.uint16, 7, from_any=True),
    ],
    "sparse SUM, AVG": [sparse(SUM, 1.0), sparse(AVG, 10.0)],
}


def in_opposite_orders(rank, size):
    wrong = []
    for name, pair in ALIKE_IN_BYTES.items():
        issued = [issue(rank, size) for issue in (pair if rank == 0 else reversed(pair))]
        for work, *_ in issued:
            work.wait()
        for _, result, wanted in issued:
            dense = result.to_dense() if result.is_sparse else result
            if not torch.equal(dense, wanted):
                wrong.append(f"{name}: {dense} and not {wanted}")
    return wrong


def test_torchs_types_and_operators_tell_apart_what_is_alike_in_bytes():
    assert run_ranks(2, in_opposite_orders) == [[], []]
