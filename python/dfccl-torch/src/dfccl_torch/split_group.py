"""torch.distributed.split_group for groups of this backend."""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import device_mesh, distributed_c10d

from .extension import load_extension
from .name import is_ours


def let_torch_call_it() -> None:
    """Puts a function in the place of torch's, which refuses all groups where there is no accelerator.

    A group of this backend is made without a word to other ranks, so a part is made as any group is, by its members alone.
    Groups of other backends go on to torch's.
    """
    of_torch = getattr(distributed_c10d, "split_group", None)
    if of_torch is None:
        return

    @functools.wraps(of_torch)
    def split_group(
        parent_pg: Any = None,
        split_ranks: list[list[int]] | None = None,
        timeout: timedelta | None = None,
        pg_options: Any = None,
        group_desc: str | None = None,
        **others: Any,
    ) -> Any:
        if not is_ours(parent_pg):
            return of_torch(parent_pg, split_ranks, timeout, pg_options, group_desc, **others)
        if not split_ranks:
            raise ValueError("split_ranks cannot be None or empty")
        parent = parent_pg or distributed_c10d._get_default_group()
        place = dist.get_rank(parent)
        for part in split_ranks:
            if place in part:
                if timeout is None:
                    timeout = load_extension().timeout_of(parent._get_backend(torch.device("cpu")))
                ranks = [dist.get_global_rank(parent, member) for member in sorted(part)]
                backend = others.get("backend") or dist.get_backend_config(parent)
                return dist.new_group(ranks, timeout, backend, pg_options, use_local_synchronization=True, group_desc=group_desc)
        return None

    # Meshes have taken it over by its name.
    for module in (distributed_c10d, dist, device_mesh):
        if getattr(module, "split_group", None) is of_torch:
            module.split_group = split_group
