import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dfccl_nccl

# Of whoever runs the tests, these would change what is looked at.
for _name in ("DFCCL_NCCL_LIBRARY", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"):
    os.environ.pop(_name, None)


@pytest.fixture
def library():
    """The one that the installed package has brought along."""
    return Path(dfccl_nccl.__file__).parent / "lib" / "libnccl.so.2"


@pytest.fixture
def others(library, tmp_path):
    """A library of NCCL's name that isn't dfccl's."""
    path = tmp_path / "others" / "libnccl.so.2"
    path.parent.mkdir()
    path.write_bytes(library.read_bytes().replace(b"DFCCL_JOIN_TIMEOUT", b"OTHER_JOIN_TIMEOUT"))
    return path


@pytest.fixture
def site(tmp_path, others):
    """A folder of packages with a wheel of NVIDIA's, whose library is there."""
    folder = tmp_path / "site"
    there = folder / "nvidia" / "nccl" / "lib"
    there.mkdir(parents=True)
    shutil.copyfile(others, there / "libnccl.so.2")
    return folder


@pytest.fixture
def command():
    """Runs ``python -m dfccl_nccl`` with these arguments, and these variables beside the environment's."""

    def run(*arguments, **variables):
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        whole = [sys.executable, "-m", "dfccl_nccl", *map(str, arguments)]
        return subprocess.run(whole, env=environment, capture_output=True, text=True, timeout=240, check=False)

    return run
