"""What a program's environment has to say, so that it loads dfccl's library."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .errors import DfcclError
from .library import find_library


def variables(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """What to add to ``environment`` (this process's), for programs that are started some other way than by ``run``.

    What was preloaded before stays, behind it. Raises DfcclError as find_library and preloadable do.
    """
    library = str(preloadable(find_library()))
    before = (os.environ if environment is None else environment).get("LD_PRELOAD", "")
    others = [entry for entry in re.split(r"[\s:]+", before) if entry not in ("", library)]
    return {"LD_PRELOAD": ":".join([library, *others])}


def preloadable(library: Path) -> Path:
    """Raises DfcclError PATH_NOT_PRELOADABLE: the loader takes spaces and colons for the end of a name."""
    path = library.resolve()
    if re.search(r"[\s:]", str(path)):
        what = f"The path {path} has a space or a colon in it, which ends a name in LD_PRELOAD."
        remedy = "Install the package elsewhere, or copy the file to a path without, and name it by DFCCL_NCCL_LIBRARY."
        raise DfcclError("PATH_NOT_PRELOADABLE", what, remedy, path=str(path))
    return path
