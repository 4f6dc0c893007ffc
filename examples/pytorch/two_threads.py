"""Two threads of each rank use one group, each for its own sums; which of them comes first, chance decides.

Programs that overlap communication from threads meet this in many forms: https://github.com/pytorch/pytorch/issues/175145
"""

import contextlib
import threading

import torch
import torch.distributed as dist
from side_by_side import compare

import dfccl_torch

STEPS = 200


def program(rank, ranks, device):
    right = {"weights": 0, "metrics": 0}

    def own_stream():
        """In one stream, a thread's sum would be behind the other thread's, and wait for it."""
        if device.type == "cpu":
            return contextlib.nullcontext()
        torch.cuda.set_device(device)
        return torch.cuda.stream(torch.cuda.Stream(device))

    def add(name, value):
        with own_stream(), dfccl_torch.tag(name):
            for _ in range(STEPS):
                tensor = torch.full((1000,), value, device=device)
                dist.all_reduce(tensor)
                right[name] += int(tensor[0] == value * ranks)

    threads = [threading.Thread(target=add, args=pair) for pair in (("weights", 1.0), ("metrics", 100.0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ", ".join(f"{count} of {STEPS} sums of {name} are right" for name, count in right.items())


if __name__ == "__main__":
    compare(program)
