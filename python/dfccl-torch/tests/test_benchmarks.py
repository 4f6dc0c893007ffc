"""The benchmarks do what they say; how fast anything is, no test asks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dfccl_torch.library import find_library

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


def test_the_benchmark_beside_gloo_measures_each_collective_in_each_way(tmp_path):
    outputs = [f"--{kind}={tmp_path}/{kind}" for kind in ("json", "markdown")]
    command = [sys.executable, str(FOLDER / "beside_gloo.py"), "--ranks=2", "--sizes", "8", "4096", "--turns=1", "--seconds=0.001"]
    done = subprocess.run([*command, *outputs], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "json").read_text())["rows"]
    names = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
    assert [(row["bytes"], row["collective"]) for row in rows] == [(size, name) for size in (8, 4096) for name in names]
    for row in rows:
        for way in ("dfccl", "gloo", "c api"):
            assert 0 < row[way]["least"] <= row[way]["median"] <= row[way]["most"], row
    lines = (tmp_path / "markdown").read_text().splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(rows) and len({len(line) for line in table}) == 1, table


def test_the_benchmark_of_two_libraries_measures_each_collective_with_both():
    library = str(find_library().lib)
    command = [sys.executable, str(FOLDER / "two_libraries.py"), library, library, "--ranks=2", "--sizes", "8", "4096", "--turns=1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    names = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
    assert [row[:3] for row in rows] == [["2", name, size] for size in ("8", "4,096") for name in names]
    assert all(float(figure) > 0 for row in rows for figure in row[3:])


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["--turns=0"], "argument --turns: '0' is no number from 1 on"),
        (["--ranks=-2"], "argument --ranks: '-2' is no number from 1 on"),
        (["--models=none"], "argument --models: invalid choice: 'none'"),
        (["--json=/nosuch/x"], "argument --json: /nosuch/x can't be written (No such file or directory)"),
    ],
)
def test_the_benchmark_of_training_refuses_what_makes_no_sense_before_it_begins(options, answer):
    command = [sys.executable, str(FOLDER / "training.py"), "--device=cpu", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 2 and answer in done.stderr, done.stderr


def test_the_benchmark_of_training_trains_in_each_way(tmp_path):
    output = tmp_path / "json"
    command = [sys.executable, str(FOLDER / "training.py"), "--models=small", "--device=cpu", "--iterations=2", "--turns=1"]
    done = subprocess.run([*command, f"--json={output}"], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads(output.read_text())
    ways = [(row["way"], row["backend"]) for row in rows]
    both = [(way, backend) for way in ("ddp", "fsdp2") for backend in ("dfccl", "gloo")]
    assert sorted(ways) == sorted([("alone", "-"), *both, ("gradients", "dfccl"), ("shuffled", "dfccl")])
    for row in rows:
        assert 0 < row["least"] <= row["ms"] <= row["most"], row
        assert row["weightsAreEqual"] is (None if row["way"] in ("alone", "fsdp2") else True), row
        assert row["fromDdp"] is None if row["way"] != "fsdp2" else row["fromDdp"] < 1e-4, row
