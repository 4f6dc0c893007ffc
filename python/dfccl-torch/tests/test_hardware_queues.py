"""What the import asks CUDA for, before CUDA has begun."""

import os
import subprocess
import sys

import pytest

VARIABLE = "CUDA_DEVICE_MAX_CONNECTIONS"


@pytest.mark.parametrize(("told", "expected"), [(None, "32"), ("1", "1")])
def test_as_many_queues_as_there_can_be_unless_the_program_says_otherwise(told, expected):
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if told is not None:
        environment[VARIABLE] = told
    code = f"import os, dfccl_torch; print(os.environ[{VARIABLE!r}])"
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [expected]
