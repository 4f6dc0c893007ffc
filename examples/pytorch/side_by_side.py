"""Runs a program on two ranks, with Gloo and with dfccl, and prints what each rank returns, or why it doesn't."""

import multiprocessing
import tempfile
from datetime import timedelta
from pathlib import Path

LIMIT_S = 10


def compare(program, ranks=2):
    """`program(rank, ranks)` must be a function of the main module; what it returns is printed."""
    for backend in ("gloo", "dfccl"):
        context = multiprocessing.get_context("spawn")
        with tempfile.TemporaryDirectory() as folder:
            answers = context.SimpleQueue()
            store = f"file://{Path(folder) / 'store'}"
            processes = [
                context.Process(target=_be_rank, args=(program, backend, store, rank, ranks, answers)) for rank in range(ranks)
            ]
            for process in processes:
                process.start()
            for process in processes:
                process.join(90)
                process.kill()
            told = {}
            while not answers.empty():
                rank, answer = answers.get()
                told[rank] = answer
        for rank in range(ranks):
            print(f"{backend:6} rank {rank}: {told.get(rank, 'crashed')}", flush=True)


def _be_rank(program, backend, store, rank, ranks, answers):
    import torch.distributed as dist

    import dfccl_torch  # noqa: F401

    limit = timedelta(seconds=LIMIT_S)
    dist.init_process_group(backend, init_method=store, rank=rank, world_size=ranks, timeout=limit)
    try:
        answers.put((rank, program(rank, ranks)))
    except Exception as error:
        reason = str(error).strip().splitlines()[0].split("] ")[-1]
        answers.put((rank, f"hangs: {reason[:90]}"))
    # Not before the others are done: Gloo's connections end with this process.
    dist.destroy_process_group()
