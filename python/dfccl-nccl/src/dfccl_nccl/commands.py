"""``python -m dfccl_nccl``: what it prints, and what its commands do."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from .checks import findings
from .environment import preloadable
from .errors import DfcclError
from .library import find_library
from .nvidia_wheel import find_files, replace, restore
from .start import run

_CODES = "Exit codes: 0 done, 1 it can't be done or a check failed, 2 usage. A program that is run ends with its own."
_RUN_USAGE = "usage: python -m dfccl_nccl run [--] PROGRAM [ARGUMENT ...]"


def main(arguments: Sequence[str]) -> int:
    try:
        # By hand: what follows is the program's, whatever it looks like.
        if arguments[:1] == ["run"]:
            return _run(arguments[1:])
        return _parse(arguments)
    except DfcclError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1


def _run(command: Sequence[str]) -> int:
    if command[:1] == ["--"]:
        command = command[1:]
    elif command[:1] in (["-h"], ["--help"]):
        print(f"{_RUN_USAGE}\n\nStarts a program that finds dfccl's library under NCCL's name, and so does all that it starts.\n\n{_CODES}")
        return 0
    elif command and command[0].startswith("-"):
        command = []  # an option, and there is none
    if not command or command[0] == "":
        print(f"{_RUN_USAGE}\nNo program is named.", file=sys.stderr)
        return 2
    run(command)


def _parse(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dfccl_nccl", description="dfccl's engine under NCCL's name. Without a command: the ways to get it loaded.", epilog=_CODES
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add_parser("run", help="start a program with it: run -- PROGRAM")
    check = commands.add_parser("check", help="whether programs of this Python would get it, and whether it works here")
    check.add_argument("--json", action="store_true", help="what was found, for programs")
    commands.add_parser("path", help="where it is, and nothing else")
    commands.add_parser("replace", help="put it in place of the file of the wheel nvidia-nccl-cu*, which is kept")
    commands.add_parser("restore", help="put NVIDIA's file back")
    said = parser.parse_args(arguments)
    if said.command is None:
        print(_ways())
    elif said.command == "path":
        print(preloadable(find_library()))
    elif said.command == "check":
        return _check(said.json)
    elif said.command == "replace":
        target, kept = replace()
        print(f"{target} is dfccl's now.\nNVIDIA's is kept as {kept}; back: python -m dfccl_nccl restore")
    elif said.command == "restore":
        print(f"{restore()} is NVIDIA's again.")
    return 0


def _ways() -> str:
    library = preloadable(find_library())
    there = [f"    {path}" for path in find_files()] or ["    (this Python has no such wheel)"]
    return "\n".join(
        [
            f"dfccl's libnccl.so.2: {library}",
            "",
            "For a program, and all that it starts:",
            "    python -m dfccl_nccl run -- PROGRAM",
            "For what a shell starts from now on:",
            f"    export LD_PRELOAD={library}",
            "Where NCCL is looked for along LD_LIBRARY_PATH, which PyTorch from PyPI doesn't do:",
            f"    export LD_LIBRARY_PATH={library.parent}",
            "For programs that are told the file (vLLM by VLLM_NCCL_SO_PATH, SGLang by SGLANG_NCCL_SO_PATH):",
            f"    {library}",
            "In place of the file of the wheel nvidia-nccl-cu*, also for what drops environment variables:",
            *there,
            "    python -m dfccl_nccl replace, and back: python -m dfccl_nccl restore",
            "Whether that works here:",
            "    python -m dfccl_nccl check",
        ]
    )


def _check(as_json: bool) -> int:
    found = findings()
    if as_json:
        print(json.dumps([finding._asdict() for finding in found]))
    else:
        for finding in found:
            print(f"{finding.state:<8} {finding.what:<8} {finding.detail}")
            if finding.remedy:
                print(f"{'':<17} {finding.remedy}")
    return 1 if any(finding.state == "failed" for finding in found) else 0
