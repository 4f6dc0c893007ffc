"""Where the C library is that the extension is compiled against and linked with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from .errors import DfcclError

_PACKAGE = Path(__file__).resolve().parent


class Library(NamedTuple):
    include: Path  # has dfccl/dfccl.h
    lib: Path  # has libdfccl.so


def find_library() -> Library:
    """The first of: DFCCL_HOME, the clone that this package is in or was installed from, what pkg-config knows.

    Raises DfcclError LIBRARY_NOT_FOUND, which lists what was tried.
    """
    home = os.environ.get("DFCCL_HOME")
    if home:
        prefix = Path(home).absolute()  # the extension has its path in it, and may be loaded in another folder
        found = _installed(prefix) or _built(prefix)
        if found:
            return found
        raise DfcclError(
            "LIBRARY_NOT_FOUND",
            f"DFCCL_HOME is {home}, and there is no include/dfccl/groups.h with a lib/libdfccl.so, nor a clone that is built.",
            'Set it to the prefix of "cmake --install", or to a clone after "npm run build".',
            home=home,
        )
    tried = []
    for clone in _clones():
        found = _built(clone)
        if found:
            return found
        tried.append(f"{clone}/build/release/libdfccl.so")
    found = _of_pkg_config()
    if found:
        return found
    tried.append("pkg-config dfccl")
    raise DfcclError(
        "LIBRARY_NOT_FOUND",
        f"libdfccl isn't found: tried DFCCL_HOME, which isn't set, and {', '.join(tried)}.",
        'Build it in a clone with "npm run build", or install it (docs/c.md) and set DFCCL_HOME to its prefix.',
        tried=tried,
    )


def _clones() -> list[Path]:
    note = _PACKAGE / "clone.txt"
    noted = [Path(note.read_text(encoding="utf-8").strip())] if note.is_file() else []
    return [*noted, *(folder for folder in _PACKAGE.parents if _header(folder / "native" / "include"))]


def _header(include: Path) -> bool:
    return (include / "dfccl" / "groups.h").is_file()


def _checked(include: Path, lib: Path) -> Library | None:
    return Library(include, lib) if _header(include) and (lib / "libdfccl.so").exists() else None


def _built(clone: Path) -> Library | None:
    return _checked(clone / "native" / "include", clone / "build" / "release")


def _installed(prefix: Path) -> Library | None:
    return _checked(prefix / "include", prefix / "lib") or _checked(prefix / "include", prefix / "lib64")


def _of_pkg_config() -> Library | None:
    if shutil.which("pkg-config") is None:
        return None
    paths = [
        subprocess.run(["pkg-config", f"--variable={name}", "dfccl"], capture_output=True, text=True, check=False).stdout.strip()
        for name in ("includedir", "libdir")
    ]
    return _checked(Path(paths[0]), Path(paths[1])) if all(paths) else None
