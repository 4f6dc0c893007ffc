"""The extension compiles against this torch, is loaded, and knows GPUs where there are any."""

import os
import time

import torch

from processes import ON_GPU, expect

import dfccl_torch.extension
from dfccl_torch.cuda_headers import find_cuda_headers

begin = time.monotonic()
path = dfccl_torch.extension.build_extension()
print(f"torch {torch.__version__}, CUDA {torch.version.cuda}, headers {find_cuda_headers()}")
print(f"{path.name}: {os.path.getsize(path)} bytes in {time.monotonic() - begin:.1f} s")
module = dfccl_torch.extension.load_extension()
expect(module.describe() == "", "no world is joined yet")
if ON_GPU:
    expect(torch.cuda.is_available(), "torch finds no GPU")
    expect(module.has_cuda, "the extension was compiled without CUDA")
    print(f"{torch.cuda.device_count()} of {torch.cuda.get_device_name()}")
print("good")
