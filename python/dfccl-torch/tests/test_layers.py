"""What torch builds on process groups gives with dfccl what it gives with Gloo: the quick layers here, all in the long tier."""

import functools
import os

import pytest
from layers_compared import OTHERS, QUICK, TOLERANCES
from layers_values import agree, as_bytes
from ranks import run_ranks

IS_LONG = os.environ.get("DFCCL_TEST_TIER") == "long"


def results_of(layer, rank, size):
    return as_bytes(layer(rank, size))


@pytest.mark.parametrize("layer", QUICK + OTHERS if IS_LONG else QUICK, ids=lambda layer: layer.__name__)
def test_layers_give_what_they_give_with_gloo(layer):
    tolerance = TOLERANCES.get(layer, 0)
    call = functools.partial(results_of, layer)
    with_dfccl, with_gloo = run_ranks(4, call), run_ranks(4, call, backend="gloo")
    for rank, (mine, theirs) in enumerate(zip(with_dfccl, with_gloo, strict=True)):
        assert len(mine) == len(theirs) > 0
        pairs = enumerate(zip(mine, theirs, strict=True))
        different = [i for i, (one, other) in pairs if not agree(one, other, tolerance)]
        assert not different, f"rank {rank}: results {different} of {len(mine)}"
