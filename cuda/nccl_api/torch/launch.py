#!/usr/bin/env python3
"""Starts the ranks of a step, each a process with GPU rank % GPUs, and waits for them.

    launch.py --library .../libnccl.so.2 [--loader audit] orders --rounds 100

Ends with the first rank's failure, and ends the others then.
"""
import argparse
import os
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(options, rank, port):
    """What torchrun would set, and what makes the loader take the library."""
    made = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(options.ranks), MASTER_ADDR="127.0.0.1",
                MASTER_PORT=str(port), PYTHONUNBUFFERED="1")
    if options.machines != 1:
        # NCCL's variable, by which ranks are on the machines that it names.
        made["NCCL_HOSTID"] = f"machine-{rank * options.machines // options.ranks}"
        made["MACHINES"] = str(options.machines)
    if options.library != "-":
        made["DFCCL_EXPECTED_LIBRARY"] = os.path.realpath(options.library)
        if options.loader == "audit":
            made["LD_AUDIT"] = os.path.join(os.path.dirname(options.library), "libdfccl_nccl_audit.so")
            made["DFCCL_NCCL_LIBRARY"] = options.library
        else:
            made["LD_PRELOAD"] = options.library
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", required=True, help='path of libnccl.so.2; "-": what PyTorch brings')
    parser.add_argument("--loader", choices=["preload", "audit"], default="preload")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--machines", type=int, default=1, help="on which ranks believe that they are, the first on the first")
    parser.add_argument("step")
    options, rest = parser.parse_known_args()
    port = free_port()
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.py")
    command = [sys.executable, program, options.step, *rest]
    running = [subprocess.Popen(command, env=environment(options, r, port)) for r in range(options.ranks)]
    code = 0
    while running and code == 0:
        for process in list(running):
            if process.poll() is not None:
                running.remove(process)
                code = code or process.returncode
        time.sleep(0.1)
    for process in running:
        process.kill()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
