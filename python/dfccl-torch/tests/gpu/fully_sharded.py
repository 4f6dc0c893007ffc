"""FSDP2: a small GPT, whose losses are those of the same network trained unsharded on all ranks' inputs."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from processes import expect, run_check

STEPS, BATCH, TOKENS, WORDS, WIDTH, HEADS, LAYERS = 10, 2, 32, 256, 128, 4, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        shape = (*x.shape[:2], HEADS, WIDTH // HEADS)
        q, k, v = (part.reshape(shape).transpose(1, 2) for part in self.qkv(self.before_attention(x)).chunk(3, -1))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.before_mlp(x))


class SmallGpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def made(device):
    torch.manual_seed(1)
    return SmallGpt().to(device)


def tokens_of(rank, step):
    return torch.randint(WORDS, (BATCH, TOKENS + 1), generator=torch.Generator().manual_seed(1000 * step + rank))


def loss_of(model, tokens):
    return nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def check(rank, ranks, device):
    mesh = init_device_mesh(device.type, (ranks,))
    sharded = made(device)
    for block in sharded.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(sharded, mesh=mesh)
    whole = made(device)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (sharded, whole)]
    for step in range(STEPS):
        loss = loss_of(sharded, tokens_of(rank, step).to(device))
        loss.backward()
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        of_whole = loss_of(whole, torch.cat([tokens_of(r, step) for r in range(ranks)]).to(device))
        of_whole.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        difference = abs(mean.item() - of_whole.item())
        expect(difference < 1e-3, f"step {step}: the loss is {mean.item()}, and unsharded {of_whole.item()}")
    if rank == 0:
        print(f"{STEPS} steps, the last loss {mean.item():.5f}, and unsharded {of_whole.item():.5f}")


run_check(check)
