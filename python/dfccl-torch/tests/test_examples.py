"""The trainings and demonstrations of examples/pytorch, small and for a few steps; whole programs are run in long/."""

import runpy
import sys
import warnings

import pytest
import torch
from programs import EXAMPLES, SMALL_GPT2, SMALL_RESNET, launch, losses_of, run_program
from ranks import run_ranks


def train(name, *arguments, ranks=2):
    """Its losses, which are Gloo's to the last of six digits."""
    file = f"training/{name}.py"
    losses = losses_of(run_program(file, *arguments, ranks=ranks))
    assert losses == losses_of(run_program(file, "--backend", "gloo", *arguments, ranks=ranks))
    return losses


@pytest.mark.parametrize(
    ("name", "ranks"),
    [("fsdp2_gpt2", 2), ("tensor_parallel_gpt2", 2), ("pipeline_gpt2", 2), ("moe_gpt2", 2), ("two_dimensional_gpt2", 4)],
)
def test_gpt2_learns_as_with_gloo(name, ranks):
    losses = train(name, *SMALL_GPT2, "--steps", 4, ranks=ranks)
    assert list(losses) == [1, 2, 3, 4] and float(losses[4]) < float(losses[1])


def test_resnet_50_learns_as_with_gloo():
    assert list(train("ddp_resnet50", *SMALL_RESNET, "--steps", 3)) == [1, 2, 3]


def write_images(folder):
    """Eight of each of two colours."""
    from PIL import Image

    for name, colour in (("dark", (20, 20, 60)), ("light", (220, 200, 180))):
        (folder / name).mkdir(parents=True)
        for i in range(8):
            Image.new("RGB", (48, 40), tuple(part + i for part in colour)).save(folder / name / f"{i}.png")


def goes_on(name, *arguments, checkpoint):
    """That a training has the same losses, whether or not it ends and begins again after its second step."""
    program = (f"training/{name}.py", *arguments)
    whole = losses_of(run_program(*program, "--steps", 4))
    begun, rest = (
        losses_of(run_program(*program, "--every", 2, "--checkpoint", checkpoint, "--steps", steps)) for steps in (2, 4)
    )
    assert list(begun) == [1, 2] and list(rest) == [3, 4]
    assert {**begun, **rest} == whole


def test_resnet_50_learns_from_a_folder_of_images_and_goes_on_from_a_checkpoint(tmp_path):
    write_images(tmp_path / "images")
    goes_on("ddp_resnet50", "--images", tmp_path / "images", *SMALL_RESNET, checkpoint=tmp_path / "resnet.pt")


def test_gpt2_goes_on_from_a_checkpoint_of_fsdp2(tmp_path):
    goes_on("fsdp2_gpt2", *SMALL_GPT2, checkpoint=tmp_path / "gpt2")


def test_torchrun_starts_the_ranks_again_when_one_was_killed(tmp_path):
    options = ["--checkpoint", tmp_path, "--every", 2, "--steps", 5]
    done = launch("training/fsdp2_gpt2.py", *SMALL_GPT2, *options, "--kill-at", 4, torchrun=["--max-restarts", 1])
    assert "(exitcode: -9)" in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    steps = [int(line.split(":")[0].removeprefix("step ")) for line in done.stdout.splitlines()]
    # Whether rank 0 still tells of its third step before it is ended, chance decides.
    assert steps in ([1, 2, 3, 3, 4, 5], [1, 2, 3, 4, 5]), done.stdout


def demonstrate(rank, size, name):
    sys.path.insert(0, str(EXAMPLES))
    # What this torch or another has given up, a demonstration doesn't show.
    warnings.simplefilter("error", FutureWarning)
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["program"](rank, size, torch.device("cpu"))


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("async_checkpoint", ["120 of 120 sums are right, the last of 3 checkpoints has 80 steps behind it"] * 2),
        ("bucket_order", ["embedding 2, layers 20, head 200"] * 2),
        ("opposite_orders", ["all-reduce 2, all-gather 0 and 1"] * 2),
        ("sends_first", ["received 1", "received 0"]),
        ("two_threads", ["200 of 200 sums of weights are right, 200 of 200 sums of metrics are right"] * 2),
    ],
)
def test_demonstrations_complete(name, answers):
    assert run_ranks(2, demonstrate, name) == answers
