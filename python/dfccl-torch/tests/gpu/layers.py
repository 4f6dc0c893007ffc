"""What torch's own layers give on GPUs with dfccl is what they give on CPUs with Gloo: all that the tests compare.

DFCCL_CHECK_LAYERS="meshes objects" is these alone. Each backend has processes of its own, as torch's functions keep the first
default group that they see.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import processes

sys.path.append(str(Path(__file__).parent.parent))
RANKS = 4
# Where a GPU computes what isn't whole numbers, other than a CPU does.
TOLERANCE = 1e-4
# Sums that cancel, 16 bits, and steps of optimizers that divide by how large a gradient was, lose more of it.
TOLERANCES = {"hybrid_shards": 2e-2, "tensor_parallel": 1e-3, "checkpoints": 1e-2, "data_parallel": 1e-2}


def results_of_layers(rank, ranks, device):
    """Into a file for each rank: what each layer gives, or the error it ends with."""
    from layers_compared import OTHERS, QUICK
    from layers_values import as_bytes, put_on

    wanted = os.environ.get("DFCCL_CHECK_LAYERS", "").split()
    put_on(device.type)
    results = {}
    # With torch 2.11 Gloo hung in a pipeline once, and what failed it was lost for all behind it.
    for layer in sorted(QUICK + OTHERS, key=lambda layer: layer.__name__ == "pipelines"):
        name = layer.__name__
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        try:
            results[name] = as_bytes(layer(rank, ranks))
        except Exception as error:  # noqa: BLE001: the other layers are looked at, too
            results[name] = f"{type(error).__name__}: {str(error)[:600]}"
        if rank == 0:
            print(f"{name} on {device.type}, {time.monotonic() - began:.1f} s", flush=True)
    put_on("cpu")
    with open(f"{os.environ['DFCCL_CHECK_RESULTS']}/{rank}", "wb") as file:
        pickle.dump(results, file)


def started(folder, **environment):
    Path(folder).mkdir()
    environment = {**os.environ, **environment, "DFCCL_CHECK_RESULTS": str(folder)}
    return subprocess.Popen([sys.executable, __file__, "ranks"], env=environment)


def compare(mine, theirs):
    """@return what is wrong, a line each, and what Gloo gives nothing to compare with."""
    from layers_values import agree

    wrong, uncompared = [], []
    for name, right in theirs.items():
        found = mine[name]
        if isinstance(found, str):
            wrong.append(f"{name}: {found}")
            continue
        if isinstance(right, str):
            uncompared.append(f"{name}: right as far as it tells, and with Gloo: {right}")
            continue
        tolerance = TOLERANCES.get(name, TOLERANCE)
        pairs = list(zip(found, right, strict=False))
        different = [i for i, (one, other) in enumerate(pairs) if not agree(one, other, tolerance)]
        # Messages from any rank are CPUs' alone.
        if different or not found or (len(found) != len(right) and name != "messages"):
            wrong.append(f"{name}: {different[:20]} of {len(found)} and {len(right)} differ")
            wrong += [f"  {readable(found[i])}\n  {readable(right[i])}" for i in different[:1]]
    return wrong, uncompared


def readable(result):
    import numpy

    if not isinstance(result, tuple) or len(result) != 3 or not isinstance(result[2], bytes):
        return result
    return result[0], result[1], numpy.frombuffer(result[2])[:8].tolist()


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = [started(f"{folder}/dfccl"), started(f"{folder}/gloo", DFCCL_CHECK_BACKEND="gloo", DFCCL_CHECK_DEVICE="cpu")]
        codes = [run.wait() for run in runs]
        if any(codes):
            sys.exit(f"the layers with dfccl ended with {codes[0]}, with Gloo with {codes[1]}")
        wrong, uncompared, count = [], [], 0
        for rank in range(RANKS):
            mine, theirs = (pickle.loads(Path(f"{folder}/{backend}/{rank}").read_bytes()) for backend in ("dfccl", "gloo"))
            lines, unknown = compare(mine, theirs)
            wrong += [f"rank {rank}: {line}" for line in lines]
            uncompared += [f"rank {rank}: not compared: {line}" for line in unknown]
            count += len(theirs) - len(unknown)
    print("\n".join(wrong + uncompared), flush=True)
    lost = [line for line in uncompared if "pipelines" not in line]
    if not wrong and not lost and count:
        print(f"{count} results of layers, of {RANKS} ranks, are what they are with Gloo", flush=True)
    sys.exit(1 if wrong or lost or not count else 0)


if __name__ == "__main__":
    if "RANK" in os.environ or "ranks" in sys.argv:
        processes.run_check(results_of_layers, ranks=RANKS)
    else:
        main()
