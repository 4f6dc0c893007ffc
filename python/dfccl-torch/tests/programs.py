"""Runs the programs of examples/pytorch on some ranks."""

import io
import os
import re
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import torch.distributed as dist
from ranks import gather_results

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "pytorch"

SMALL_GPT2 = ["--layers", 2, "--width", 48, "--batch", 4, "--rate", 0.01]
SMALL_RESNET = ["--size", 32, "--batch", 4, "--rate", 0.001]


def losses_of(printed):
    """Of each step that any rank has printed, its loss."""
    return {int(step): loss for step, loss in re.findall(r"step (\d+): loss ([\d.]+)", "".join(printed))}


def launch(file, *arguments, ranks=2, torchrun=(), limit_s=240):
    """The file by torchrun itself, on a port that it chooses: a CompletedProcess."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks, *torchrun]
    texts = [str(argument) for argument in [*command, EXAMPLES / file, *arguments]]
    return subprocess.run(texts, capture_output=True, text=True, timeout=limit_s, check=False)


def run_program(file, *arguments, ranks=2, limit_s=240):
    """What the file, a path within examples/pytorch, prints on each rank: as with torchrun, in processes that have torch loaded.

    Fails with the traceback of the first rank that raises, and where one doesn't end in time or crashes.
    """
    # Where torchrun's agent has its store too.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    texts = [str(argument) for argument in arguments]
    return gather_results(ranks, _be_rank, (str(EXAMPLES / file), texts, ranks, store.port), limit_s)


def _be_rank(rank, file, arguments, ranks, port):
    os.environ.update(
        RANK=str(rank),
        LOCAL_RANK=str(rank),
        WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=str(port),
        TORCHELASTIC_USE_AGENT_STORE="True",
        TORCHELASTIC_RESTART_COUNT="0",
    )
    sys.argv = [file, *arguments]
    sys.path.insert(0, str(Path(file).parent))
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(file, run_name="__main__")
    return printed.getvalue()
