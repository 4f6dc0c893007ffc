"""Everything that torch.distributed calls NCCL for, against what it should give."""
import torch
import torch.distributed as dist

TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64, torch.uint8)
COUNTS = (1, 1000, 1 << 20, (16 << 20) + 1)


def filled(count, value, device, dtype=torch.float32):
    return torch.full((count,), value, device=device, dtype=dtype)


def check(tensor, value, what):
    assert tensor.eq(value).all(), f"{what}: {tensor.flatten()[:4].tolist()}, not {value}"


def reductions(rank, size, device):
    total = size * (size + 1) // 2
    for dtype in TYPES:
        for op, value in ((dist.ReduceOp.SUM, total), (dist.ReduceOp.MAX, size), (dist.ReduceOp.MIN, 1)):
            tensor = filled(1000, rank + 1, device, dtype)
            dist.all_reduce(tensor, op)
            check(tensor, value, f"all_reduce {op} {dtype}")
    for count in COUNTS:
        tensor = filled(count, rank + 1, device)
        dist.all_reduce(tensor, dist.ReduceOp.AVG)
        check(tensor, total / size, f"average of {count}")
    tensor = filled(1000, 1, device)
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(0.5))
    check(tensor, 0.5 * size, "a scaled sum")
    tensor = filled(1000, 1, device)
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(torch.tensor([0.25], device=device)))
    check(tensor, 0.25 * size, "a sum scaled by the device's scalar")
    tensor = filled(1000, rank + 1, device)
    dist.reduce(tensor, dst=size - 1)
    if rank == size - 1:
        check(tensor, total, "reduce")
    scattered = filled(1000, 0, device)
    dist.reduce_scatter_tensor(scattered, filled(1000 * size, rank + 1, device))
    check(scattered, total, "reduce_scatter")


def moves(rank, size, device):
    tensor = filled(1000, rank, device)
    dist.broadcast(tensor, src=size - 1)
    check(tensor, size - 1, "broadcast")
    gathered = filled(1000 * size, -1, device)
    dist.all_gather_into_tensor(gathered, filled(1000, rank, device))
    for r in range(size):
        check(gathered[1000 * r:1000 * (r + 1)], r, "all_gather_into_tensor")
    parts = [filled(10 + r, -1, device) for r in range(size)]
    dist.all_gather(parts, filled(10 + rank, rank, device))
    for r, part in enumerate(parts):
        check(part, r, "all_gather of uneven parts")
    swapped = filled(1000 * size, -1, device)
    dist.all_to_all_single(swapped, torch.arange(size, device=device).float().repeat_interleave(1000) + 10 * rank)
    for r in range(size):
        check(swapped[1000 * r:1000 * (r + 1)], 10 * r + rank, "all_to_all_single")
    sent = [filled(1 + r, rank, device) for r in range(size)]
    received = [filled(1 + rank, -1, device) for _ in range(size)]
    dist.all_to_all(received, sent)
    for r, part in enumerate(received):
        check(part, r, "all_to_all of uneven parts")
    gathered = [filled(100, -1, device) for _ in range(size)] if rank == 0 else None
    dist.gather(filled(100, rank, device), gathered, dst=0)
    for r, part in enumerate(gathered or []):
        check(part, r, "gather")
    tensor = filled(100, -1, device)
    dist.scatter(tensor, [filled(100, r, device) for r in range(size)] if rank == 0 else None, src=0)
    check(tensor, rank, "scatter")
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(size)]


def messages(rank, size, device):
    after, before = (rank + 1) % size, (rank - 1) % size
    mine, theirs = filled(1000, rank, device), filled(1000, -1, device)
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, mine, after), dist.P2POp(dist.irecv, theirs, before)]):
        work.wait()
    check(theirs, before, "batch_isend_irecv")
    if rank == 0:
        dist.send(mine, 1)
    elif rank == 1:
        theirs.fill_(-1)
        dist.recv(theirs, 0)
        check(theirs, 0, "recv")
    dist.barrier()


def run(_, device):
    rank, size = dist.get_rank(), dist.get_world_size()
    for part in (reductions, moves, messages):
        part(rank, size, device)
        print(f"rank {rank}: {part.__name__} are right", flush=True)
    if size >= 2:
        pair = dist.new_group([0, 1])
        if rank < 2:
            tensor = filled(1000, 1, device)
            dist.all_reduce(tensor, group=pair)
            check(tensor, 2, "all_reduce of a part")
    return {"ranks": size}
