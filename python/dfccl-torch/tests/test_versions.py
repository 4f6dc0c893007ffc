"""What keeps the extension compiling with each torch that it is made for, of which the tests have one."""

import re
from pathlib import Path

import dfccl_torch

# c10d's types of operations in torch 2.9, the oldest; newer ones have more.
OPERATIONS_OF_TORCH_2_9 = set(
    "BROADCAST ALLREDUCE ALLREDUCE_COALESCED REDUCE ALLGATHER _ALLGATHER_BASE ALLGATHER_COALESCED GATHER SCATTER "
    "REDUCE_SCATTER ALLTOALL_BASE ALLTOALL SEND RECV RECVANYSOURCE BARRIER _REDUCE_SCATTER_BASE COALESCED "
    "_ALLREDUCE_SPARSE UNKNOWN".split()
)


def test_the_types_of_operations_are_known_to_the_oldest_torch():
    sources = Path(dfccl_torch.__file__).parent / "csrc"
    used = {name for source in sources.glob("*.?pp") for name in re.findall(r"\bOpType::(\w+)", source.read_text())}
    assert used >= {"ALLREDUCE", "SEND"}
    assert used <= OPERATIONS_OF_TORCH_2_9
