"""A checkpoint is saved in the background, over the group that the training uses meanwhile.

The thread that saves issues collectives of its own, and which come first, its or the training's, chance decides on each rank:
https://github.com/KempnerInstitute/KempnerForge/issues/104. Elsewhere each save needs a group of its own.
"""

import shutil
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from side_by_side import compare

SAVES, STEPS = 3, 40


def program(rank, ranks, device):
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, 0)
    weights = torch.zeros(1000)
    right = 0
    for save in range(SAVES):
        saved = dcp.async_save({"weights": weights.clone()}, checkpoint_id=Path(folder[0]) / str(save))
        for _ in range(STEPS):
            gradient = torch.ones(1000)
            dist.all_reduce(gradient)
            right += int(gradient[0] == ranks)
            weights -= gradient / ranks
        saved.result()
    found = {"weights": torch.empty(1000)}
    dcp.load(found, checkpoint_id=Path(folder[0]) / str(SAVES - 1))
    dist.barrier()
    if rank == 0:
        shutil.rmtree(folder[0])
    steps = -found["weights"][0].item()
    return f"{right} of {SAVES * STEPS} sums are right, the last of {SAVES} checkpoints has {steps:g} steps behind it"


if __name__ == "__main__":
    compare(program, on_cpu=True)
