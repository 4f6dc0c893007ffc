"""Everything is in pyproject.toml, but for the library, which the wheel carries, and what that says of the wheel's platform.

The library is the file that DFCCL_NCCL_LIBRARY names; else the clone's, which is built where CUDA's toolkit is.
"""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))
sys.dont_write_bytecode = True  # beside the sources, which may be a reader's clone

from dfccl_nccl.elf import read_elf  # noqa: E402
from dfccl_nccl.errors import DfcclError  # noqa: E402
from dfccl_nccl.library import AUDIT, NAME, check_library  # noqa: E402

FLOOR = (2, 28)  # of glibc, which the engine keeps (native/cmake/glibc_floor.cmake); CUDA's runtime in it may ask for a newer one


@functools.cache
def library() -> Path:
    named = os.environ.get("DFCCL_NCCL_LIBRARY")
    build = Path(__file__).resolve().parents[2] / "build" / "release"
    built = build / "with-gpu" / NAME
    if not named and shutil.which("nvcc") and (build / "CMakeCache.txt").is_file():
        subprocess.run(["cmake", "--build", str(build), "--target", "dfccl_nccl"], check=True)
    found = Path(named).absolute() if named else built
    if not found.is_file():
        raise DfcclError(
            "LIBRARY_NOT_FOUND",
            f"There is no {NAME} for the wheel at {found}.",
            "Name one by DFCCL_NCCL_LIBRARY, or build it in a clone with CUDA's toolkit: npm start, then pip wheel again.",
            tried=[str(found)],
        )
    check_library(found)
    return found


def carry(source: Path, target: Path) -> None:
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", "-o", str(target), str(source)], check=True)
    else:
        shutil.copyfile(source, target)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return  # the clone's own is found as it is built
        found = library()
        lib = Path(self.build_lib) / "dfccl_nccl" / "lib"
        lib.mkdir(parents=True, exist_ok=True)
        carry(found, lib / NAME)
        # Without it programs get the library by LD_PRELOAD.
        audit = found.resolve().with_name(AUDIT)
        if audit.is_file():
            carry(audit, lib / AUDIT)


class WheelOfAPlatform(bdist_wheel):
    """For each Python, as nothing in it is compiled against one; for machines as the library's, with a glibc that has what it asks for."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        elf = read_elf(library())
        major, minor = max(elf.glibc, FLOOR)
        # Of the compiler's library nothing is said in a wheel's name.
        system = "linux" if "libstdc++.so.6" in elf.needed else f"manylinux_{major}_{minor}"
        return "py3", "none", f"{system}_{elf.machine}"


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfAPlatform})
