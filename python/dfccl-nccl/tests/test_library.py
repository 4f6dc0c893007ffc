"""Which file is taken, and which are refused."""

import platform
import re
from importlib import metadata

import pytest

from dfccl_nccl import DfcclError, find_library


def refusal(monkeypatch, path):
    monkeypatch.setenv("DFCCL_NCCL_LIBRARY", str(path))
    with pytest.raises(DfcclError) as refused:
        find_library()
    assert refused.value.remedy in str(refused.value)
    return refused.value


def test_the_packages_own_is_taken(library):
    assert find_library() == library


def glibc_versions(library):
    """All that are named in it."""
    return [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", library.read_bytes())]


def test_the_wheel_is_for_each_python_and_a_glibc_as_new_as_the_library_asks_for(library):
    tag = next(line for line in metadata.distribution("dfccl-nccl").read_text("WHEEL").splitlines() if line.startswith("Tag: "))
    major, minor = max((2, 28), *glibc_versions(library))
    assert tag == f"Tag: py3-none-manylinux_{major}_{minor}_{platform.machine()}"


def test_the_one_that_the_environment_names_comes_first(monkeypatch, library, tmp_path):
    copy = tmp_path / "libnccl.so.2"
    copy.write_bytes(library.read_bytes())
    monkeypatch.setenv("DFCCL_NCCL_LIBRARY", str(copy))
    assert find_library() == copy


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01" + bytes(100), b"\x7fELF\x02\x01" + b"\xff" * 100])
def test_what_is_no_library_is_refused(monkeypatch, tmp_path, content):
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(content)
    error = refusal(monkeypatch, path)
    assert error.code in ("LIBRARY_UNREADABLE", "LIBRARY_OF_OTHER_MACHINE")
    assert error.facts["path"] == str(path)


@pytest.mark.parametrize("left", [40, 64, 1000, 100_000])
def test_part_of_a_library_is_refused(monkeypatch, library, tmp_path, left):
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(library.read_bytes()[:left])
    assert refusal(monkeypatch, path).code == "LIBRARY_UNREADABLE"


def test_a_folder_is_refused(monkeypatch, tmp_path):
    assert refusal(monkeypatch, tmp_path).code == "LIBRARY_UNREADABLE"


def test_a_library_for_other_machines_is_refused(monkeypatch, library, tmp_path):
    content = bytearray(library.read_bytes())
    content[18:20] = (243).to_bytes(2, "little")  # RISC-V
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(content)
    error = refusal(monkeypatch, path)
    assert (error.code, error.facts["here"]) == ("LIBRARY_OF_OTHER_MACHINE", platform.machine())


def test_a_library_that_calls_itself_otherwise_is_refused(monkeypatch, library, tmp_path):
    path = tmp_path / "libnccl.so.2"
    path.write_bytes(library.read_bytes().replace(b"libnccl.so.2\0", b"libnccl.so.9\0"))
    error = refusal(monkeypatch, path)
    assert (error.code, error.facts["soname"]) == ("LIBRARY_NAMED_OTHERWISE", "libnccl.so.9")


def test_nvidias_is_refused(monkeypatch, others):
    assert refusal(monkeypatch, others).code == "LIBRARY_NOT_OURS"
