"""A program that finds dfccl's library before any other of its name, and so does all that it starts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from typing import NoReturn

from .environment import variables
from .errors import DfcclError


def run(command: Sequence[str]) -> NoReturn:
    """Becomes the program: signals, terminal and exit code are its own.

    Raises DfcclError NO_PROGRAM, and what find_library and preloadable raise.
    """
    added = variables()
    name = command[0]
    try:
        program = shutil.which(name)
        if program is None:
            raise FileNotFoundError(2, "it isn't there, or isn't executable")
        os.execve(program, list(command), {**os.environ, **added})
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        remedy = "Type its path, or put its folder into PATH."
        raise DfcclError("NO_PROGRAM", f"{name} can't be started: {why}.", remedy, program=name) from error
