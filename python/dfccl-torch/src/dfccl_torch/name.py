"""What the backend is called in torch.distributed."""

NAME = "dfccl"
