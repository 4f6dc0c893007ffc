"""The networks and the ways of data-parallel training that training.py times."""

import random

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.nn.parallel import DistributedDataParallel

MODELS = ("resnet50", "vit_b_16", "gpt2", "small")
WAYS = ("ddp", "gradients", "shuffled", "fsdp2")


class Task:
    """A network on a device, with a batch that no other rank has."""

    def __init__(self, model, batch, device, rank):
        torch.manual_seed(1)
        generator = torch.Generator().manual_seed(100 + rank)
        criterion = nn.CrossEntropyLoss()
        if model == "gpt2":
            import transformers

            config = transformers.GPT2Config(n_positions=512, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
            self.network = transformers.GPT2LMHeadModel(config)
            self.parts = list(self.network.transformer.h)
            tokens = torch.randint(50257, (batch, 512), generator=generator).to(device)
            self.loss = lambda network: network(input_ids=tokens, labels=tokens).loss
        else:
            self.network, self.parts, size, classes = _vision(model)
            images = torch.randn(batch, 3, size, size, generator=generator).to(device)
            labels = torch.randint(classes, (batch,), generator=generator).to(device)
            self.loss = lambda network: criterion(network(images), labels)
        self.network.to(device)


def _vision(model):
    if model == "small":
        layers = [nn.Sequential(nn.Linear(192, 192), nn.ReLU()) for _ in range(3)]
        return nn.Sequential(nn.Flatten(), *layers, nn.Linear(192, 10)), layers, 8, 10
    import torchvision

    network = getattr(torchvision.models, model)(weights=None)
    if model == "resnet50":
        stages = (network.layer1, network.layer2, network.layer3, network.layer4)
        return network, [block for stage in stages for block in stage], 224, 1000
    return network, list(network.encoder.layers), 224, 1000


class Shuffled:
    """Means of gradients under their names, sixteen at a time in an order that each rank draws anew."""

    def __init__(self, network, group, rank):
        import dfccl_torch

        self._tag = dfccl_torch.tag
        self._group = group
        self._random = random.Random(rank)
        self._ready, self._works = [], []
        for name, parameter in network.named_parameters():
            parameter.register_post_accumulate_grad_hook(lambda one, name=name: self._add(name, one))

    def _add(self, name, parameter):
        self._ready.append((name, parameter.grad))
        if len(self._ready) == 16:
            self._begin()

    def _begin(self):
        self._random.shuffle(self._ready)
        for name, gradient in self._ready:
            with self._tag(name):
                self._works.append(dist.all_reduce(gradient, dist.ReduceOp.AVG, group=self._group, async_op=True))
        self._ready = []

    def wait(self):
        self._begin()
        for work in self._works:
            work.wait()
        self._works = []


class Trainer:
    """One way of training by one backend; with neither, the network alone."""

    def __init__(self, task, way, group, device, rank):
        self._loss = task.loss
        self._gradients = None
        self.network = task.network
        if way == "ddp":
            ids = [device.index] if device.type == "cuda" else None
            self.network = DistributedDataParallel(task.network, device_ids=ids, process_group=group)
        elif way == "gradients":
            import dfccl_torch

            self._gradients = dfccl_torch.GradientAverage(task.network, group)
        elif way == "shuffled":
            self._gradients = Shuffled(task.network, group, rank)
        elif way == "fsdp2":
            from torch.distributed.fsdp import fully_shard

            mesh = DeviceMesh.from_group(group, device.type)
            for part in task.parts:
                fully_shard(part, mesh=mesh)
            fully_shard(task.network, mesh=mesh)
        self._optimizer = torch.optim.SGD(self.network.parameters(), lr=1e-4, momentum=0.9)

    def step(self):
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._loss(self.network)
        loss.backward()
        if self._gradients:
            self._gradients.wait()
        self._optimizer.step()
        return loss.detach()

    def weights(self):
        """Each weight as a whole, which all ranks have to ask for where it is sharded."""
        for parameter in self.network.parameters():
            whole = parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter
            yield whole.detach().float()

    def farthest_from(self, other):
        """Of all weights, the greatest difference from the other trainer's by the length of its own."""
        pairs = zip(self.weights(), other.weights(), strict=True)
        return max(float((mine - its).norm() / its.norm().clamp(min=1e-12)) for mine, its in pairs)
