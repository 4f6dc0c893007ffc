"""Started by checks.py in a process of its own, with the environment of a program: what does it find under NCCL's name, and
does that work? Prints one line of JSON."""

from __future__ import annotations

import ctypes
import json
from typing import Any


def _mapped() -> list[str]:
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = [line.split(maxsplit=5)[5].strip() for line in maps if line.count("/") > 0]
    return sorted({path for path in paths if path.rsplit("/", 1)[-1].startswith("libnccl.so")})


def main() -> dict[str, Any]:
    try:
        nccl = ctypes.CDLL("libnccl.so.2")
    except OSError as error:
        return {"error": str(error)}
    nccl.ncclGetLastError.restype = ctypes.c_char_p
    version = ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    found: dict[str, Any] = {"mapped": _mapped(), "version": version.value}
    comm = ctypes.c_void_p()
    # Of one rank, so that nobody is waited for.
    result = nccl.ncclCommInitAll(ctypes.byref(comm), 1, None)
    if result != 0:
        return {**found, "refused": nccl.ncclGetLastError(None).decode(errors="replace")}
    nccl.ncclCommDestroy(comm)
    return found


if __name__ == "__main__":
    print(json.dumps(main()))
