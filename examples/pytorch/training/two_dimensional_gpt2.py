"""GPT-2 in two dimensions: tensor parallelism inside of rows of ranks, FSDP2 between the rows.

    torchrun --nproc-per-node 4 examples/pytorch/training/two_dimensional_gpt2.py --row 2
"""

import torch
import torch.distributed as dist
from gpt2 import GPT2, loss_of
from start import Text, begin, options_of, tell
from tensor_parallel import share_out
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def main():
    options = options_of("GPT-2 by FSDP2 and tensor parallelism", text="", row=2, layers=12, width=768, batch=4, rate=3e-4)
    device = begin(options)
    rows = dist.get_world_size() // options.row
    mesh = init_device_mesh(options.device, (rows, options.row), mesh_dim_names=("data", "tensor"))
    model = share_out(GPT2(options.layers, options.width).to(device), mesh["tensor"])
    for block in model.blocks:
        fully_shard(block, mesh=mesh["data"])
    fully_shard(model, mesh=mesh["data"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    text = Text(options.text)
    for step in range(1, options.steps + 1):
        # The ranks of a row see the same text.
        inputs, targets = text.batch(options.batch, seed=step * rows + mesh["data"].get_local_rank())
        loss = loss_of(model(inputs.to(device)), targets.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        tell(step, loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
