"""Tags by parameters: what belongs to a module's parameters goes together in whatever order ranks come to them."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

from .errors import DfcclError
from .tags import tag


class ParameterTags:
    """The names of a model's parameters, to tag by.

    Args:
        name: the model's own, where several have parameters of equal names.
        group: what `tagged_hook` reduces over, as DistributedDataParallel's ``process_group``; the default group.
    """

    def __init__(self, model: torch.nn.Module, name: str = "", group: dist.ProcessGroup | None = None) -> None:
        self.group = group
        # By the parameters and not by their ids, which pass to others when a model is gone.
        self._names = {parameter: f"{name}/{of_it}" for of_it, parameter in model.named_parameters()}

    def of(self, parameters: Iterable[torch.nn.Parameter]) -> str:
        """The tag of these together. Raises DfcclError UNKNOWN_PARAMETER where one isn't the model's."""
        try:
            return " ".join(self._names[parameter] for parameter in parameters)
        except KeyError:
            raise DfcclError(
                "UNKNOWN_PARAMETER",
                "A parameter isn't one of the model that the tags were made of.",
                "Make them of the model that DistributedDataParallel was given, or of that itself.",
            ) from None


def tagged_hook(tags: ParameterTags, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: each bucket's mean, tagged by its parameters.

    Models whose buckets are alike may then come to them in other orders on other ranks, and in threads::

        model.register_comm_hook(dfccl_torch.ParameterTags(model, "generator"), dfccl_torch.tagged_hook)
    """
    with tag(tags.of(bucket.parameters())):
        work = dist.all_reduce(bucket.buffer(), dist.ReduceOp.AVG, group=tags.group, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


class _TaggedCollective:
    """What FSDPModule takes in place of its own: the same under a tag."""

    def __init__(self, name: str) -> None:
        self._name = name

    def allocate(self, size: Any, *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)


class _TaggedAllGather(_TaggedCollective):
    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: dist.ProcessGroup, async_op: bool = False
    ) -> dist.Work | None:
        with tag(self._name):
            return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)


class _TaggedReduceScatter(_TaggedCollective):
    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        op: Any,
        async_op: bool = False,
    ) -> dist.Work | None:
        with tag(self._name):
            return dist.reduce_scatter_tensor(output_tensor, input_tensor, op=op, group=group, async_op=async_op)


def tag_shards(model: torch.nn.Module, name: str = "") -> None:
    """Tags what FSDP2 gathers and scatters by the module that it is for, so that modules that are alike may be gathered in
    another order on each rank: by ``unshard(async_op=True)``, as what is prefetched, or by several threads.

    FSDP2 waits for what it scatters at once, and for what it gathers where nobody has before, so that ranks have to come
    to these in one order. To be called when `fully_shard` has been, on a mesh of one dimension: the sums between replicas
    have no tags.

    Raises DfcclError NOT_SHARDED where no module is, and where this torch can't be told how to gather.
    """
    sharded = [(path, module) for path, module in model.named_modules() if hasattr(module, "set_custom_all_gather")]
    if not sharded:
        raise DfcclError(
            "NOT_SHARDED",
            "No module of the model is sharded by fully_shard, or this torch is older than 2.9.",
            "Call torch.distributed.fsdp.fully_shard first.",
        )
    for path, module in sharded:
        module.set_custom_all_gather(_TaggedAllGather(f"{name}/{path} gathered"))
        module.set_custom_reduce_scatter(_TaggedReduceScatter(f"{name}/{path} scattered"))
