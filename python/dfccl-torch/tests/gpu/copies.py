"""What moves data and adds nothing: collectives, messages, batches of messages, objects."""

import torch
import torch.distributed as dist

from processes import expect, expect_equal, run_check

SIZES = (1, 1000, 1 << 20)


def check(rank, ranks, device):
    mine = float(rank + 1)
    everybody = torch.arange(1, ranks + 1, dtype=torch.float32)
    for count in SIZES:
        tensor = torch.full((count,), mine, device=device)
        for root in range(ranks):
            copy = tensor.clone()
            dist.broadcast(copy, root)
            expect_equal(copy, root + 1, f"broadcast of {count} from {root}")
            rows = [torch.empty_like(tensor) for _ in range(ranks)] if rank == root else None
            dist.gather(tensor, rows, dst=root)
            for sender, row in enumerate(rows or []):
                expect_equal(row, sender + 1, f"gather of {count}")
            dist.scatter(copy, [tensor * (r + 1) for r in range(ranks)] if rank == root else None, src=root)
            expect_equal(copy, (root + 1) * (rank + 1), f"scatter of {count}")
        rows = [torch.empty_like(tensor) for _ in range(ranks)]
        dist.all_gather(rows, tensor)
        for sender, row in enumerate(rows):
            expect_equal(row, sender + 1, f"all_gather of {count}")
        whole = torch.empty(ranks * count, device=device)
        dist.all_gather_into_tensor(whole, tensor)
        expect_equal(whole, everybody.repeat_interleave(count), f"all_gather_into_tensor of {count}")
        sent = (mine * 10 + torch.arange(ranks)).repeat_interleave(count).to(device)
        dist.all_to_all_single(whole, sent)
        expect_equal(whole, (everybody * 10 + rank).repeat_interleave(count), f"all_to_all_single of {count}")
        messages(rank, ranks, device, count)
    for dtype in (torch.int16, torch.complex64, torch.bool, torch.float8_e4m3fn):
        pattern = torch.arange(64, dtype=torch.uint8) if rank == 0 else torch.zeros(64, dtype=torch.uint8)
        tensor = (pattern % 2).view(torch.bool) if dtype == torch.bool else pattern.view(dtype)
        tensor = tensor.to(device)
        dist.broadcast(tensor, 0)
        expected = torch.arange(64, dtype=torch.uint8)
        expect_equal(tensor.view(torch.uint8), expected % 2 if dtype == torch.bool else expected, f"broadcast of {dtype}")
    dist.barrier()
    objects = [None] * ranks
    dist.all_gather_object(objects, {"rank": rank, "text": "x" * 1000 * (rank + 1)})
    expect([o["rank"] for o in objects] == list(range(ranks)), f"all_gather_object gave {objects}")


def messages(rank, ranks, device, count):
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    got = torch.empty(count, device=device)
    work = dist.isend(torch.full((count,), float(rank), device=device) * 2, right)  # of a temporary
    dist.recv(got, left)
    work.wait()
    expect_equal(got, left * 2, f"a message of {count}")
    other = torch.empty(count, device=device)
    batch = [
        dist.P2POp(dist.isend, got + 1, right),
        dist.P2POp(dist.irecv, other, left),
    ]
    for request in dist.batch_isend_irecv(batch):
        request.wait()
    expect_equal(other, (left - 1) % ranks * 2 + 1, f"a batch of messages of {count}")


run_check(check)
