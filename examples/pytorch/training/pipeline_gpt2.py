"""GPT-2 in a pipeline: each rank has some of the layers, and the 1F1B schedule lets one part forward, then one back.

    torchrun --nproc-per-node 2 examples/pytorch/training/pipeline_gpt2.py --microbatches 4
"""

import torch
import torch.distributed as dist
from gpt2 import GPT2, loss_of
from start import Text, begin, options_of
from torch.distributed.pipelining import PipelineStage, Schedule1F1B


def main():
    options = options_of("GPT-2 in a pipeline", text="", layers=12, width=768, batch=8, microbatches=4, rate=3e-4)
    device = begin(options)
    rank, size = dist.get_rank(), dist.get_world_size()
    whole = GPT2(options.layers, options.width).layers
    cuts = [len(whole) * stage // size for stage in range(size + 1)]
    layers = whole[cuts[rank] : cuts[rank + 1]].to(device)
    stage = PipelineStage(layers, rank, size, device)
    schedule = Schedule1F1B(stage, options.microbatches, loss_fn=loss_of)
    optimizer = torch.optim.AdamW(layers.parameters(), lr=options.rate)
    text = Text(options.text)
    for step in range(1, options.steps + 1):
        inputs, targets = text.batch(options.batch, seed=step)
        losses = []
        last = {"target": targets.to(device), "losses": losses} if stage.is_last else {}
        schedule.step(*([inputs.to(device)] if stage.is_first else []), **last)
        optimizer.step()
        optimizer.zero_grad()
        if stage.is_last:
            print(f"step {step}: loss {torch.stack(losses).mean().item():.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
