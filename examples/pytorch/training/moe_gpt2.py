"""GPT-2 with a mixture of experts, one on each rank: as many words go to each as the router says, another number each time.

    torchrun --nproc-per-node 2 examples/pytorch/training/moe_gpt2.py
"""

import torch
import torch.distributed as dist
from gpt2 import GPT2, FeedForward, loss_of
from start import Text, begin, options_of, tell
from torch import nn


class Exchange(torch.autograd.Function):
    """An uneven all-to-all of rows; the gradients go back the same way."""

    @staticmethod
    def forward(context, rows, sent, received):
        context.splits = sent, received
        out = rows.new_empty(sum(received), rows.shape[1])
        dist.all_to_all_single(out, rows.contiguous(), received, sent)
        return out

    @staticmethod
    def backward(context, gradient):
        sent, received = context.splits
        return Exchange.apply(gradient, received, sent), None, None


class Experts(nn.Module):
    """Words [batch, length, width], each to the expert whose score is the best, times how sure the router is."""

    def __init__(self, width):
        super().__init__()
        self.router = nn.Linear(width, dist.get_world_size(), bias=False)
        self.expert = FeedForward(width)

    def forward(self, x):
        words = x.flatten(0, 1)
        sureness, choice = self.router(words).softmax(-1).max(-1)
        order = choice.argsort(stable=True)
        sent = choice.bincount(minlength=dist.get_world_size())
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        sent, received = sent.tolist(), received.tolist()
        here = Exchange.apply(words[order], sent, received)
        back = Exchange.apply(self.expert(here), received, sent)
        return (torch.empty_like(back).index_copy(0, order, back) * sureness[:, None]).view_as(x)


def main():
    options = options_of("GPT-2 with experts", text="", layers=12, width=768, batch=4, rate=3e-4)
    device = begin(options)
    rank, size = dist.get_rank(), dist.get_world_size()
    model = GPT2(options.layers, options.width, feed_forward=Experts).to(device)
    # The experts are a rank's own; everything else is the same on all.
    shared = [parameter for name, parameter in model.named_parameters() if ".expert." not in name]
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate)
    text = Text(options.text)
    for step in range(1, options.steps + 1):
        inputs, targets = text.batch(options.batch, seed=step * size + rank)
        loss = loss_of(model(inputs.to(device)), targets.to(device)) / size
        loss.backward()
        works = [dist.all_reduce(parameter.grad, async_op=True) for parameter in shared]
        for work in works:
            work.wait()
        optimizer.step()
        optimizer.zero_grad()
        tell(step, loss * size)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
