"""The setting that has collectives on GPUs be kernels in streams: what it refuses, and that it leaves CPUs alone."""

import os
import subprocess
import sys

import pytest

ONE_RANK = """
import sys, torch, torch.distributed as dist, dfccl_torch
dist.init_process_group("dfccl", init_method=f"file://{sys.argv[1]}/store", rank=0, world_size=1)
x = torch.ones(3)
dist.all_reduce(x)
print(dist.all_reduce(x, async_op=True).get_future().wait()[0].tolist())
dist.destroy_process_group()
"""


def run(folder, **settings):
    environment = {**os.environ, **settings}
    command = [sys.executable, "-c", ONE_RANK, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize("setting", ["2", "yes", "-1"])
def test_a_setting_that_makes_no_sense_is_refused(tmp_path, setting):
    done = run(tmp_path, DFCCL_IN_STREAMS=setting)
    assert done.returncode == 1
    assert f'DFCCL_IN_STREAMS is "{setting}". It may be 1' in done.stderr


def test_it_can_not_be_combined_with_positions(tmp_path):
    done = run(tmp_path, DFCCL_IN_STREAMS="1", DFCCL_MATCH="position")
    assert done.returncode == 1
    assert "DFCCL_IN_STREAMS=1 and DFCCL_MATCH=position are both set. Leave one of them out" in done.stderr


@pytest.mark.parametrize("setting", ["1", "0", ""])
def test_on_a_cpu_everything_is_as_ever(tmp_path, setting):
    done = run(tmp_path, DFCCL_IN_STREAMS=setting)
    assert (done.returncode, done.stdout.split("\n")[0]) == (0, "[1.0, 1.0, 1.0]"), done.stderr
