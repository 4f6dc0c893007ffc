"""What every training here begins with: its options, its process group, and text to learn from."""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist


def options_of(description, **defaults):
    """The command line: --backend, --device, --steps, and an option for each default, named after it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--backend", default="dfccl", help="of torch.distributed: dfccl, gloo, nccl")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    for name, value in {"steps": 20, **defaults}.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=value, type=type(value))
    return parser.parse_args()


def begin(options):
    """Joins the other ranks, as torchrun's environment says. Returns this rank's device."""
    if options.backend == "dfccl":
        import dfccl_torch  # noqa: F401: makes the backend known; torch 2.14 finds it by itself
    torch.manual_seed(7)  # the same weights on all ranks
    if options.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    dist.init_process_group(options.backend)
    return torch.device(options.device)


def tell(step, loss, group=None):
    """Prints a step's loss, the mean over the group's ranks; rank 0 does."""
    mean = loss.detach().clone()
    dist.all_reduce(mean, group=group)
    if dist.get_rank() == 0:
        print(f"step {step}: loss {mean.item() / dist.get_world_size(group):.6f}", flush=True)


class Text:
    """Pieces of a text, byte by byte; without a file, of this folder's programs."""

    def __init__(self, file="", length=64):
        files = [Path(file)] if file else sorted(Path(__file__).parent.glob("*.py"))
        self.bytes = torch.tensor(list(b"".join(f.read_bytes() for f in files)))
        self.length = length

    def batch(self, count, seed):
        """Inputs and targets [count, length], drawn by the seed: for each byte, the one that follows."""
        generator = torch.Generator().manual_seed(seed)
        begins = torch.randint(len(self.bytes) - self.length, (count,), generator=generator)
        pieces = torch.stack([self.bytes[at : at + self.length + 1] for at in begins.tolist()])
        return pieces[:, :-1], pieces[:, 1:]
