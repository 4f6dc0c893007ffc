"""NCCL's library on dfccl's engine, for programs that call NCCL and are not to be changed.

    python -m dfccl_nccl                    what to put into LD_PRELOAD, and the other ways
    python -m dfccl_nccl run -- PROGRAM     start a program with it

See docs/nccl.md in the project's repository.
"""

from .environment import variables
from .errors import DfcclError
from .library import find_library

__all__ = ["DfcclError", "find_library", "variables"]
