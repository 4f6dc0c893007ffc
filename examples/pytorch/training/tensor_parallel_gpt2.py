"""GPT-2 by DTensor's tensor parallelism: every rank has a part of each layer, and sees the same text.

    torchrun --nproc-per-node 2 examples/pytorch/training/tensor_parallel_gpt2.py
"""

import torch
import torch.distributed as dist
from gpt2 import GPT2, loss_of
from start import Text, begin, options_of, tell
from tensor_parallel import share_out
from torch.distributed.device_mesh import init_device_mesh


def main():
    options = options_of("GPT-2 by tensor parallelism", text="", layers=12, width=768, batch=4, rate=3e-4)
    device = begin(options)
    mesh = init_device_mesh(options.device, (dist.get_world_size(),))
    model = share_out(GPT2(options.layers, options.width).to(device), mesh)
    # Some parameters are DTensors and some are not, which no operation takes together, as those of `foreach` on a GPU are.
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, foreach=False)
    text = Text(options.text)
    for step in range(1, options.steps + 1):
        inputs, targets = text.batch(options.batch, seed=step)
        loss = loss_of(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        tell(step, loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
