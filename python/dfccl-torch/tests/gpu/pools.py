"""torch.cuda.MemPool of the backend's allocator, beside torch's expandable segments, which other processes can't map: collectives
on tensors of both, what is given back, and a pool that outlives its group."""

import os

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch  # noqa: E402: reads the setting
import torch.distributed as dist  # noqa: E402

from processes import begin_group, expect, run_check  # noqa: E402

ELEMENTS = 4 << 20


def segment_of(pool, tensor):
    found = [
        segment
        for segment in pool.snapshot()
        if segment["address"] <= tensor.data_ptr() < segment["address"] + segment["total_size"]
    ]
    return found[0] if found else None


def check(rank, ranks, device):
    before = torch.cuda.memory_reserved(device)
    backend = dist.group.WORLD._get_backend(device)
    pool = torch.cuda.MemPool(backend.mem_allocator)
    with torch.cuda.use_mem_pool(pool):
        ours = torch.full((ELEMENTS,), rank + 1.0, device=device)
    usual = torch.full((ELEMENTS,), rank + 1.0, device=device)
    expect(segment_of(pool, ours) is not None, "the tensor lies in the pool")
    expect(segment_of(pool, usual) is None, "another one doesn't")
    for tensor in (ours, usual):
        for count in (1, 1000, ELEMENTS):
            part = tensor[:count]
            part.fill_(rank + 1.0)
            dist.all_reduce(part)
            expect(bool((part == ranks * (ranks + 1) / 2).all()), f"a sum of {count}")
    with torch.cuda.use_mem_pool(pool):
        for _ in range(20):
            large = torch.full((16 << 20,), rank + 1.0, device=device)
            dist.all_reduce(large)
            expect(float(large[-1]) == ranks * (ranks + 1) / 2, "a sum of what comes and goes")
            del large
    dist.destroy_process_group()
    del ours, usual, tensor, part, backend, pool
    torch.cuda.empty_cache()
    kept = torch.cuda.memory_reserved(device) - before
    expect(kept < 4 * ELEMENTS, f"{kept} bytes are kept")
    begin_group(rank, ranks, 1)
    again = torch.cuda.MemPool(dist.group.WORLD._get_backend(device).mem_allocator)
    with torch.cuda.use_mem_pool(again):
        dist.all_reduce(torch.ones(1000, device=device))


if __name__ == "__main__":
    run_check(check, gpu_only=True)
