"""How tensor parallelism takes GPT-2 apart: by heads, and by the feed-forward layer's inner width."""

from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def share_out(model, mesh):
    """Each rank of the mesh keeps its part of every block; their sums meet in two all-reduces a block and direction."""
    for block in model.blocks:
        plan = {f"attention.{name}": ColwiseParallel() for name in ("query", "key", "value")}
        plan["attention.out"] = RowwiseParallel()
        plan["feed_forward.up"] = ColwiseParallel()
        plan["feed_forward.down"] = RowwiseParallel()
        parallelize_module(block, mesh, plan)
    return model
