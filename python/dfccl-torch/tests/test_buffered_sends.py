"""Sends of copies, which are over for their sender before they are received."""

import subprocess
import sys
import time

import torch
import torch.distributed as dist
from ranks import run_ranks


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def one_unreceived(rank, size):
    """The first one is received last; those behind it, 96 MB in all, as they come."""
    bytes_each = 32 * 1024
    tensor = torch.zeros(bytes_each // 4)
    if rank == 0:
        dist.send(torch.full((1,), 5.0), 1, tag=99)
    for n in range(3_000):
        dist.send(tensor, 1) if rank == 0 else dist.recv(tensor, 0)
        if n == 200:
            before = resident_bytes()
        if n % 50 == 0:
            dist.barrier()
    grown = resident_bytes() - before
    last = torch.zeros(1)
    if rank == 1:
        dist.recv(last, 0, tag=99)
        assert last.item() == 5
    return grown


def test_one_that_nobody_receives_keeps_no_others():
    grown = run_ranks(2, one_unreceived)
    assert grown[0] < 30e6, grown


EXIT = """
import sys, torch, torch.distributed as dist
from datetime import timedelta
from pathlib import Path
from dfccl_torch.extension import load_extension
folder, rank, limit_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dist.init_process_group("dfccl", init_method=f"file://{folder}/store", rank=rank, world_size=2)
group = dist.new_group(timeout=timedelta(milliseconds=limit_ms))
if rank == 0:
    dist.send(torch.full((1000,), 5.0), 1, group)
    extension = load_extension()
    wait = extension.end_buffered_sends
    def tell_and_wait(limit):
        Path(folder, "waits").touch()
        return wait(limit)
    extension.end_buffered_sends = tell_and_wait
elif sys.stdin.readline():
    tensor = torch.empty(1000)
    dist.recv(tensor, 0, group)
    print(tensor.unique().tolist())
"""


def begin_exits(folder, limit_ms):
    """Rank 0 sends, and ends; rank 1 receives if it is given a line."""
    return [
        subprocess.Popen(
            [sys.executable, "-c", EXIT, str(folder), str(rank), str(limit_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]


def test_what_was_sent_arrives_though_its_sender_ends_without_destroying_the_group(tmp_path):
    sender, receiver = begin_exits(tmp_path, limit_ms=60_000)
    while sender.poll() is None and not (tmp_path / "waits").exists():
        time.sleep(0.01)
    printed, errors = receiver.communicate("receive\n", timeout=120)
    assert printed == "[5.0]\n", errors
    errors = sender.communicate(timeout=120)[1]
    assert sender.returncode == 0 and "not been received" not in errors, errors


def test_who_ends_without_being_heard_is_told_so(tmp_path):
    sender, receiver = begin_exits(tmp_path, limit_ms=200)
    errors = sender.communicate(timeout=120)[1]
    receiver.communicate(timeout=120)
    assert sender.returncode == 0, errors
    assert "What was sent to rank 1 of group" in errors and "is lost" in errors, errors
