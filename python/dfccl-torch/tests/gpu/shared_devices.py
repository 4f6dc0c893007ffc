"""Programs written for a GPU a rank, on fewer: a device's number counts on beyond the last, round and round.

Only what Python hands to torch is renumbered: a program that looks at a tensor's device finds the one it is really on.
"""

import torch
from torch.overrides import TorchFunctionMode


class Renumbered(TorchFunctionMode):
    """Devices in the arguments of torch's functions, for the thread that enters it."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if isinstance(kwargs.get("device"), int | str | torch.device):
            kwargs["device"] = self.there(kwargs["device"])
        if getattr(func, "__name__", "") in ("to", "cuda") and len(args) > 1:
            args = (args[0], *(self.there(one) for one in args[1:2]), *args[2:])
        return func(*args, **kwargs)

    def there(self, device):
        if isinstance(device, bool) or not isinstance(device, int | str | torch.device):
            return device
        if isinstance(device, int):
            return device % self.count
        named = torch.device(device)
        if named.type != "cuda" or named.index is None:
            return device
        return torch.device("cuda", named.index % self.count)


def share_devices(ranks):
    """Lets this process and those forked from it see a GPU for each rank, without a use of CUDA, which no fork survives."""
    count = torch.cuda._device_count_nvml()
    if count < 1:
        return
    torch.cuda.is_available = lambda: True
    if count >= ranks:
        return
    index_of = torch.cuda._get_device_index

    def index_there(device, *arguments, **named):
        index = index_of(device, *arguments, **named)
        return index % count if index >= 0 else index

    torch.cuda._get_device_index = index_there
    torch.nn.parallel.distributed._get_device_index = index_there
    torch.cuda.device_count = lambda: ranks
    Renumbered(count).__enter__()
