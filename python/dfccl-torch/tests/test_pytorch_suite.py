"""PyTorch's own suite for backends, of which the quick tests are run here; all of them with DFCCL_TEST_TIER=long."""

import os
import subprocess
import sys
from pathlib import Path

# Parts of names, which select some 30 of the 90 tests that pass with Gloo: a test of each kind of call.
QUICK = [
    "test_all_gather_full_group",
    "test_all_gather_into_cat",
    "test_all_gather_object_default",
    "test_all_reduce_coalesced_sum",
    "test_all_reduce_full_group",
    "test_all_reduce_group_",
    "test_all_reduce_min",
    "test_all_reduce_product",
    "test_barrier_full_group",
    "test_broadcast_full_group",
    "test_gather_full_group",
    "test_get_rank_size_full_group",
    "test_irecv",
    "test_isend",
    "test_reduce_full_group",
    "test_reduce_sum",
    "test_scatter_full_group",
    "test_send_recv_with_tag",
    "test_sparse_all_reduce_sum",
    "test_batch_isend_irecv_gloo",
    "test_undefined_grad_parity",
    "test_sync_params_no_buffers",
]


def run_suite(*arguments, least):
    """That what is listed fails, and nothing else, and at least so many pass."""
    command = [sys.executable, str(Path(__file__).parent / "pytorch_suite.py"), "--as-gloo", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2400, check=False)
    told = [line for line in done.stdout.splitlines() if " passed" in line]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert int(told[-1].split(" passed")[0]) >= least, told
    assert "no longer fails" not in done.stdout, done.stdout


def test_what_passes_with_gloo_passes():
    if os.environ.get("DFCCL_TEST_TIER") == "long":
        run_suite(least=89)
    else:
        run_suite(*QUICK, least=26)
