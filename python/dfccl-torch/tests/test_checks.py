"""The checks of gpu/, tried on the CPU as far as they find something there that the other tests don't."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from dfccl_torch.library import find_library

FOLDER = Path(__file__).parent
ENVIRONMENT = {**os.environ, "DFCCL_CHECK_DEVICE": "cpu", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("name", ["exit_without_end", "lost_rank"])
def test_checks_of_processes_that_end(name):
    command = [sys.executable, str(FOLDER / "gpu" / f"{name}.py")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_script_unpacks_the_library_and_tells_what_failed(tmp_path):
    with tarfile.open(tmp_path / "binaries.tar.xz", "w:xz", preset=0) as packed:
        packed.add((find_library().lib / "libdfccl.so").resolve(), "bin/libdfccl.so.0")
    command = [str(FOLDER / "gpu.sh"), str(tmp_path / "bin"), str(tmp_path / "out"), "nothing", "streams"]
    environment = {**ENVIRONMENT, "PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stdout
    assert done.stdout.splitlines() == [
        "FAILED nothing: there is no such check",
        "skipped streams: it is about streams, which a CPU hasn't got",
        "2 checks, 1 failed",
    ], done.stdout
    assert (tmp_path / "out" / "results.txt").read_text() == done.stdout
