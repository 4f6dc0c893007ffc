"""Means of gradients, each begun as soon as the gradient is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakMethod

import torch
import torch.distributed as dist

from .errors import DfcclError
from .tags import tag


def _call(method: WeakMethod, argument: object) -> None:
    alive = method()
    if alive is not None:
        alive(argument)


class GradientAverage:
    """Averages a model's gradients over a group, each under its parameter's name: in whatever order a rank's graph comes to
    them, and whatever parts of it that graph leaves out::

        gradients = dfccl_torch.GradientAverage(model)
        for inputs in data:
            loss(model(inputs)).backward()  # each gradient's mean begins while the others are computed
            gradients.wait()
            optimizer.step()
            optimizer.zero_grad()

    The parameters have to be equal on the ranks when it is made, and every rank has to wait equally often. Not for
    parameters that `fully_shard` or DistributedDataParallel look after, nor for sparse gradients.

    Args:
        model: whose parameters that need a gradient are meant.
        group: of the backend "dfccl"; the default group.
        name: told apart from other models by, where parameters are called the same.
    """

    def __init__(self, model: torch.nn.Module, group: dist.ProcessGroup | None = None, name: str = "") -> None:
        self._group = group
        self._tags = {parameter: f"{name}/{of_it}" for of_it, parameter in model.named_parameters() if parameter.requires_grad}
        self._works: dict[torch.nn.Parameter, dist.Work] = {}
        self._is_paused = False
        # Weakly: a parameter keeps its hooks where Python's collector doesn't look, and they would keep the parameters.
        begin = WeakMethod(self._begin)
        self._hooks = [parameter.register_post_accumulate_grad_hook(lambda one: _call(begin, one)) for parameter in self._tags]

    def wait(self) -> None:
        """Until every gradient is the mean of all ranks' (on a GPU, the current stream waits). What this rank's graph has
        left out counts as zeros, on a rank that has left it out as well. A parameter that was frozen since, on all ranks, is
        left alone; for one that needs a gradient since, make it anew.

        Raises DistBackendError where another rank doesn't come in time, which names it, as any collective does; wait() may
        be called again then.
        """
        if self._is_paused:
            raise DfcclError("PAUSED", "wait() was called inside paused().", "Call it outside.")
        for parameter in self._tags:
            if parameter not in self._works:
                if parameter.grad is None:
                    if not parameter.requires_grad:
                        continue
                    parameter.grad = torch.zeros_like(parameter)
                self._begin(parameter)
        # Where another rank doesn't come in time, they may be waited for again.
        for work in self._works.values():
            work.wait()
        self._works = {}

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Gradients inside are accumulated only: their means are begun by the next backward pass, or by `wait`."""
        self._is_paused, before = True, self._is_paused
        try:
            yield
        finally:
            self._is_paused = before

    def remove(self) -> None:
        """Leaves the parameters alone from now on."""
        for hook in self._hooks:
            hook.remove()

    def _begin(self, parameter: torch.nn.Parameter) -> None:
        if self._is_paused:
            return
        if parameter in self._works:
            name = self._tags[parameter]
            raise DfcclError(
                "GRADIENT_IN_USE",
                f"The gradient of {name} was added to while its mean was under way.",
                "Call wait() after each backward pass, or make all but the last one inside paused().",
                parameter=name,
            )
        with tag(self._tags[parameter]):
            self._works[parameter] = dist.all_reduce(parameter.grad, dist.ReduceOp.AVG, group=self._group, async_op=True)
