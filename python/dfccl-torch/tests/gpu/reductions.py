"""all_reduce, reduce and reduce_scatter: each type and operator, sizes from nothing to 4 MB, gaps, coalesced."""

import torch
import torch.distributed as dist

from processes import expect_equal, run_check

INTEGERS = [torch.uint8, torch.int8, torch.int32, torch.int64]
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
OPERATORS = {
    dist.ReduceOp.SUM: lambda rows: rows.sum(0),
    dist.ReduceOp.PRODUCT: lambda rows: rows.prod(0),
    dist.ReduceOp.MIN: lambda rows: rows.amin(0),
    dist.ReduceOp.MAX: lambda rows: rows.amax(0),
}


def inputs(ranks, count, dtype):
    """A row a rank, of small integers: every sum and product is exact in every type."""
    generator = torch.Generator().manual_seed(count)
    return torch.randint(1, 4, (ranks, count), generator=generator).to(dtype)


def check(rank, ranks, device):
    for dtype in INTEGERS + FLOATS:
        for op, fold in OPERATORS.items():
            for count in (0, 1, 1000, 65_537):
                rows = inputs(ranks, count, dtype)
                tensor = rows[rank].to(device, copy=True)
                dist.all_reduce(tensor, op)
                expect_equal(tensor, fold(rows.double()).to(dtype), f"all_reduce {op} of {count} {dtype}")
    for dtype in FLOATS:
        rows = inputs(ranks, 4096, dtype)
        tensor = rows[rank].to(device, copy=True)
        dist.all_reduce(tensor, dist.ReduceOp.AVG)
        expect_equal(tensor, rows.double().mean(0).to(dtype), f"average of {dtype}")
        scaled = rows[rank].to(device, copy=True)
        dist.all_reduce(scaled, dist._make_nccl_premul_sum(0.5))
        expect_equal(scaled, (rows.double() * 0.5).sum(0).to(dtype), f"PREMUL_SUM of {dtype}")
    for dtype in INTEGERS:
        rows = inputs(ranks, 1000, dtype)
        tensor = rows[rank].to(device, copy=True)
        dist.all_reduce(tensor, dist.ReduceOp.BXOR)
        expected = rows[0]
        for row in rows[1:]:
            expected = expected ^ row
        expect_equal(tensor, expected, f"BXOR of {dtype}")
    truth = torch.tensor([rank == 0, True, False], device=device)
    dist.all_reduce(truth)
    expect_equal(truth, torch.tensor([True, True, False]), "sum of bools")

    big = torch.full((1 << 20,), float(rank + 1), device=device)
    dist.reduce(big, 0)
    if rank == 0:
        expect_equal(big, ranks * (ranks + 1) / 2, "reduce of 4 MB")
    rows = inputs(ranks, ranks * 1000, torch.float32)
    part = torch.empty(1000, device=device)
    dist.reduce_scatter_tensor(part, rows[rank].to(device, copy=True))
    expect_equal(part, rows.sum(0)[rank * 1000 : (rank + 1) * 1000], "reduce_scatter_tensor")
    dist.reduce_scatter(part, list(rows[rank].to(device, copy=True).chunk(ranks)))
    expect_equal(part, rows.sum(0)[rank * 1000 : (rank + 1) * 1000], "reduce_scatter")

    wide = torch.zeros(100, 100, device=device)
    wide[:, ::2] = rank + 1
    dist.all_reduce(wide[:, ::2])
    expect_equal(wide[:, ::2], ranks * (ranks + 1) / 2, "what has gaps")
    expect_equal(wide[:, 1::2], 0, "the gaps")
    pair = [torch.full((10,), float(rank), device=device), torch.full((33,), 1.0, device=device)]
    dist.all_reduce_coalesced(pair)
    expect_equal(pair[0], ranks * (ranks - 1) / 2, "the first of two coalesced")
    expect_equal(pair[1], ranks, "the second of two coalesced")


run_check(check)
