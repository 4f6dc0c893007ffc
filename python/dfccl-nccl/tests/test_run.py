"""Programs that are started with the library in NCCL's place."""

import shutil
import sys
from pathlib import Path

import pytest

from dfccl_nccl import DfcclError, variables

CALLERS = Path(__file__).resolve().parents[3] / "cuda" / "test" / "callers"
# Asks for NCCL as programs do, by its name, and tells which file that was.
WHOSE = """
import ctypes
ctypes.CDLL("libnccl.so.2").ncclGetVersion
print(*sorted({line.split()[5] for line in open("/proc/self/maps") if "libnccl.so" in line}))
"""


def test_a_program_gets_the_library_under_nccls_name(command, library):
    done = command("run", "--", sys.executable, "-c", WHOSE)
    assert (done.stdout, done.stderr) == (f"{library}\n", "")


def test_what_the_program_starts_gets_it_too(command, library):
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WHOSE!r}], check=True)"
    assert command("run", sys.executable, "-c", starts).stdout == f"{library}\n"


def test_ranks_of_an_unchanged_program_communicate(command):
    done = command("run", "--", sys.executable, "-B", CALLERS / "serving.py", "libnccl.so.2")
    assert done.returncode == 0, done.stderr


def test_the_exit_code_is_the_programs(command):
    assert command("run", "--", "sh", "-c", "exit 7").returncode == 7
    assert command("run", "--", "sh", "-c", "kill -TERM $$").returncode == -15


def test_options_of_the_program_are_its_own(command):
    assert command("run", "printf", "%s,", "--help", "--", "-x").stdout == "--help,--,-x,"


def test_others_stay_preloaded(command, library):
    done = command("run", "--", "printenv", "LD_PRELOAD", LD_PRELOAD=f"libm.so.6:{library} libdl.so.2")
    assert done.stdout == f"{library}:libm.so.6:libdl.so.2\n"


def test_programs_started_by_other_programs_are_told_the_variables(library):
    assert variables({}) == {"LD_PRELOAD": str(library)}
    assert variables({"LD_PRELOAD": "libm.so.6"}) == {"LD_PRELOAD": f"{library}:libm.so.6"}


def test_a_program_that_cannot_be_started_is_named(command, tmp_path):
    no_program = tmp_path / "no-program"
    no_program.write_bytes(b"\x7fELF nothing")
    no_program.chmod(0o755)
    for name in ("no-such-program-of-anybody", str(tmp_path), str(no_program)):
        done = command("run", "--", name)
        assert done.returncode == 1
        assert done.stderr.startswith(f"NO_PROGRAM: {name} can't be started: "), done.stderr


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_a_path_that_the_loader_takes_for_two_is_refused(monkeypatch, library, tmp_path, name):
    path = tmp_path / name / "libnccl.so.2"
    path.parent.mkdir()
    shutil.copyfile(library, path)
    monkeypatch.setenv("DFCCL_NCCL_LIBRARY", str(path))
    with pytest.raises(DfcclError) as refused:
        variables({})
    assert refused.value.code == "PATH_NOT_PRELOADABLE"
