"""The demonstrations as a reader runs them: what Gloo does, and what dfccl does."""

import subprocess
import sys

import pytest
from programs import EXAMPLES


def demonstrate(name):
    """What each backend's two ranks answer."""
    program = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return {
        backend: [line.split(": ", 1)[1] for line in lines if line.startswith(f"{backend:6} rank")]
        for backend in ("gloo", "dfccl")
    }


@pytest.mark.parametrize("name", ["async_checkpoint", "opposite_orders", "sends_first"])
def test_where_gloo_hangs_dfccl_completes(name):
    told = demonstrate(name)
    assert len(told["gloo"]) == 2 and all(answer.startswith("hangs") for answer in told["gloo"]), told
    assert len(told["dfccl"]) == 2 and not any("hangs" in answer or "crashed" in answer for answer in told["dfccl"]), told


def test_where_gloo_adds_up_what_does_not_belong_together_dfccl_is_right():
    told = demonstrate("bucket_order")
    right = "embedding 2, layers 20, head 200"
    assert told["dfccl"] == [right, right] and right not in told["gloo"], told


def test_two_threads_are_right_with_dfccl():
    # What Gloo makes of it, chance decides.
    assert demonstrate("two_threads")["dfccl"] == ["200 of 200 sums of weights are right, 200 of 200 sums of metrics are right"] * 2
