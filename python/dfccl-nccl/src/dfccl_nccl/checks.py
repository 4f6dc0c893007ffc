"""Whether programs of this Python would call NCCL on dfccl's engine, and what keeps them from it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .elf import NotElf, read_elf
from .environment import variables
from .errors import DfcclError
from .library import NAME, find_library, is_ours
from .nvidia_wheel import find_files

_SECONDS = 120  # a communicator makes a context of CUDA's, which takes seconds where there are many GPUs


class Finding(NamedTuple):
    what: str
    state: str  # "ok", "missing": optional, or "failed"
    detail: str
    remedy: str = ""


def findings() -> list[Finding]:
    try:
        library = find_library()
    except DfcclError as error:
        return [_failed("library", error)]
    return [Finding("library", "ok", str(library)), *_loaded(library), *_of_wheels(library), *_of_torch()]


def _failed(what: str, error: DfcclError) -> Finding:
    return Finding(what, "failed", str(error).removesuffix(error.remedy).strip(), error.remedy)


def _loaded(library: Path) -> list[Finding]:
    """What a program gets that is started by ``run``."""
    try:
        environment = {**os.environ, **variables()}
    except DfcclError as error:
        return [_failed("loader", error)]
    probe = Path(__file__).with_name("probe.py")
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(probe)], env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        what = f"a communicator of one rank wasn't made within {_SECONDS} s"
        return [Finding("GPU", "failed", what, "See what else the GPU does (nvidia-smi), and try again.")]
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [""])[-1]
        what = f"a program that loads it ends with {done.returncode}: {said}"
        return [Finding("loader", "failed", what, "Report it with this line.")]
    said = json.loads(done.stdout)
    if "error" in said:
        return [Finding("loader", "failed", said["error"], "Build the library on a system as old as this one, or for this machine.")]
    if [Path(path) for path in said["mapped"]] != [library.resolve()]:
        what = f"a program that asks for {NAME} gets {', '.join(said['mapped'])}"
        return [Finding("loader", "failed", what, "Look at LD_AUDIT and LD_PRELOAD, and take other libraries of that name out.")]
    loader = Finding("loader", "ok", f"a program started by run gets it, and is told NCCL {_version(said['version'])}")
    if "refused" in said:
        return [loader, Finding("GPU", "missing", said["refused"], "Communicators can be made where NVIDIA's driver and a GPU are.")]
    return [loader, Finding("GPU", "ok", "a communicator of one rank was made")]


def _version(code: int) -> str:
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}"


def _of_wheels(library: Path) -> list[Finding]:
    found = []
    for path in find_files():
        if not is_ours(path):
            detail = f"{path} is NVIDIA's, which programs get that are not started by run"
            found.append(Finding("wheel", "ok", detail))
        elif path.read_bytes() == library.read_bytes():
            found.append(Finding("wheel", "ok", f"{path} is this library"))
        else:
            detail = f"{path} is another version of dfccl's"
            found.append(Finding("wheel", "failed", detail, 'Renew it: "python -m dfccl_nccl replace".'))
    return found


def _of_torch() -> list[Finding]:
    """Read from its files: importing it takes seconds, and it may not be importable here."""
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return []
    library = Path(torch.origin).parent / "lib" / "libtorch_cuda.so"
    if not library.is_file():
        remedy = "Install one for GPUs, if programs of this Python are to call NCCL through it."
        return [Finding("torch", "missing", f"{library.parents[1]} is a torch without CUDA, which doesn't call NCCL", remedy)]
    try:
        needed = read_elf(library).needed
    except (OSError, NotElf) as error:
        return [Finding("torch", "failed", f"{library} can't be read: {error}", "Install torch again.")]
    if NAME in needed:
        return [Finding("torch", "ok", f"{library} is linked with {NAME}")]
    remedy = 'Use the backend "dfccl" of torch.distributed in place of "nccl" (dfccl-torch).'
    return [Finding("torch", "failed", f"{library} has NCCL inside it, which no library can take the place of", remedy)]
