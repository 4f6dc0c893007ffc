"""Runs a program on two ranks, with another backend and with dfccl, and prints what each rank returns, or why it doesn't.

On CPUs the other is Gloo. With `--device cuda` it is NCCL, if there is a GPU for each rank: dfccl's ranks may share one.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

LIMIT_S = 10
PATIENCE_S = 90


def compare(program, ranks=2, needs_gpu=False, on_cpu=False):
    """`program(rank, ranks, device)` must be a function of the main module; what it returns is printed.

    `needs_gpu`: it runs on GPUs without being told to. `on_cpu`: and it on CPUs only.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawTextHelpFormatter)
    devices = ["cuda"] if needs_gpu else ["cpu"] if on_cpu else ["cpu", "cuda"]
    parser.add_argument("--device", default=devices[0], choices=devices)
    device = parser.parse_args().device
    for backend in _backends(device, ranks):
        told = _answers(program, backend, device, ranks)
        for rank in range(ranks):
            print(f"{backend:6} rank {rank}: {told[rank]}", flush=True)


def _backends(device, ranks):
    if device == "cpu":
        return ["gloo", "dfccl"]
    import torch

    gpus = torch.cuda.device_count()
    if gpus == 0:
        sys.exit("There is no GPU that PyTorch sees.")
    if gpus < ranks:
        print(f"nccl   needs a GPU for each rank, and there is {gpus}")
        return ["dfccl"]
    return ["nccl", "dfccl"]


def _answers(program, backend, device, ranks):
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        answers = context.SimpleQueue()
        store = f"file://{Path(folder) / 'store'}"
        begin = (backend, device, store, ranks)
        processes = [context.Process(target=_be_rank, args=(program, rank, begin, answers)) for rank in range(ranks)]
        for process in processes:
            process.start()
        told = {}
        end = time.monotonic() + PATIENCE_S
        isGoingOn = True
        while isGoingOn:
            time.sleep(0.1)
            isGoingOn = any(process.is_alive() for process in processes) and time.monotonic() < end
            while not answers.empty():
                rank, answer = answers.get()
                told[rank] = answer
        # NCCL's watchdog may have ended one whose collective took longer than the group's limit.
        for rank, process in enumerate(processes):
            told.setdefault(rank, "hangs, and is killed" if process.is_alive() else f"ends without a word ({process.exitcode})")
        for process in processes:
            process.kill()
    return told


def _be_rank(program, rank, begin, answers):
    import torch
    import torch.distributed as dist

    import dfccl_torch  # noqa: F401

    backend, kind, store, ranks = begin
    device = torch.device(kind)
    if kind == "cuda":
        device = torch.device("cuda", rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
    limit = timedelta(seconds=LIMIT_S)
    dist.init_process_group(backend, init_method=store, rank=rank, world_size=ranks, timeout=limit)
    try:
        answers.put((rank, program(rank, ranks, device)))
    except Exception as error:
        reason = str(error).strip().splitlines()[0].split("] ")[-1]
        answers.put((rank, f"hangs: {reason[:90]}"))
    # Not before the others are done: Gloo's connections end with this process.
    dist.destroy_process_group()
