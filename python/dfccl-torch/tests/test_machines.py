"""Ranks on several machines, that can't meet, or don't come."""

import os
import shutil
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


def begin(folder, rank, size, limit_s, before=(), **environment):
    command = [*before, sys.executable, "-c", BEGIN, *map(str, (folder, rank, size, limit_s))]
    environment = {**os.environ, **environment}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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


def test_ranks_that_an_agent_starts_again_meet_though_one_had_not_come(tmp_path):
    printed, errors = begin(tmp_path, 1, 2, limit_s=1, TORCHELASTIC_RESTART_COUNT="0").communicate(timeout=120)
    assert printed.startswith("RANKS_MISSING"), printed + errors
    ranks = [begin(tmp_path, rank, 2, limit_s=60, TORCHELASTIC_RESTART_COUNT="1") for rank in range(2)]
    for rank in ranks:
        printed, errors = rank.communicate(timeout=120)
        assert (rank.returncode, printed) == (0, ""), printed + errors


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


SUM = """
import sys, torch, torch.distributed as dist, dfccl_torch
from datetime import timedelta
url, rank, size, backend = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
limit = timedelta(seconds=30)
dist.init_process_group(backend, init_method=url, rank=rank, world_size=size, timeout=limit)
# Beside another default group: of the last two, of which the first isn't where the store is.
group = None if backend == "dfccl" else dist.new_group([1, 2], backend="dfccl", timeout=limit)
tensor = torch.ones(3)
if group is None or rank > 0:
    dist.all_reduce(tensor, group=group)
print(tensor.tolist())
dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture
def networks():
    """Two network namespaces with a wire between them, 10.99.0.1 and 10.99.0.2; and the interface's name in both."""
    if not shutil.which("ip"):
        pytest.skip("takes the program ip")
    names = [f"dfccl-{os.getpid()}-{i}" for i in range(2)]
    wire = f"wire{os.getpid() % 100_000}"
    commands = [
        *(["ip", "netns", "add", name] for name in names),
        ["ip", "link", "add", wire, "netns", names[0], "type", "veth", "peer", "name", wire, "netns", names[1]],
    ]
    for i, name in enumerate(names):
        commands += [["ip", "-n", name, "addr", "add", f"10.99.0.{i + 1}/24", "dev", wire]]
        commands += [["ip", "-n", name, "link", "set", device, "up"] for device in (wire, "lo")]
    try:
        for command in commands:
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                pytest.skip("takes the right to make network namespaces")
        yield names, wire
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@pytest.mark.parametrize(("backend", "places"), [("dfccl", (0, 1)), ("gloo", (0, 1, 0))])
def test_ranks_meet_over_a_network(networks, backend, places):
    names, wire = networks
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": wire, "UCX_TLS": "tcp", "UCX_NET_DEVICES": wire}
    url = f"tcp://10.99.0.1:{20_000 + os.getpid() % 10_000}"
    ranks = []
    for rank, place in enumerate(places):
        arguments = map(str, (url, rank, len(places), backend))
        command = ["ip", "netns", "exec", names[place], sys.executable, "-c", SUM, *arguments]
        ranks.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    try:
        for number, rank in enumerate(ranks):
            printed, errors = rank.communicate(timeout=120)
            expected = [1.0] * 3 if backend == "gloo" and number == 0 else [2.0] * 3
            assert printed == f"{expected}\n", printed + errors
    finally:
        for rank in ranks:
            rank.kill()
