#!/usr/bin/env python3
"""One rank of a step; launch.py starts them. Exit: 0 good, 1 an error, 77 something to run it is missing."""
import argparse
import ctypes
import datetime
import faulthandler
import json
import os
import sys

import torch
import torch.distributed as dist

import collectives
import messages
import orders
import parallel
import training


def check_library():
    """That the functions PyTorch calls are those of the library that was asked for."""
    expected = os.environ.get("DFCCL_EXPECTED_LIBRARY")
    if expected is None:
        return
    with open("/proc/self/maps") as maps:
        assert any(expected in line for line in maps), f"{expected} is not mapped"
    # As for PyTorch: what was loaded in front of all, or else what its own library was linked with.
    where = ctypes.CDLL(None)
    if not hasattr(where, "ncclGetErrorString"):
        where = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cuda.so"))
    text = where.ncclGetErrorString
    text.restype = ctypes.c_char_p
    assert b"ncclGetLastError says" in text(4), "NCCL's functions come from another library"


def begin(device):
    # Lazily: communicators are made by the first collective, as in most programs.
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=120))
    torch.cuda.set_device(device)


def destroy(options, device):
    for round_number in range(options.rounds):
        begin(device)
        ones = torch.ones(1000, device=device)
        dist.all_reduce(ones)
        assert ones.eq(dist.get_world_size()).all()
        dist.destroy_process_group()
    return {"rounds": options.rounds}


def leave_all(options, device):
    """Ends the process as a program does that never destroys its process group."""
    begin(device)
    ones = torch.ones(1000, device=device)
    dist.all_reduce(ones)
    torch.cuda.synchronize()
    return {"sum": float(ones[0])}


def within_group(run):
    def step(options, device):
        begin(device)
        result = run(options, device)
        dist.barrier()
        dist.destroy_process_group()
        return result
    return step


STEPS = {
    "collectives": within_group(collectives.run),
    "messages": within_group(messages.run),
    "orders": within_group(orders.run),
    "ddp-resnet": within_group(training.ddp_resnet),
    "ddp-gpt": within_group(training.ddp_gpt),
    "fsdp-gpt": within_group(training.fsdp_gpt),
    "tensor-parallel": within_group(parallel.tensor_parallel),
    "pipeline": within_group(parallel.pipeline),
    "hybrid": within_group(parallel.hybrid),
    "destroy": destroy,
    "exit": leave_all,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    faulthandler.enable()
    # Where it stands, shortly before it is killed.
    faulthandler.dump_traceback_later(50, repeat=True)
    check_library()
    rank = int(os.environ["RANK"])
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    try:
        result = STEPS[options.step](options, device)
    except ModuleNotFoundError as missing:
        print(f"RESULT {json.dumps({'missing': missing.name})}")
        return 77
    if rank == 0:
        print(f"RESULT {json.dumps(result)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
