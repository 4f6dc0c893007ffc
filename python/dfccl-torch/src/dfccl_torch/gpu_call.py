"""Other ranks' operations on GPUs begin once each rank's GPU is known: a rank that has none for long says which is its own."""

from __future__ import annotations

import os
import threading
import warnings
from typing import Protocol

import torch
import torch.distributed as dist

# A look asks the store, which all ranks do: of a thousand ranks, each once a second.
_PERIOD_S = 0.2
_PERIOD_OF_A_RANK_S = 0.001


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
        self._thread = threading.Thread(target=self._listen, name="dfccl: GPU call", daemon=True)
        _listeners.add(self)
        self._thread.start()

    def stop(self, limit_s: float) -> None:
        """Returns when the thread has ended, or so many seconds later."""
        self._stopped.set()
        self._thread.join(limit_s)

    def _listen(self) -> None:
        try:
            is_told = False
            while not self._stopped.wait(self._period_s) and not self._call.is_over():
                is_told = is_told or (self._call.is_made() and self._tell())
                if is_told and self._call.join():
                    break
        except (dist.DistStoreError, dist.DistNetworkError):
            pass  # the store's process has left, and a rank that calls would say so
        except RuntimeError as error:
            warnings.warn(f"dfccl: other ranks use GPUs, and this one can't join them: {error}", RuntimeWarning, stacklevel=1)
        finally:
            _listeners.discard(self)

    def _tell(self) -> bool:
        device = known_gpu()
        if device is None:
            return False
        torch.cuda.init()
        self._call.tell(device)
        return True


_listeners: set[Listener] = set()


def stop_listeners(limit_s: float) -> None:
    """Before the interpreter ends: a thread that comes back to it later would end the process by an abort."""
    for listener in list(_listeners):
        listener.stop(limit_s)


def known_gpu() -> int | None:
    """The GPU that is this process's, as far as can be told without asking it; None where it may be any."""
    bound = dist.distributed_c10d._get_default_group().bound_device_id if dist.is_initialized() else None
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
