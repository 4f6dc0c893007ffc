"""Process groups that come and go."""

import gc
import os
import subprocess
import sys

import pytest
import torch
import torch.distributed as dist
from ranks import gather_results, run_ranks

TIMES = 200 if os.environ.get("DFCCL_TEST_TIER") == "long" else 20


def begin_again(rank, size, folder):
    dist.destroy_process_group()
    for i in range(TIMES):
        # One store for all of them, in which the names of those before still are.
        store = dist.FileStore(f"{folder}/again", size)
        dist.init_process_group("dfccl", store=dist.PrefixStore("same", store), rank=rank, world_size=size)
        tensor = torch.full((3,), float(i))
        dist.all_reduce(tensor)
        assert torch.equal(tensor, torch.full((3,), float(i * size)))
        group = dist.new_group([1, 0]) if i % 2 else None
        if group:
            dist.all_reduce(tensor, group=group)
        dist.destroy_process_group()
    dist.init_process_group("gloo", init_method=f"file://{folder}/last", rank=rank, world_size=size)
    # A group of its own beside a default group of another backend, of some ranks and of all.
    alone = dist.new_group([rank], backend="dfccl", use_local_synchronization=True)
    tensor = torch.ones(2)
    dist.all_reduce(tensor, group=alone)
    assert torch.equal(tensor, torch.ones(2))
    everybody = dist.new_group(backend="dfccl")
    dist.all_reduce(tensor, group=everybody)
    assert torch.equal(tensor, torch.full((2,), float(size)))


def test_groups_end_and_begin_again_many_times(tmp_path):
    run_ranks(2, begin_again, str(tmp_path))


def hold_one(rank, size, folder):
    """One rank still has a group from before, as an exception's traceback may have, or a model in a cycle."""
    held = dist.group.WORLD if rank == 0 else None
    for i in range(2):
        dist.destroy_process_group()
        dist.init_process_group("dfccl", init_method=f"file://{folder}/{i}", rank=size - 1 - rank, world_size=size)
        rows = [torch.zeros(1) for _ in range(size)]
        dist.all_gather(rows, torch.tensor([float(rank)]))
        assert torch.cat(rows).tolist() == [float(size - 1 - r) for r in range(size)]
        group = dist.new_group([1, 0])
        dist.broadcast(rows[0], 0, group=group)
    assert rank != 0 or held is not None


def test_a_group_that_somebody_holds_keeps_nobody_from_beginning_again(tmp_path):
    run_ranks(3, hold_one, str(tmp_path))


def hold_one_beside_gloo(rank, size):
    """The same of a group beside a default group of another backend: all have to find out who holds what."""
    held = []
    for i in range(3):
        group = dist.new_group(backend="dfccl")
        some = dist.new_group([0, 1], backend="dfccl")
        tensor = torch.ones(2)
        dist.all_reduce(tensor, group=group)
        if rank < 2:
            dist.all_reduce(tensor, group=some)
        assert tensor.tolist() == [size * (2.0 if rank < 2 else 1.0)] * 2
        if rank == i:
            held.append(group)
        dist.destroy_process_group(some)
        dist.destroy_process_group(group)
        del group, some
        gc.collect()


def test_a_group_that_somebody_holds_beside_gloo_keeps_nobody_from_another():
    run_ranks(3, hold_one_beside_gloo, backend="gloo")


def many_groups(rank, size):
    for i in range(50):
        group = dist.new_group(list(range(size)))
        tensor = torch.ones(8)
        dist.all_reduce(tensor, group=group)
        if i % 2:
            dist.destroy_process_group(group)
        assert torch.equal(tensor, torch.full((8,), float(size)))


def test_a_world_has_room_for_many_groups():
    run_ranks(2, many_groups)


EXIT = """
import sys, torch, torch.distributed as dist, dfccl_torch
dist.init_process_group("dfccl", init_method=sys.argv[1], rank=int(sys.argv[2]), world_size=2)
tensor = torch.ones(2)
dist.all_reduce(tensor)
dist.barrier()
if int(sys.argv[2]) == 0:
    work = dist.all_reduce(torch.ones(5), async_op=True)  # which nobody else makes
print(tensor.tolist())
"""


def test_a_process_may_exit_without_an_end(tmp_path):
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", EXIT, f"file://{tmp_path}/store", str(rank)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for rank in ranks:
        output, errors = rank.communicate(timeout=120)
        assert rank.returncode == 0 and output == "[2.0, 2.0]\n", errors


def be_forked(folder, rank):
    dist.init_process_group("dfccl", init_method=f"file://{folder}/forked", rank=rank, world_size=2)
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    dist.destroy_process_group()
    os._exit(0 if torch.equal(tensor, torch.full((2,), 2.0)) else 1)


def fork_beside(rank, size, folder):
    """The parent's groups stay its own, and a child makes others."""
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    child = os.fork()
    if child == 0:
        from torch.distributed import distributed_c10d

        distributed_c10d._world.default_pg = None
        distributed_c10d._world.pg_map.clear()
        distributed_c10d._world.pg_names.clear()
        distributed_c10d._world.pg_group_ranks.clear()
        be_forked(folder, rank)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    dist.all_reduce(tensor)
    assert torch.equal(tensor, torch.full((2,), 4.0))


def test_forked_children_make_groups_of_their_own(tmp_path):
    run_ranks(2, fork_beside, str(tmp_path))


def fork_and_destroy(rank, size, folder):
    """What the parent has under way, a child that destroys its groups neither ends nor waits for."""
    listening = dist.irecv(torch.zeros(3)) if rank == 0 else None
    if rank == 1:
        dist.send(torch.ones(1), 0, tag=5)
    total = torch.ones(2)
    work = dist.all_reduce(total, async_op=True) if rank == 0 else None
    child = os.fork()
    if child == 0:
        dist.destroy_process_group()
        be_forked(folder, rank)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    if rank == 1:
        work = dist.all_reduce(total, async_op=True)
    work.wait()
    assert torch.equal(total, torch.full((2,), 2.0))
    received = torch.zeros(1)
    if rank == 0:
        dist.recv(received, 1, tag=5)
    else:
        dist.send(torch.full((3,), 7.0), 0)
    if rank == 0:
        listening.wait()
        assert received.item() == 1


def test_forked_children_leave_alone_what_their_parent_has_under_way(tmp_path):
    run_ranks(2, fork_and_destroy, str(tmp_path))


def test_the_backend_is_registered_once():
    import dfccl_torch

    dfccl_torch.register()
    assert dist.is_backend_available("dfccl")


def sum_of_ones(rank, size):
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    return dist.group.WORLD._get_backend(torch.device("cpu")).name(), tensor.tolist()


@pytest.mark.parametrize(
    ("backend", "expected"), [("cpu:dfccl", "dfccl"), ("cpu:dfccl,cuda:dfccl", "dfccl"), ("cpu:gloo,cuda:dfccl", "gloo")]
)
def test_a_backend_for_each_device(backend, expected):
    assert run_ranks(2, sum_of_ones, backend=backend) == [(expected, [2.0] * 3)] * 2


def begin_by_default(rank, store):
    """As TorchTitan and others do, that leave the choice to torch."""
    dist.Backend.default_device_backend_map["cpu"] = "dfccl"
    dist.init_process_group(init_method=f"file://{store}", rank=rank, world_size=2)
    result = sum_of_ones(rank, 2)
    dist.destroy_process_group()
    return result


def test_the_backend_that_torch_takes_by_itself(tmp_path):
    assert gather_results(2, begin_by_default, (tmp_path / "store",)) == [("dfccl", [2.0] * 3)] * 2
