"""The file of the wheels nvidia-nccl-cu*, where PyTorch from PyPI looks for NCCL, and dfccl's in its place.

That lasts also for what drops environment variables before it starts its processes.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from .errors import DfcclError
from .library import NAME, find_library, is_ours

# PyTorch opens whatever is called libnccl.so and a number there: what is kept has another name.
_KEPT = "nvidia-libnccl.so.2.kept"


def find_files() -> list[Path]:
    """Each libnccl.so.2 of such a wheel that this Python would find, as PyTorch looks for it: along sys.path."""
    return [path for folder in sys.path if (path := Path(folder or ".").resolve() / "nvidia" / "nccl" / "lib" / NAME).exists()]


def replace() -> tuple[Path, Path]:
    """Puts a copy of dfccl's library where NVIDIA's is, which it keeps beside it. Once more, or after an update of that wheel:
    the same. Returns both paths.

    Raises DfcclError NO_NVIDIA_WHEEL, NOT_WRITABLE, and what find_library raises.
    """
    library = find_library()
    target = _target()
    kept = target.with_name(_KEPT)
    try:
        # Copied first, so that there is a whole library at any time; and never written into: installers link files of several
        # environments to one.
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".dfccl-", delete=False) as copy:
            path = Path(copy.name)
        try:
            shutil.copyfile(library, path)
            path.chmod(0o644)
            if not is_ours(target):
                _keep(target, kept)
            os.replace(path, target)
        finally:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise _not_writable(target, error) from error
    return target, kept


def _keep(target: Path, kept: Path) -> None:
    kept.unlink(missing_ok=True)
    try:
        os.link(target, kept, follow_symlinks=False)
    except OSError:
        # A file system without links: for a moment there is none.
        os.rename(target, kept)


def restore() -> Path:
    """Puts NVIDIA's library back. Returns its path.

    Raises DfcclError NO_NVIDIA_WHEEL, NOT_REPLACED or NOT_WRITABLE.
    """
    target = _target()
    kept = target.with_name(_KEPT)
    if not is_ours(target):
        raise DfcclError("NOT_REPLACED", f"{target} isn't dfccl's.", "There is nothing to restore.", path=str(target))
    if not kept.exists():
        what = f"{target} is dfccl's, and NVIDIA's is no longer at {kept}."
        remedy = "Install the wheel again: pip install --force-reinstall --no-deps nvidia-nccl-cu13, or -cu12."
        raise DfcclError("NOT_REPLACED", what, remedy, path=str(target), kept=str(kept))
    try:
        os.replace(kept, target)
    except OSError as error:
        raise _not_writable(target, error) from error
    return target


def _target() -> Path:
    files = find_files()
    if not files:
        what = f"This Python has no nvidia/nccl/lib/{NAME}: no wheel nvidia-nccl-cu12 or -cu13."
        remedy = 'Use the Python of the program that is to call NCCL; or "python -m dfccl_nccl run -- PROGRAM", which needs no such file.'
        raise DfcclError("NO_NVIDIA_WHEEL", what, remedy, searched=list(sys.path))
    return files[0]


def _not_writable(target: Path, error: OSError) -> DfcclError:
    remedy = 'Do it as the owner of that folder; or "python -m dfccl_nccl run -- PROGRAM", which changes no file.'
    return DfcclError("NOT_WRITABLE", f"{target} can't be replaced: {error.strerror}.", remedy, path=str(target))
