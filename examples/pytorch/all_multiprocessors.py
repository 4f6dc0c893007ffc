"""An all-gather beside a kernel that wants all multiprocessors at once; the other rank comes when that kernel is done.

A kernel whose blocks wait for each other needs all of them on the GPU together. NCCL's all-gather stays on some multiprocessors
until its peer comes, and the peer doesn't come before the kernel is done: https://github.com/deepseek-ai/DeepEP/issues/496. dfccl's
leaves when it is stuck. Needs triton, which comes with PyTorch for GPUs.
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from side_by_side import LIMIT_S, compare

try:
    import triton
    import triton.language as tl
except ImportError:
    raise SystemExit("This needs triton, which comes with PyTorch for GPUs.") from None

# A multiprocessor takes two blocks of 1,024 threads, if nothing else is on it.
BLOCKS_EACH, WARPS = 2, 32


@triton.jit
def meet(arrived, blocks):
    seen = tl.atomic_add(arrived, 1) + 1
    while seen < blocks:
        seen = tl.atomic_add(arrived, 0)


def run_everywhere(device):
    """A kernel that ends when so many blocks have begun that no multiprocessor has room for anything else."""
    blocks = BLOCKS_EACH * torch.cuda.get_device_properties(device).multi_processor_count
    meet[(blocks,)](torch.zeros(1, dtype=torch.int32, device=device), blocks, num_warps=WARPS)
    torch.cuda.current_stream().synchronize()


def program(rank, ranks, device):
    store = dist.distributed_c10d._get_default_store()
    row, rows = torch.full((1000,), float(rank), device=device), torch.empty(1000 * ranks, device=device)
    # Compiled, loaded, and the ranks connected: that is not what hangs here.
    if rank == 0:
        run_everywhere(device)
    dist.all_reduce(torch.zeros(1, device=device))
    torch.cuda.synchronize()
    if rank == 0:
        work = dist.all_gather_into_tensor(rows, row, async_op=True)
        run_everywhere(device)
        store.set("the kernel is done", "")
    else:
        store.wait(["the kernel is done"], timedelta(seconds=LIMIT_S))
        work = dist.all_gather_into_tensor(rows, row, async_op=True)
    work.wait()
    return f"all-gather {rows[0]:g} and {rows[-1]:g}"


if __name__ == "__main__":
    compare(program, needs_gpu=True)
