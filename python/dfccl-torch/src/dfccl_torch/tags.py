"""Names for operations that are alike in all else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .extension import load_extension


@contextmanager
def tag(name: str) -> Iterator[None]:
    """Matches what this thread issues inside with what others issue under the same name alone.

    Operations of a group go together if kind, type, size, operator and root are equal; those that are equal in all of it,
    in the order in which a rank issues them. Under different names they may be issued in any order::

        with dfccl_torch.tag("layer3"):
            dist.all_reduce(gradient)

    Names may be nested; the innermost counts, and "" is no name.
    """
    extension = load_extension()
    before = extension.set_tag(name)
    try:
        yield
    finally:
        extension.set_tag(before)
