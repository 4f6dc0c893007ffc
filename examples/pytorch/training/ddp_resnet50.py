"""ResNet-50 by DistributedDataParallel, on images of a folder, or made up; it goes on where a checkpoint ends.

    torchrun --nproc-per-node 2 examples/pytorch/training/ddp_resnet50.py --images FOLDER --checkpoint resnet.pt

The folder has one folder for each class, and needs the package pillow.
"""

from itertools import islice
from pathlib import Path

import torch
import torch.distributed as dist
from resnet import ResNet
from start import begin, options_of, tell
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class MadeUp(Dataset):
    """Noise around another colour for each of ten classes."""

    classes = 10

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return 10_000

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        label = index % self.classes
        colour = torch.tensor([label % 2, label // 2 % 2, label / self.classes]).view(3, 1, 1)
        return torch.randn(3, self.size, self.size, generator=generator) + colour, label


class Folder(Dataset):
    def __init__(self, folder, size):
        names = sorted(entry.name for entry in Path(folder).iterdir() if entry.is_dir())
        self.classes = len(names)
        self.files = [(file, label) for label, name in enumerate(names) for file in sorted((Path(folder) / name).iterdir())]
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        from PIL import Image

        file, label = self.files[index]
        with Image.open(file) as image:
            pixels = bytearray(image.convert("RGB").resize((self.size, self.size)).tobytes())
        image = torch.frombuffer(pixels, dtype=torch.uint8).view(self.size, self.size, 3)
        return image.permute(2, 0, 1) / 127.5 - 1, label


def endless(loader):
    """Its batches, another order in each turn, which every rank draws alike."""
    turn = 0
    while True:
        loader.sampler.set_epoch(turn)
        yield from loader
        turn += 1


def main():
    options = options_of("ResNet-50 by DistributedDataParallel", images="", size=224, batch=32, rate=0.003, checkpoint="", every=100)
    device = begin(options)
    images = Folder(options.images, options.size) if options.images else MadeUp(options.size)
    loader = DataLoader(images, options.batch, sampler=DistributedSampler(images), drop_last=True)
    model = DistributedDataParallel(ResNet(images.classes).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.rate, momentum=0.9)

    done = 0
    if options.checkpoint and Path(options.checkpoint).exists():
        saved = torch.load(options.checkpoint, map_location=device)
        model.module.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        done = saved["step"]
    for step, (inputs, labels) in enumerate(islice(endless(loader), done, options.steps), done + 1):
        loss = F.cross_entropy(model(inputs.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tell(step, loss)
        if options.checkpoint and (step % options.every == 0 or step == options.steps) and dist.get_rank() == 0:
            saved = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            torch.save(saved, options.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
