"""Runs a function in as many processes as there are ranks, each in a process group of its own backend."""

import faulthandler
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

# Children begin with all of torch that they use loaded, which takes longer than most tests.
PRELOADED = [
    "torch",
    "torch._dynamo",
    "torch.distributed.checkpoint.state_dict",
    "torch.distributed.fsdp",
    "torch.distributed.pipelining",
    "torch.distributed.tensor.parallel",
    "dfccl_torch",
]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def run_ranks(count, function, *arguments, backend="dfccl", timeout_s=20, limit_s=240):
    """What `function(rank, count, *arguments)` returns on each rank, of whose default group it is called.

    Fails with the traceback of the first rank that raises, and where one doesn't end in time or crashes.
    """
    with tempfile.TemporaryDirectory() as folder:
        begin = (backend, f"file://{Path(folder) / 'store'}", timeout_s)
        return gather_results(count, _call_in_group, (begin, count, function, arguments), limit_s)


def gather_results(count, function, arguments, limit_s=240):
    """What `function(rank, *arguments)` returns in each of so many processes; fails as `run_ranks` does."""
    queue = _context.SimpleQueue()
    with tempfile.TemporaryDirectory() as stacks:
        processes = [
            _context.Process(target=_be_rank, args=(queue, rank, machine_of(rank, count), stacks, function, arguments), daemon=True)
            for rank in range(count)
        ]
        for process in processes:
            process.start()
        results = {}
        try:
            _collect(queue, processes, results, stacks, limit_s)
        finally:
            for process in processes:
                process.kill()
                process.join()
    return [results[rank] for rank in range(count)]


def _collect(queue, processes, results, stacks, limit_s):
    waited = 0.0
    while len(results) < len(processes):
        if queue._reader.poll(0.5):
            rank, isGood, result = queue.get()
            assert isGood, f"rank {rank}:\n{result}"
            results[rank] = result
            continue
        waited += 0.5
        if waited >= limit_s:
            late = sorted(set(range(len(processes))) - set(results))
            raise AssertionError(f"ranks {late} don't end\n{_stacks_of(processes, late, stacks)}")
        for rank, process in enumerate(processes):
            isGone = rank not in results and process.exitcode is not None and not queue._reader.poll(0.5)
            assert not isGone, f"rank {rank} ended with {process.exitcode}"


def _stacks_of(processes, ranks, stacks):
    """Where all threads of Python's stand in these ranks, as they write it when they are asked."""
    for rank in ranks:
        os.kill(processes[rank].pid, signal.SIGUSR1)
    time.sleep(1)
    return "\n".join(f"rank {rank}:\n{(Path(stacks) / str(rank)).read_text()}" for rank in ranks)


def machine_of(rank, count):
    """The make-believe machine of a rank: of DFCCL_TEST_MACHINES, if any of them are wanted."""
    machines = int(os.environ.get("DFCCL_TEST_MACHINES", "1"))
    return f"machine {rank * machines // count}" if machines > 1 else ""


def _be_rank(queue, rank, machine, stacks, function, arguments):
    if machine:
        os.environ.update(DFCCL_HOST=machine, MASTER_ADDR="127.0.0.1")
    faulthandler.register(signal.SIGUSR1, (Path(stacks) / str(rank)).open("w"))
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    keep_groups_of_gloo()
    try:
        queue.put((rank, True, function(rank, *arguments)))
    except BaseException:
        queue.put((rank, False, traceback.format_exc()))


def keep_groups_of_gloo():
    """Lets no group of Gloo's be destroyed before this process ends.

    Its destructor takes a lock with Python's in hand, and a thread of its own frees the tensors of its last works, for which
    it needs Python's, with that lock in hand (torch 2.13): 5 of 24 trainings never came to their end.
    """
    make, kept = distributed_c10d._new_process_group_helper, []

    def make_and_keep(*arguments, **keywords):
        made = make(*arguments, **keywords)
        backend = arguments[3] if len(arguments) > 3 else keywords["backend"]
        if str(backend) == "gloo":
            kept.append(made)
        return made

    distributed_c10d._new_process_group_helper = make_and_keep


def _call_in_group(rank, begin, count, function, arguments):
    backend, init_method, timeout_s = begin
    dist.init_process_group(
        backend, init_method=init_method, rank=rank, world_size=count, timeout=timedelta(seconds=timeout_s)
    )
    result = function(rank, count, *arguments)
    dist.destroy_process_group()
    return result
