"""The C++ extension: compiled once for each torch, Python and libdfccl, and loaded from a cache after that.

c10d's classes differ from one minor version of torch to the next, so that what was compiled for one can't be loaded by
another: a wheel would have to exist for each. Compiling at first use takes about a minute, and fits what is installed.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import ModuleType

import torch
from torch.utils import cpp_extension

from .cuda_headers import find_cuda_headers
from .errors import DfcclError
from .gpu_call import stop_listeners
from .library import Library, find_library

_NAME = "dfccl_torch_extension"
# A callback that takes longer than this is left to itself when the program ends.
_LAST_ERRAND = timedelta(seconds=10)
# Joining other ranks' GPUs takes a second or two.
_LAST_JOINING_S = 10.0
# What was sent and isn't received for so long is given up when the program ends without having destroyed the group.
_LAST_SENDS = timedelta(seconds=10)
_SOURCES = Path(__file__).resolve().parent / "csrc"


@cache
def load_extension() -> ModuleType:
    """Compiles the extension where there is none yet, and loads it.

    Raises DfcclError: LIBRARY_NOT_FOUND, CACHE_NOT_WRITABLE, NO_COMPILER, COMPILATION_FAILED, NOT_LOADED.
    """
    path = build_extension()
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise DfcclError("NOT_LOADED", f"{path} can't be loaded.", "Remove it, so that it is made anew.", path=str(path))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise DfcclError(
            "NOT_LOADED",
            f"{path} can't be loaded: {error}.",
            'Build libdfccl again ("npm run build"): it may be older than its headers.',
            path=str(path),
        ) from error
    atexit.register(_end, module)
    return module


def _end(module: ModuleType) -> None:
    try:
        for late in module.end_buffered_sends(_LAST_SENDS):
            warnings.warn(
                f"dfccl: {late} It is lost as this process ends. Receive it, or destroy the group, which waits as long as its timeout.",
                RuntimeWarning,
                stacklevel=1,
            )
    finally:  # a warning may be an error
        stop_listeners(_LAST_JOINING_S)
        module.end_errands(_LAST_ERRAND)


def build_extension() -> Path:
    """The extension's path; of processes that come here at once, one compiles it and the others wait."""
    library = find_library()
    folder = _cache_folder() / _key(library)
    target = folder / f"{_NAME}.so"
    if target.is_file():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "w", encoding="utf-8")
    except OSError as error:
        raise _no_cache(f"{folder} can't be written ({error.strerror}).") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which the system gives back whatever becomes of its holder
        if not target.is_file():
            _compile(library, target)
    return target


def _no_cache(what: str) -> DfcclError:
    return DfcclError(
        "CACHE_NOT_WRITABLE",
        f"The extension is compiled into a cache, and {what}",
        "Set DFCCL_TORCH_CACHE to a folder that can be written.",
    )


def _cache_folder() -> Path:
    chosen = os.environ.get("DFCCL_TORCH_CACHE")
    if chosen:
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dfccl-torch"
    except RuntimeError as error:
        raise _no_cache("this user has no home directory.") from error


def _key(library: Library) -> str:
    """Of all that the extension's bytes depend on; the library is linked by its path, and may be built anew."""
    digest = hashlib.sha256()
    headers = sorted((library.include / "dfccl").glob("*.h"))
    for path in [Path(__file__), *sorted(_SOURCES.iterdir()), *headers]:
        digest.update(path.read_bytes())
    digest.update(f"{library} {find_cuda_headers()}".encode())
    python = f"{sys.implementation.cache_tag}-{platform.machine()}"
    return f"torch-{torch.__version__}-{python}-{digest.hexdigest()[:16]}"


def _compile(library: Library, target: Path) -> None:
    found = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    compiler = shlex.split(os.environ.get("CXX") or found or "")
    if not compiler or shutil.which(compiler[0]) is None:
        raise DfcclError(
            "NO_COMPILER",
            f"The extension has to be compiled, and there is no {' '.join(compiler) or 'C++ compiler'}.",
            "Install one (apt-get install g++), or set CXX.",
        )
    cuda = find_cuda_headers()
    includes = [str(library.include), sysconfig.get_path("include"), *cpp_extension.include_paths()]
    includes += [str(cuda)] if cuda else []
    flags = [
        *("-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-w"),
        f"-DTORCH_EXTENSION_NAME={_NAME}",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}",
        *(["-DDFCCL_TORCH_CUDA"] if cuda else []),
        *(flag for include in includes for flag in ("-isystem", include)),
    ]
    libraries = [str(library.lib), *cpp_extension.library_paths()]
    links = [flag for folder in libraries for flag in (f"-L{folder}", f"-Wl,-rpath,{folder}")]
    links += ["-ldfccl", "-lc10", "-ltorch_cpu", "-ltorch", "-ltorch_python"]
    links += ["-lc10_cuda", "-ltorch_cuda"] if cuda else []  # which needs CUDA's runtime, of the version that torch has
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        # As one file: each alone would read torch's headers again, which take longer than what is ours.
        whole = Path(work) / "whole.cpp"
        whole.write_text("".join(f'#include "{source}"\n' for source in sorted(_SOURCES.glob("*.cpp"))), encoding="utf-8")
        result = Path(work) / target.name
        _run([*compiler, *flags, "-shared", "-o", str(result), str(whole), *links])
        result.replace(target)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise DfcclError(
            "COMPILATION_FAILED",
            f"The extension doesn't compile: {command[0]} ended with {done.returncode}:\n" + "\n".join(lines[:40]) + "\n",
            "It takes a compiler of C++20 (g++ 11 or newer, clang 14 or newer) and torch 2.9 to 2.14.",
            command=command,
        )
