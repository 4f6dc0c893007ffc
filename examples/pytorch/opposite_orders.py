"""Rank 0 issues an all-reduce and then an all-gather, rank 1 the other way round.

Two parts of a program that decide for themselves when they communicate come to this, as the gradients and the embeddings
of https://github.com/meta-pytorch/torchrec/pull/4149 do.
"""

import torch
import torch.distributed as dist
from side_by_side import compare


def program(rank, ranks, device):
    gradient = torch.ones(1000, device=device)
    row, rows = torch.full((1000,), float(rank), device=device), torch.empty(1000 * ranks, device=device)

    def reduce():
        return dist.all_reduce(gradient, async_op=True)

    def gather():
        return dist.all_gather(list(rows.chunk(ranks)), row, async_op=True)

    works = [start() for start in ((reduce, gather) if rank == 0 else (gather, reduce))]
    for work in works:
        work.wait()
    return f"all-reduce {gradient[0]:g}, all-gather {rows[0]:g} and {rows[-1]:g}"


if __name__ == "__main__":
    compare(program)
