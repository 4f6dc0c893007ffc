"""Compiles c_api_loop.c and calls it."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

from dfccl_torch.library import find_library

KINDS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")


def compile_loop(folder, lib=None):
    """The shared object's path. `lib`: where the library is that it calls; the one that is installed."""
    library = find_library()
    lib = lib or library.lib
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or "clang"
    target = Path(folder) / "c_api_loop.so"
    source = Path(__file__).with_name("c_api_loop.c")
    flags = ["-O2", "-fPIC", "-shared", f"-I{library.include}", f"-L{lib}", f"-Wl,-rpath,{lib}"]
    subprocess.run([compiler, *flags, "-o", str(target), str(source), "-ldfccl"], check=True)
    return str(target)


class CApi:
    """This process as a rank of a world of the C API, beside torch's own."""

    def __init__(self, path, job, rank, ranks):
        self._ranks = ranks
        self._loop = ctypes.CDLL(path)
        self._loop.c_api_join.restype = ctypes.c_char_p
        self._loop.c_api_seconds.restype = ctypes.c_double
        failure = self._loop.c_api_join(job.encode(), rank, ranks)
        if failure:
            raise RuntimeError(failure.decode())

    def seconds_for(self, name, tensors, times):
        """A call's, with its wait. `tensors`: those that torch's call has, of float32."""
        mine, whole, other = (ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors)
        count = ctypes.c_size_t(tensors[0].numel())
        seconds = self._loop.c_api_seconds(KINDS.index(name), mine, whole, other, count, self._ranks, times)
        if seconds < 0:
            raise RuntimeError(f"{name} fails through the C API")
        return seconds
