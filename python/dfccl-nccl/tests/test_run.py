"""Programs that are started with the library in NCCL's place."""

import os
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


def test_who_opens_nvidias_by_its_path_gets_this_one_alone(command, library, others):
    """As PyTorch does before it loads its own libraries."""
    opens = f"import ctypes; ctypes.CDLL({str(others)!r})\n{WHOSE}"
    assert command("run", "--", sys.executable, "-c", opens).stdout == f"{library}\n"
    preloaded = command("run", "--", sys.executable, "-c", opens, DFCCL_NCCL_LOADER="preload")
    assert preloaded.stdout == f"{' '.join(sorted([str(library), str(others)]))}\n"


def test_what_is_no_nccl_is_left_alone(command, library, others):
    for name in ("libnccl.so.3", "libnccl-net.so.2", "libnccl.so.20"):
        other = others.with_name(name)
        shutil.copyfile(others, other)
        opens = f"import ctypes; ctypes.CDLL({str(other)!r}); print({str(other)!r} in open('/proc/self/maps').read())"
        assert command("run", "--", sys.executable, "-c", opens).stdout == "True\n"


def test_the_nccl_that_takes_over_is_opened_by_the_library_alone(command, library, others):
    """By the same path as a program opens it, PyTorch for one."""
    opens = f"import ctypes; opened = ctypes.CDLL({str(others)!r})\n{WHOSE}"
    takes_over = f"{opens}\nopened.ncclGetVersion(ctypes.byref(ctypes.c_int()))\n{WHOSE}"
    done = command("run", "--", sys.executable, "-c", takes_over, DFCCL_REAL_NCCL=others, DFCCL_REAL_NCCL_FOR="all")
    assert done.stdout == f"{library}\n{' '.join(sorted([str(library), str(others)]))}\n"


def test_others_stay_audited_and_preloaded(library):
    audit = library.with_name("libdfccl_nccl_audit.so")
    assert variables({"LD_AUDIT": f"other.so:{audit}"}) == {"LD_AUDIT": f"{audit}:other.so", "DFCCL_NCCL_LIBRARY": str(library)}
    preload = {"DFCCL_NCCL_LOADER": "preload", "LD_PRELOAD": f"libm.so.6:{library} libdl.so.2"}
    assert variables(preload) == {"LD_PRELOAD": f"{library}:libm.so.6:libdl.so.2"}


def test_an_older_system_preloads(monkeypatch, library):
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.34")
    assert variables({}) == {"LD_PRELOAD": str(library)}


def test_a_loader_that_cannot_be_is_refused(monkeypatch, library, tmp_path):
    for choice, alone in (("sorcery", False), ("audit", True)):
        if alone:
            shutil.copyfile(library, tmp_path / "libnccl.so.2")
            monkeypatch.setenv("DFCCL_NCCL_LIBRARY", str(tmp_path / "libnccl.so.2"))
            assert variables({}) == {"LD_PRELOAD": str(tmp_path / "libnccl.so.2")}
        with pytest.raises(DfcclError) as refused:
            variables({"DFCCL_NCCL_LOADER": choice})
        assert (refused.value.code, refused.value.facts["loader"]) == ("NO_SUCH_LOADER", choice)


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
