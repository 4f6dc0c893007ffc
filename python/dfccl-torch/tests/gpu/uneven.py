"""Lists whose tensors differ in size, splits that do, and nothing at all."""

import torch
import torch.distributed as dist

from processes import expect_equal, run_check


def check(rank, ranks, device):
    sizes = [100 * r + 3 for r in range(ranks)]
    rows = [torch.empty(size, device=device) for size in sizes]
    dist.all_gather(rows, torch.full((sizes[rank],), float(rank + 1), device=device))
    for sender, row in enumerate(rows):
        expect_equal(row, sender + 1, "all_gather of uneven sizes")

    part = torch.empty(sizes[rank], device=device)
    dist.reduce_scatter(part, [torch.full((size,), float(rank + 1), device=device) for size in sizes])
    expect_equal(part, ranks * (ranks + 1) / 2, "reduce_scatter of uneven sizes")

    # Rank s sends s + 2 r + 1 rows of s to rank r.
    sends = [rank + 2 * r + 1 for r in range(ranks)]
    recvs = [s + 2 * rank + 1 for s in range(ranks)]
    expected = torch.tensor([float(s) for s in range(ranks) for _ in range(recvs[s])])[:, None].expand(-1, 5)
    for _ in range(10):
        output = torch.empty(sum(recvs), 5, device=device)
        dist.all_to_all_single(output, torch.full((sum(sends), 5), float(rank), device=device), recvs, sends)
        expect_equal(output, expected, "all_to_all_single of uneven splits")
    outputs = [torch.empty(n, 5, device=device) for n in recvs]
    dist.all_to_all(outputs, [torch.full((n, 5), float(rank), device=device) for n in sends])
    for sender, output in enumerate(outputs):
        expect_equal(output, sender, "all_to_all of uneven sizes")

    # Rank 0 sends everything, and the others nothing.
    output = torch.empty(4 if rank >= 0 else 0, device=device)
    splits = [4] * ranks if rank == 0 else [0] * ranks
    dist.all_to_all_single(output, torch.full((sum(splits),), 7.0, device=device), [4] + [0] * (ranks - 1), splits)
    expect_equal(output, 7, "all_to_all_single with one that sends")


run_check(check)
