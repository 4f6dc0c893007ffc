"""Ranks on several machines, that can't meet, or don't come."""

import subprocess
import sys

import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks
from test_collectives import move_everything, others, reduce_everything, uneven
from test_training import train

BEGIN = """
import sys, torch.distributed as dist, dfccl_torch
from datetime import timedelta
folder, rank, size, limit_s = sys.argv[1], *map(int, sys.argv[2:])
store = f"file://{folder}/store"
try:
    dist.init_process_group("dfccl", init_method=store, rank=rank, world_size=size, timeout=timedelta(seconds=limit_s))
except dfccl_torch.DfcclError as error:
    print(error.code, error)
"""
ELSEWHERE = ["unshare", "--net"]


def begin(folder, rank, size, limit_s, before=()):
    command = [*before, sys.executable, "-c", BEGIN, *map(str, (folder, rank, size, limit_s))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def can_unshare():
    try:
        return subprocess.run([*ELSEWHERE, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not can_unshare(), reason="takes the right to make a network namespace")
def test_ranks_that_cannot_reach_each_other_are_refused_by_name(tmp_path):
    limit_s = 3600  # none of which they wait
    ranks = [begin(tmp_path, 0, 2, limit_s), begin(tmp_path, 1, 2, limit_s, ELSEWHERE)]
    try:
        for rank in ranks:
            printed, errors = rank.communicate(timeout=120)
            assert printed.startswith("OTHER_MACHINE Rank 0 is on ") and "and rank 1 on" in printed, printed + errors
    finally:
        for rank in ranks:
            rank.kill()


def test_who_does_not_come_to_the_group_is_named(tmp_path):
    printed, errors = begin(tmp_path, 1, 3, limit_s=1).communicate(timeout=120)
    assert printed.startswith("RANKS_MISSING Ranks 0, 2 didn't come"), printed + errors


def give_up_on_unknown_senders(rank, size):
    if rank == 0:
        with pytest.raises(dist.DistBackendError, match="on several machines"):
            dist.recv(torch.zeros(3))
    else:
        dist.send(torch.ones(3), 0)
    received = torch.zeros(3)
    if rank == 0:
        dist.recv(received, 1)
        assert received.tolist() == [1, 1, 1]


@pytest.mark.parametrize("function", [reduce_everything, move_everything, uneven, others])
def test_ranks_of_two_machines_do_what_those_of_one_do(function, monkeypatch):
    monkeypatch.setenv("DFCCL_TEST_MACHINES", "2")
    run_ranks(4, function)


def test_who_sends_first_is_asked_of_one_machine_only(monkeypatch):
    monkeypatch.setenv("DFCCL_TEST_MACHINES", "2")
    run_ranks(2, give_up_on_unknown_senders)


def test_training_on_two_machines_equals_gloos(monkeypatch):
    with_gloo = run_ranks(2, train, backend="gloo")
    monkeypatch.setenv("DFCCL_TEST_MACHINES", "2")
    for mine, theirs in zip(run_ranks(2, train), with_gloo, strict=True):
        assert mine[0] == theirs[0]
        for name, value in theirs[1].items():
            assert mine[1][name].tobytes() == value.tobytes(), name
