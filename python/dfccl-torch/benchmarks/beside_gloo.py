"""Collectives of torch.distributed on the CPU, with dfccl and with Gloo, by turns in the same processes.

    python benchmarks/beside_gloo.py [--ranks 2 4] [--json FILE] [--markdown FILE]

Each turn times one backend for one size, then the other, then the C API in a loop without Python; the figure is the median of all
turns of the slowest rank's time for a call, in microseconds. A call is issued when the one before is over. `bytes` are those of
the tensor that all_reduce and broadcast have, and of the larger one of the others; a rank's part is never less than an element.
"""

import argparse
import json
import multiprocessing
import os
import platform
import secrets
import subprocess
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import torch
from c_api import compile_loop
from measurement import Rank

SIZES = [8, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20, 16 << 20, 64 << 20]
COLUMNS = ("", "bytes", "dfccl, µs", "Gloo, µs", "times faster", "C API, µs", "above it, µs")


def be_rank(rank, ranks, folder, loop, job, options, results):
    here = Rank(rank, ranks, folder, loop, job)
    for row in here.rows(options.sizes, options.turns, options.seconds):
        if rank == 0:
            results.put(row)
    here.end()


def measure(ranks, options):
    """Yields rows as they come."""
    from dfccl_torch.extension import load_extension

    load_extension()  # compiled before ranks wait for each other
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        begin = (folder, compile_loop(folder), f"beside-gloo-{secrets.token_hex(8)}", options, results)
        processes = [context.Process(target=be_rank, args=(rank, ranks, *begin)) for rank in range(ranks)]
        for process in processes:
            process.start()
        left = 5 * len(options.sizes)
        while left:
            while not results._reader.poll(1):
                if any(process.exitcode for process in processes):
                    raise SystemExit("a rank has failed")
            yield results.get()
            left -= 1
        for process in processes:
            process.join()


def cells(row):
    ours, gloo, c_api = (row[way]["median"] for way in ("dfccl", "gloo", "c api"))
    figures = [ours, gloo, gloo / ours, c_api, ours - c_api]
    return [row["collective"], f"{row['bytes']:,}", *(f"{figure:,.1f}" for figure in figures)]


def line(texts, widths):
    aligned = [texts[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(texts[1:], widths[1:], strict=True))]
    return "| " + " | ".join(aligned) + " |"


def table(rows):
    lines = [list(COLUMNS), *(cells(row) for row in rows)]
    widths = [max(3, *(len(texts[i]) for texts in lines)) for i in range(len(COLUMNS))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(lines[0], widths), line(rule, widths), *(line(texts, widths) for texts in lines[1:])])


def machine():
    """What the figures depend on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    git = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    return {
        "cpu": next((text.split(": ")[1] for text in lines if text.startswith("model name")), platform.machine()),
        "cores": os.cpu_count(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "commit": subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip(),
        "time": f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
        "load": os.getloadavg()[0],
    }


def page(about, options, rows):
    command = f"--ranks {' '.join(map(str, options.ranks))} --turns {options.turns} --seconds {options.seconds}"
    parts = [
        "# torch.distributed on a CPU: dfccl beside Gloo",
        f"```\npython python/dfccl-torch/benchmarks/beside_gloo.py {command} --json FILE --markdown FILE\n```",
        f"- {about['cpu']}, {about['cores']} cores, {about['kernel']}, Python {about['python']}, torch {about['torch']}\n"
        f"- commit {about['commit']}, {about['time']}, load before {about['load']:.1f}\n"
        f"- medians of {options.turns} turns of each, by turns in the same processes; the slowest rank's time for a call",
    ]
    for ranks in options.ranks:
        parts.append(f"## {ranks} ranks\n\n{table([row for row in rows if row['ranks'] == ranks])}")
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="in bytes")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.03, help="that a turn of one backend takes, about")
    parser.add_argument("--json", type=Path, help="a file for all figures, with each one's least and most")
    parser.add_argument("--markdown", type=Path, help="a file for the tables")
    options = parser.parse_args()
    about, rows = machine(), []
    for ranks in options.ranks:
        mine = []
        for row in measure(ranks, options):
            mine.append(row)
            print(" ".join(cells(row)), flush=True)
        rows += mine
        print(f"\n{ranks} ranks\n\n{table(mine)}\n", flush=True)
    if options.json:
        whole = {"machine": about, "turns": options.turns, "unit": "microseconds", "rows": rows}
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(page(about, options, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
