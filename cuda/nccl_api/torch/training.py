"""Networks trained by PyTorch's own data parallelism, on whatever NCCL it finds."""
import hashlib
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

VOCABULARY, TOKENS, WIDTH, LAYERS = 32000, 256, 768, 12


class Gpt(nn.Module):
    """A causal language model of GPT-2's size."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(TOKENS))

    def forward(self, tokens):
        hidden = self.embedding(tokens) + self.position
        for layer in self.layers:
            hidden = layer(hidden, src_mask=self.mask, is_causal=True)
        return self.head(hidden)


def digest_of(model):
    """Of all weights, to the bit."""
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().float().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def train(network, loss_of, options):
    """@return milliseconds an iteration, without the first three, and the losses at both ends"""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    losses = []
    began = time.monotonic()
    for iteration in range(options.iterations):
        if iteration == 3:
            torch.cuda.synchronize()
            began = time.monotonic()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(network)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if iteration % 7 == 6:
            torch.cuda.synchronize()
        if iteration % 10 == 9:
            torch.cuda.empty_cache()
    torch.cuda.synchronize()
    ms = 1000 * (time.monotonic() - began) / max(1, options.iterations - 3)
    first, last = float(losses[0]), float(losses[-1])
    assert last < first, f"the loss went from {first} to {last}"
    return {"msPerIteration": round(ms, 2), "firstLoss": round(first, 4), "lastLoss": round(last, 4)}


def check_equal(network):
    """All ranks have the same weights, though each had another input."""
    digests = [None] * dist.get_world_size()
    dist.all_gather_object(digests, digest_of(network))
    assert len(set(digests)) == 1, digests
    return digests[0]


def ddp(network, loss_of, options, device):
    wrapped = DistributedDataParallel(network.to(device), device_ids=[device.index])
    result = train(wrapped, loss_of, options)
    return dict(result, digest=check_equal(wrapped.module))


def ddp_resnet(options, device):
    import torchvision

    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(100 + dist.get_rank())
    images = torch.randn(options.batch, 3, 96, 96, generator=generator).to(device)
    labels = torch.randint(1000, (options.batch,), generator=generator).to(device)
    criterion = nn.CrossEntropyLoss()
    network = torchvision.models.resnet50(weights=None)
    return ddp(network, lambda model: criterion(model(images), labels), options, device)


def gpt_loss(options, device):
    generator = torch.Generator().manual_seed(100 + dist.get_rank())
    tokens = torch.randint(VOCABULARY, (options.batch, TOKENS + 1), generator=generator).to(device)
    criterion = nn.CrossEntropyLoss()
    return lambda model: criterion(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())


def ddp_gpt(options, device):
    torch.manual_seed(1)
    return ddp(Gpt(), gpt_loss(options, device), options, device)


def fsdp_gpt(options, device):
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    network = Gpt().to(device)
    for layer in network.layers:
        fully_shard(layer)
    fully_shard(network)
    return train(network, gpt_loss(options, device), options)
