"""What a training program does beside its collectives, and what CUDA makes wait until the device is idle."""
import os

import torch

_SOURCE = """
extern "C" __global__ void fresh_{name}(int* sums, int index) {{
  if (threadIdx.x == 0) sums[index] += {value};
}}
"""


def _compile(source, name):
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None) or getattr(torch.cuda, "compile_kernel", None)
    if compile_kernel is None:
        raise RuntimeError("--fresh-kernel needs torch.cuda._compile_kernel, which PyTorch 2.9 and newer have")
    return compile_kernel(source, name)


class FreshKernels:
    """Kernels that are compiled and loaded while the program runs, each a module of its own."""

    def __init__(self, count):
        self._sums = torch.zeros(max(count, 1), dtype=torch.int32, device="cuda")
        self._kernels = []  # kept, as a program keeps what it has compiled

    def load_and_launch(self):
        index = len(self._kernels)
        name = f"{os.getpid()}_{index}"
        kernel = _compile(_SOURCE.format(name=name, value=index + 1), f"fresh_{name}")
        self._kernels.append(kernel)
        kernel(grid=(1, 1, 1), block=(32, 1, 1), args=[self._sums, index])

    def are_right(self):
        return self._sums[:len(self._kernels)].tolist() == list(range(1, len(self._kernels) + 1))


class Disturbances:
    """Every so many iterations: a device synchronization, an emptied cache, a kernel that is compiled and loaded."""

    def __init__(self, options):
        self._options = options
        every = options.fresh_kernel
        self._fresh = FreshKernels(options.iterations // every + 1) if every else None

    def before_step(self, iteration, dog):
        """While the stream waits for gradients: the moment at which a module load hurts."""
        if self._is_due(self._options.fresh_kernel, iteration):
            dog.at(f"iteration {iteration}, a kernel that is compiled and loaded")
            self._fresh.load_and_launch()
        if self._is_due(self._options.empty_cache, iteration):
            dog.at(f"iteration {iteration}, an emptied cache")
            torch.cuda.empty_cache()

    def after_step(self, iteration, dog):
        if self._is_due(self._options.synchronize, iteration):
            dog.at(f"iteration {iteration}, a device synchronization")
            torch.cuda.synchronize()

    def are_right(self):
        return self._fresh is None or self._fresh.are_right()

    @staticmethod
    def _is_due(every, iteration):
        return every > 0 and iteration % every == every - 1
