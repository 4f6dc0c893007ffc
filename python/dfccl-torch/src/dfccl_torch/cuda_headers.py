"""Where CUDA's headers are, which the extension includes where torch has CUDA."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.utils import cpp_extension

# The runtime's wheel has the first alone, and nvidia-cuda-crt the second.
_INCLUDED = ("cuda_runtime.h", "crt/host_config.h")


def find_cuda_headers() -> Path | None:
    """The folder of ``cuda_runtime.h``: of the wheel that torch came with, else of the toolkit (``CUDA_HOME``).

    None where torch has no CUDA, and where there are no such headers: then the extension does without GPUs.
    """
    if torch.version.cuda is None:
        return None
    major = torch.version.cuda.split(".")[0]
    beside_torch = Path(torch.__file__).resolve().parents[1] / "nvidia"
    candidates = [beside_torch / f"cu{major}" / "include", beside_torch / "cuda_runtime" / "include"]
    if cpp_extension.CUDA_HOME:
        candidates.append(Path(cpp_extension.CUDA_HOME) / "include")
    candidates.append(Path("/usr/local/cuda/include"))  # where nvcc is reached by a link, CUDA_HOME is the link's folder
    return next((folder for folder in candidates if all((folder / name).is_file() for name in _INCLUDED)), None)
