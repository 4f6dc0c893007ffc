"""GPT-2 by Hugging Face's Accelerate.

    torchrun --nproc-per-node 2 examples/pytorch/training/accelerate_gpt2.py

On GPUs `Accelerator(kwargs_handlers=[InitProcessGroupKwargs(backend="dfccl")])` names the backend. For CPUs Accelerate takes Gloo
whatever is named, unless there is a process group already, as here.
"""

import torch
import torch.distributed as dist
from accelerate import Accelerator
from gpt2 import GPT2, loss_of
from start import Text, begin, options_of, tell
from torch.utils.data import DataLoader, TensorDataset


def main():
    options = options_of("GPT-2 by Accelerate", text="", layers=12, width=768, batch=4, rate=3e-4)
    begin(options)
    accelerator = Accelerator(cpu=options.device == "cpu")
    pieces = TensorDataset(*Text(options.text).batch(options.steps * options.batch * dist.get_world_size(), seed=1))
    model = GPT2(options.layers, options.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(pieces, options.batch))
    for step, (inputs, targets) in enumerate(loader, 1):
        loss = loss_of(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        tell(step, loss)
    accelerator.end_training()


if __name__ == "__main__":
    main()
