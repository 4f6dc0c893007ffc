"""What the backend is called in torch.distributed, and which groups are of it."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

NAME = "dfccl"


def is_ours(group: Any) -> bool:
    """Whether this process is in the group, and tensors on CPUs go through this backend in it. None: the default group."""
    if group is dist.GroupMember.NON_GROUP_MEMBER or not dist.is_initialized():
        return False
    return f"cpu:{NAME}" in dist.get_backend_config(group).split(",")
