"""The backend "dfccl" of torch.distributed: collectives that complete in whatever order ranks issue them.

    import dfccl_torch
    torch.distributed.init_process_group("dfccl")

See docs/pytorch.md in the project's repository.
"""

import os

import torch

from .errors import DfcclError
from .gradients import GradientAverage
from .parameter_tags import ParameterTags, tag_shards, tagged_hook
from .registration import register
from .tags import tag

__all__ = ["DfcclError", "GradientAverage", "ParameterTags", "explain", "register", "tag", "tag_shards", "tagged_hook"]


def explain() -> str:
    """What this process's ranks do and wait for, in words: for each operation that isn't over, which ranks are missing.

    May be called by any thread at any time, as by one that looks into a program that hangs. Empty outside of process
    groups of this backend.
    """
    from .extension import load_extension

    # Compiled for the first group, so where it isn't loaded there is none.
    return load_extension().describe() if load_extension.cache_info().currsize else ""


# Streams that wait in different orders want a hardware queue each, and CUDA reads how many it makes before its first call;
# the library, which does the same, is loaded with the first process group, after it (docs/gpus.md).
if not torch.cuda.is_initialized():
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
register()
