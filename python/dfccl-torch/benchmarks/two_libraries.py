"""Collectives of ordinary memory through the C API, with two builds of the library by turns.

    python benchmarks/two_libraries.py BEFORE AFTER [--ranks 2 4] [--sizes BYTES ...] [--turns 5]

BEFORE and AFTER are folders with a libdfccl.so. Each turn starts a process a rank for either library; the figure is the median of
all turns of the first rank's median call, in microseconds. `bytes` are those of a rank's larger buffer.
"""

import argparse
import multiprocessing
import secrets
import statistics
import tempfile
from pathlib import Path

import torch
from c_api import KINDS, CApi, compile_loop
from measurement import tensors_of

SIZES = [8, 65536, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
WARM_UP_CALLS = 3


def be_rank(rank, ranks, loop, job, sizes, results):
    api = CApi(loop, job, rank, ranks)
    for size in sizes:
        times = 300 if size < 1 << 20 else 40
        for name in KINDS:
            tensors = tensors_of(name, size, ranks)
            api.seconds_for(name, tensors, WARM_UP_CALLS)
            calls = [api.seconds_for(name, tensors, 1) for _ in range(times)]
            if rank == 0:
                results.put((name, size, statistics.median(calls) * 1e6))


def turn(ranks, loop, sizes):
    """{(collective, bytes): microseconds}"""
    context = multiprocessing.get_context("spawn")
    results, job = context.SimpleQueue(), f"two-libraries-{secrets.token_hex(8)}"
    processes = [context.Process(target=be_rank, args=(rank, ranks, loop, job, sizes, results)) for rank in range(ranks)]
    for process in processes:
        process.start()
    taken = {}
    while len(taken) < len(sizes) * len(KINDS):
        while not results._reader.poll(1):
            if any(process.exitcode for process in processes):
                raise SystemExit("a rank has failed")
        name, size, micros = results.get()
        taken[name, size] = micros
    for process in processes:
        process.join()
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="in bytes")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'ranks':>5}  {'collective':<14}  {'bytes':>12}  {'before, us':>11}  {'after, us':>11}  {'times faster':>12}")
    with tempfile.TemporaryDirectory() as folder:
        loops = []
        for i, library in enumerate(options.libraries):
            (Path(folder) / str(i)).mkdir()
            loops.append(compile_loop(Path(folder) / str(i), library.resolve()))
        for ranks in options.ranks:
            taken = [[], []]
            for number in range(options.turns):
                for which in (0, 1) if number % 2 == 0 else (1, 0):
                    taken[which].append(turn(ranks, loops[which], options.sizes))
            for name, size in taken[0][0]:
                before, after = (statistics.median(each[name, size] for each in turns) for turns in taken)
                print(f"{ranks:>5}  {name:<14}  {size:>12,}  {before:>11,.1f}  {after:>11,.1f}  {before / after:>12.2f}", flush=True)


if __name__ == "__main__":
    main()
