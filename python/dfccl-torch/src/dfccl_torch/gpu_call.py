"""Other ranks' operations on GPUs begin once each rank's GPU is known: a rank that has none for long says which is its own."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Protocol

import torch
import torch.distributed as dist

# A look asks the store, which all ranks do: of a thousand ranks, each once a second.
_PERIOD_S = 0.2
_PERIOD_OF_A_RANK_S = 0.001
_LAST_LOOK_S = 1.0


class GpuCall(Protocol):
    """The extension's, of one universe."""

    def is_over(self) -> bool: ...
    def is_made(self) -> bool: ...
    def tell(self, device: int) -> None: ...
    def join(self) -> bool: ...


class Listener:
    """A thread that answers one universe's call, and ends with the universe."""

    def __init__(self, call: GpuCall, ranks: int) -> None:
        self._call = call
        self._period_s = max(_PERIOD_S, ranks * _PERIOD_OF_A_RANK_S)
        self._stopped = threading.Event()
        self._known: int | None = None
        self._is_told = False
        self._is_joining = False
        self._thread = threading.Thread(target=self._listen, name="dfccl: GPU call", daemon=True)
        _listeners.add(self)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def join(self, limit_s: float) -> None:
        """Waits until the thread has ended: so long where it is joining the others, and else a second for its store."""
        self._thread.join(limit_s if self._is_joining else min(limit_s, _LAST_LOOK_S))

    def _listen(self) -> None:
        try:
            while not self._stopped.wait(self._period_s) and not self._is_answered():
                pass
        except RuntimeError as error:
            warnings.warn(f"dfccl: other ranks use GPUs, and this one can't join them: {error}", RuntimeWarning, stacklevel=1)
        finally:
            _listeners.discard(self)

    def _is_answered(self) -> bool:
        try:
            if self._call.is_over():
                return True
            if not self._is_told and not self._call.is_made():
                return False
        except RuntimeError:  # the store's process has left, and a rank that calls would say so
            return True
        self._is_told = self._is_told or self._tell()
        if not self._is_told:
            return False
        self._is_joining = True
        try:
            return self._call.join()
        except (dist.DistStoreError, dist.DistNetworkError):
            return True
        finally:
            self._is_joining = False

    def _tell(self) -> bool:
        """What is told can't be taken back, so it has to be the same at two looks: a process may be on its way to its GPU."""
        last, self._known = self._known, known_gpu()
        if self._known is None or self._known != last:
            return False
        torch.cuda.init()
        self._call.tell(self._known)
        return True


_listeners: set[Listener] = set()


def stop_listeners(limit_s: float) -> None:
    """Before the interpreter ends: a thread that comes back to it later would end the process by an abort."""
    listeners = list(_listeners)
    for listener in listeners:
        listener.stop()
    end = time.monotonic() + limit_s
    for listener in listeners:
        listener.join(max(0.0, end - time.monotonic()))


def known_gpu() -> int | None:
    """The GPU that is this process's, as far as can be told without asking it; None where it may be any."""
    bound = getattr(dist.group.WORLD, "bound_device_id", None)
    if bound is not None:
        return int(bound.index)
    count = torch.cuda.device_count()
    if count == 1:
        return 0
    used = [index for index in range(count) if torch._C._cuda_hasPrimaryContext(index)]
    local = os.environ.get("LOCAL_RANK", "")
    # With one of another number the process may only have gone past it, on its way to its own.
    if len(used) != 1 or (local.isdecimal() and int(local) < count and int(local) != used[0]):
        return None
    return used[0]
