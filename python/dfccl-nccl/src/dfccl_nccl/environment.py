"""What a program's environment has to say, so that it loads dfccl's library."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .errors import DfcclError
from .library import AUDIT, find_library

_CHOICE = "DFCCL_NCCL_LOADER"
# Before, each call through a table of the loader's took longer in all of a program that was audited (glibc's bug 15533).
_AUDIT_SINCE = (2, 35)


def variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """What to add to ``environment`` (this process's), for programs that are started some other way than by ``run``.

    By LD_AUDIT, where the library has what that takes beside it and the system's C library is glibc 2.35 or newer, else by
    LD_PRELOAD; DFCCL_NCCL_LOADER chooses. What was audited or preloaded before stays, behind it. Raises DfcclError
    NO_SUCH_LOADER, and what find_library and preloadable raise.
    """
    before = os.environ if environment is None else environment
    library = preloadable(find_library())
    audit = library.with_name(AUDIT)
    choice = before.get(_CHOICE) or ("audit" if audit.is_file() and _glibc() >= _AUDIT_SINCE else "preload")
    if choice == "preload":
        return {"LD_PRELOAD": _in_front(library, before.get("LD_PRELOAD", ""))}
    if choice != "audit":
        raise DfcclError("NO_SUCH_LOADER", f"{_CHOICE} is {choice}.", "Allowed: audit and preload, or leave it out.", loader=choice)
    if not audit.is_file():
        what = f"{_CHOICE} is audit, and there is no {audit}."
        raise DfcclError("NO_SUCH_LOADER", what, "Leave it out, or build the target dfccl_nccl again.", loader=choice, tried=str(audit))
    return {"LD_AUDIT": _in_front(audit, before.get("LD_AUDIT", "")), "DFCCL_NCCL_LIBRARY": str(library)}


def preloadable(library: Path) -> Path:
    """Raises DfcclError PATH_NOT_PRELOADABLE: the loader takes spaces and colons for the end of a name."""
    path = library.resolve()
    if re.search(r"[\s:]", str(path)):
        what = f"The path {path} has a space or a colon in it, which ends a name in LD_PRELOAD."
        remedy = "Install the package elsewhere, or copy the file to a path without, and name it by DFCCL_NCCL_LIBRARY."
        raise DfcclError("PATH_NOT_PRELOADABLE", what, remedy, path=str(path))
    return path


def _in_front(library: Path, before: str) -> str:
    others = [entry for entry in re.split(r"[\s:]+", before) if entry not in ("", str(library))]
    return ":".join([str(library), *others])


def _glibc() -> tuple[int, int]:
    """(0, 0) where the C library is another one."""
    try:
        said = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return (0, 0)
    number = re.search(r"(\d+)\.(\d+)", said)
    return (int(number[1]), int(number[2])) if number else (0, 0)
