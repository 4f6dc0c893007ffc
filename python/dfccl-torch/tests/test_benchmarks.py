"""The benchmarks do what they say; how fast anything is, no test asks."""

import json
import subprocess
import sys
from pathlib import Path

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
