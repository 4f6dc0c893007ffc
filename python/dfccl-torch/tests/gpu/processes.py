"""What every check here begins with: a process for each rank, in a default group of dfccl's.

A check is a program of its own; started without RANK, it starts itself once for each rank and ends with the first code
that isn't 0. DFCCL_CHECK_DEVICE=cpu puts its tensors on the CPU, for a host without GPUs. DFCCL_CHECK_MACHINES=2 spreads the
ranks over so many make-believe machines, which share no memory and meet on loopback.
"""

import faulthandler
import os
import subprocess
import sys
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path

SKIPPED = 77
_PATIENCE_S = float(os.environ.get("DFCCL_CHECK_PATIENCE", "100"))
ON_GPU = os.environ.get("DFCCL_CHECK_DEVICE", "cuda") != "cpu"


def run_check(check, ranks=2, ends_group=True, gpu_only=False):
    """Calls `check(rank, ranks, device)` in a process for each rank, and ends this process."""
    if gpu_only and not ON_GPU:
        print("it is about streams, which a CPU hasn't got")
        sys.exit(SKIPPED)
    if "RANK" not in os.environ:
        sys.exit(start_ranks(ranks))
    import torch
    import torch.distributed as dist

    import dfccl_torch  # noqa: F401

    torch.set_num_threads(2)
    rank = int(os.environ["RANK"])
    device = torch.device("cpu")
    if ON_GPU:
        device = torch.device("cuda", rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
    tell_what_hangs()
    begin_group(rank, ranks)
    check(rank, ranks, device)
    if ends_group:
        dist.destroy_process_group()
    if rank == 0:
        print("good")


def tell_what_hangs():
    """Before gpu.sh's limit: what this rank waits for, and the stacks of its threads, in Python."""
    import dfccl_torch

    def tell():
        print(dfccl_torch.explain(), flush=True)
        faulthandler.dump_traceback(all_threads=True)

    timer = threading.Timer(_PATIENCE_S, tell)
    timer.daemon = True
    timer.start()


def begin_group(rank, ranks, number=0):
    import torch.distributed as dist

    dist.init_process_group(
        os.environ.get("DFCCL_CHECK_BACKEND", "dfccl"),
        init_method=f"file://{os.environ['DFCCL_CHECK_FOLDER']}/store-{number}",
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=60),
    )


def start_ranks(ranks):
    """@return the first code of a rank that isn't 0; then the others are ended."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DFCCL_CHECK_FOLDER": folder, "PYTHONFAULTHANDLER": "1"}
        command = [sys.executable, *sys.argv]
        processes = [
            subprocess.Popen(command, env={**environment, "RANK": str(rank), "WORLD_SIZE": str(ranks), **machine_of(rank, ranks)})
            for rank in range(ranks)
        ]
        try:
            return _first_failure(processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()


def machine_of(rank, ranks):
    machines = int(os.environ.get("DFCCL_CHECK_MACHINES", "1"))
    return {"DFCCL_HOST": f"machine {rank * machines // ranks}", "MASTER_ADDR": "127.0.0.1"} if machines > 1 else {}


def _first_failure(processes):
    while True:
        codes = [process.poll() for process in processes]
        for rank, code in enumerate(codes):
            if code:
                print(f"rank {rank} ended with {code}", flush=True)
                return code if code > 0 else 128 - code
        if all(code == 0 for code in codes):
            return 0
        time.sleep(0.05)


def expect(is_right, what):
    """An assertion that python -O keeps."""
    if not is_right:
        raise AssertionError(what)


def expect_equal(found, expected, what):
    import torch

    expected = torch.as_tensor(expected, dtype=found.dtype, device=found.device).expand_as(found)
    if not torch.equal(found, expected):
        wrong = (found != expected).flatten().nonzero().flatten()
        first = int(wrong[0])
        raise AssertionError(
            f"{what}: {len(wrong)} of {found.numel()} elements are wrong; number {first} is "
            f"{found.flatten()[first].item()} in place of {expected.flatten()[first].item()}"
        )


def folder():
    return Path(os.environ["DFCCL_CHECK_FOLDER"])
