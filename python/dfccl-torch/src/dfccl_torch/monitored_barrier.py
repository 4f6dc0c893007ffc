"""torch.distributed.monitored_barrier for groups of this backend."""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from .name import is_ours


def let_torch_call_it() -> None:
    """Puts a function in the place of torch's, which refuses every backend but Gloo by its name.

    Groups of other backends go on to torch's.
    """
    of_torch = distributed_c10d.monitored_barrier

    @functools.wraps(of_torch)
    def monitored_barrier(
        group: Any = None, timeout: timedelta | float | None = None, wait_all_ranks: bool = False
    ) -> None:
        if not is_ours(group):
            of_torch(group, timeout, wait_all_ranks)
            return
        limit = timedelta(seconds=timeout) if isinstance(timeout, int | float) else timeout
        one = distributed_c10d._get_default_group() if group is None else group
        one.monitored_barrier(*([] if limit is None else [limit]), wait_all_ranks=wait_all_ranks)

    for module in (distributed_c10d, dist):
        module.monitored_barrier = monitored_barrier

