"""The networks that are trained: of full size, and with small inputs, so that an iteration is mostly launches.

What hangs, hangs by the order of launches and runs, of which a small input has as many as a large one.
"""
import torch

MODELS = ("resnet50", "vit", "gpt2")
IMAGE_SIZE, TOKENS = 64, 64


def make_model(name):
    """On the CPU, with the same weights wherever it is called."""
    torch.manual_seed(1)
    if name == "resnet50":
        import torchvision
        return torchvision.models.resnet50(weights=None)
    if name == "vit":
        import torchvision
        return torchvision.models.VisionTransformer(image_size=IMAGE_SIZE, patch_size=16, num_layers=12, num_heads=12,
                                                    hidden_dim=768, mlp_dim=3072)
    if name == "gpt2":
        import transformers
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(n_positions=1024))
    raise ValueError(f"no model {name}; there are {', '.join(MODELS)}")


def make_loss(name, batch, device, rank):
    """A function of the network: the loss on this rank's own input, which no other rank has."""
    generator = torch.Generator().manual_seed(100 + rank)
    if name == "gpt2":
        tokens = torch.randint(50257, (batch, TOKENS), generator=generator).to(device)
        return lambda network: network(input_ids=tokens, labels=tokens).loss
    images = torch.randn(batch, 3, IMAGE_SIZE, IMAGE_SIZE, generator=generator).to(device)
    labels = torch.randint(1000, (batch,), generator=generator).to(device)
    criterion = torch.nn.CrossEntropyLoss()
    return lambda network: criterion(network(images), labels)
