"""GPT-2 by FSDP2. With --checkpoint it goes on where it was, with any number of ranks, also after a rank was killed:

    torchrun --nproc-per-node 2 --max-restarts 1 examples/pytorch/training/fsdp2_gpt2.py --checkpoint FOLDER --every 2 --kill-at 5

There rank 1 kills itself before step 5, torchrun starts all ranks anew, and they begin again with step 5.
"""

import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from gpt2 import GPT2, loss_of
from start import Text, begin, options_of, tell
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def load(folder, model, optimizer):
    """Returns how many steps the newest checkpoint has behind it; 0 without one."""
    steps = [int(found.name) for found in Path(folder).glob("*") if (found / ".metadata").exists()] if folder else []
    if not steps:
        return 0
    weights, moments = get_state_dict(model, optimizer)
    dcp.load({"model": weights, "optimizer": moments}, checkpoint_id=str(Path(folder) / str(max(steps))))
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
    return max(steps)


def save(folder, step, model, optimizer):
    weights, moments = get_state_dict(model, optimizer)
    dcp.save({"model": weights, "optimizer": moments}, checkpoint_id=str(Path(folder) / str(step)))


def main():
    options = options_of(
        "GPT-2 by FSDP2", text="", layers=12, width=768, batch=4, rate=3e-4, checkpoint="", every=100, kill_at=0
    )
    device = begin(options)
    rank, size = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh(options.device, (size,))
    model = GPT2(options.layers, options.width).to(device)
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)

    text = Text(options.text)
    isFirstTry = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
    for step in range(load(options.checkpoint, model, optimizer) + 1, options.steps + 1):
        if step == options.kill_at and isFirstTry and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        inputs, targets = text.batch(options.batch, seed=step * size + rank)
        loss = loss_of(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        tell(step, loss)
        if options.checkpoint and step % options.every == 0:
            save(options.checkpoint, step, model, optimizer)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
