"""What the header of a shared library says, read without loading it: for which machine it is, what it is called, what it needs."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine

_DYNAMIC, _VERSIONS_NEEDED = 6, 0x6FFFFFFE  # sh_type
_NEEDED, _SONAME = 1, 14  # d_tag


class Elf(NamedTuple):
    machine: str
    soname: str | None
    needed: tuple[str, ...]
    glibc: tuple[int, int]  # the oldest that has all it asks for; (0, 0) where it asks for none


class NotElf(ValueError):
    """It is no shared library of 64 bits, or only a part of one."""


def read_elf(path: Path) -> Elf:
    """Raises NotElf, and OSError where the file can't be read."""
    with path.open("rb") as file:
        try:
            return _read(file, path.stat().st_size)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise NotElf(f"what it says of itself makes no sense ({error})") from error


def _read(file: BinaryIO, bytes_: int) -> Elf:
    header = file.read(64)
    if header[:6] != b"\x7fELF\x02\x01":  # of 64 bits, the lowest byte first
        raise NotElf("no ELF file of 64 bits")
    (machine,) = struct.unpack_from("<H", header, 18)
    (table,) = struct.unpack_from("<Q", header, 40)
    size, count = struct.unpack_from("<HH", header, 58)

    def part(offset: int, length: int) -> bytes:
        if offset + length > bytes_:
            raise NotElf("only a part of it is there")
        file.seek(offset)
        return file.read(length)

    sections = []
    for i in range(count):
        _, kind, _, _, offset, length, link, info, _, _ = struct.unpack("<IIQQQQIIQQ", part(table + i * size, 64))
        sections.append((kind, offset, length, link, info))

    def content(section: tuple[int, ...]) -> bytes:
        return part(section[1], section[2])

    soname: str | None = None
    needed: list[str] = []
    glibc = (0, 0)
    for section in sections:
        kind, link = section[0], section[3]
        if kind == _DYNAMIC:
            strings = content(sections[link])
            for tag, value in struct.iter_unpack("<qQ", content(section)):
                if tag == _SONAME:
                    soname = _text(strings, value)
                elif tag == _NEEDED:
                    needed.append(_text(strings, value))
        elif kind == _VERSIONS_NEEDED:
            glibc = max([glibc, *_glibc_versions(content(section), content(sections[link]), section[4])])
    return Elf(MACHINES.get(machine, f"machine {machine}"), soname, tuple(needed), glibc)


def _text(strings: bytes, at: int) -> str:
    return strings[at:].partition(b"\0")[0].decode()


def _glibc_versions(table: bytes, strings: bytes, libraries: int) -> list[tuple[int, int]]:
    """Of a list of libraries, each with a list of the versions that are asked of it."""
    found = []
    at = 0
    for _ in range(libraries):
        _, versions, _, first, step = struct.unpack_from("<HHIII", table, at)
        entry = at + first
        for _ in range(versions):
            _, _, _, name, following = struct.unpack_from("<IHHII", table, entry)
            number = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", _text(strings, name))
            if number:
                found.append((int(number[1]), int(number[2])))
            entry += following
        if step == 0:  # the last one
            break
        at += step
    return found
