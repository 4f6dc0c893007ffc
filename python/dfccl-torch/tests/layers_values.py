"""Values that two backends' results are made of and compared by. They are drawn on the CPU, wherever they go then."""

import numpy
import torch

_device = "cpu"


def device():
    """Where a layer's tensors are."""
    return _device


def put_on(device):
    """Tensors from here on, in this thread, those too that torch makes without being told where."""
    global _device
    _device = device
    torch.set_default_device(device)


def drawn(rank, *shape):
    """Whole numbers, so that sums are exact in any order."""
    generator = torch.Generator().manual_seed(100 + rank)
    return torch.randint(-8, 9, shape, generator=generator, device="cpu").float().to(device())


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), device="cpu").to(device())


class Block(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def blocks(count):
    torch.manual_seed(3)
    with torch.device("cpu"):
        return torch.nn.Sequential(*[Block() for _ in range(count)]).to(device())


def batch(rank, step):
    return normal(10 * step + rank, 3, 16)


def as_bytes(value):
    """What a process can hand to another, and compare."""
    if isinstance(value, (list, tuple)):
        return [as_bytes(one) for one in value]
    if not isinstance(value, torch.Tensor):
        return value
    if hasattr(value, "full_tensor"):
        value = value.full_tensor()
    value = torch.as_tensor(value).detach().cpu()
    return str(value.dtype), tuple(value.shape), value.double().numpy().tobytes()


def agree(one, other, tolerance):
    """Whether two of `as_bytes` hold the same, but for what sums in another order explain: relative, and a tenth of it."""
    if one == other or not tolerance or not isinstance(one, tuple) or one[:2] != other[:2]:
        return one == other
    return numpy.allclose(numpy.frombuffer(one[2]), numpy.frombuffer(other[2]), tolerance, tolerance / 10)
