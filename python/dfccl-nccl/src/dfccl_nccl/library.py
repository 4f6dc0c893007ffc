"""Which libnccl.so.2 is dfccl's, and where it lies."""

from __future__ import annotations

import mmap
import os
import platform
from pathlib import Path

from .elf import NotElf, read_elf
from .errors import DfcclError

NAME = "libnccl.so.2"
AUDIT = "libdfccl_nccl_audit.so"  # beside it
_PACKAGE = Path(__file__).resolve().parent
_BUILD = 'Install the wheel of dfccl-nccl, or name the file by DFCCL_NCCL_LIBRARY; a clone builds it: "cmake --build build/release --target dfccl_nccl".'


def find_library() -> Path:
    """The first of: DFCCL_NCCL_LIBRARY, the one that this package brings along, that of the clone that it is in.

    Raises DfcclError LIBRARY_NOT_FOUND, which lists what was tried, and what check_library raises.
    """
    named = os.environ.get("DFCCL_NCCL_LIBRARY")
    places = [Path(named).absolute()] if named else [_PACKAGE / "lib" / NAME, *_of_clones()]
    found = next((place for place in places if place.exists()), None)
    if found is None:
        tried = [str(place) for place in places]
        raise DfcclError("LIBRARY_NOT_FOUND", f"There is no {NAME} of dfccl's at {', nor at '.join(tried)}.", _BUILD, tried=tried)
    check_library(found)
    return found


def check_library(path: Path) -> None:
    """Raises DfcclError LIBRARY_UNREADABLE, LIBRARY_OF_OTHER_MACHINE, LIBRARY_NAMED_OTHERWISE or LIBRARY_NOT_OURS."""
    try:
        elf = read_elf(path)
        is_own = is_ours(path)
    except (OSError, NotElf) as error:
        raise DfcclError("LIBRARY_UNREADABLE", f"{path} can't be read as a shared library: {error}.", _BUILD, path=str(path)) from error
    facts = {"path": str(path)}
    here = platform.machine()
    if elf.machine != here:
        what = f"{path} is for {elf.machine}, and this is {here}."
        raise DfcclError("LIBRARY_OF_OTHER_MACHINE", what, _BUILD, **facts, machine=elf.machine, here=here)
    if elf.soname != NAME:
        # What was linked with NCCL would then get NCCL's own library too, and each call whichever has it.
        what = f"{path} calls itself {elf.soname}, not {NAME}."
        raise DfcclError("LIBRARY_NAMED_OTHERWISE", what, _BUILD, **facts, soname=elf.soname)
    if not is_own:
        raise DfcclError("LIBRARY_NOT_OURS", f"{path} is a {NAME}, and not dfccl's.", _BUILD, **facts)


def is_ours(path: Path) -> bool:
    """By what only dfccl's file says. Raises OSError."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"DFCCL_JOIN_TIMEOUT") >= 0


def _of_clones() -> list[Path]:
    clones = [folder for folder in _PACKAGE.parents if (folder / "cuda" / "nccl_api" / "symbols.txt").is_file()]
    return [clone / "build" / "release" / "with-gpu" / NAME for clone in clones]
