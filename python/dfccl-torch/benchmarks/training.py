"""Data-parallel training with dfccl, with what else there is, and with the communication taken out, by turns in the same processes.

    python benchmarks/training.py [--models gpt2 ...] [--ways ddp ...] [--ranks 2] [--json FILE]

A rank is a process with GPU rank % GPUs; `--device cpu` tries it without. Each turn trains for some iterations in each way with
each backend; the figure is the median of all turns, in milliseconds an iteration of the slowest rank. NCCL takes part where
there is a GPU for each rank. `alone` is the same network, trained by each rank for itself. In the end all ranks' weights have
to be equal to the bit; those that are sharded, about what DistributedDataParallel's are with the same backend, where that takes
part. DFCCL_IN_STREAMS=1 holds for all of a run.

ddp: DistributedDataParallel. gradients: dfccl_torch.GradientAverage, a mean for each gradient. shuffled: the same in an order
that each rank draws anew. fsdp2: fully_shard for each layer.
"""

import argparse
import faulthandler
import hashlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from beside_gloo import line
from training_ways import MODELS, WAYS, Task, Trainer

PATIENCE_S = 60  # without an iteration, each of which takes seconds at most
ONLY_OURS = ("gradients", "shuffled")  # the others have no tags
BATCH = {"resnet50": 32, "vit_b_16": 32, "gpt2": 8, "small": 4}
WARM_UP = 4
FARTHEST = 0.01  # sums in another order, a few dozen iterations long


class Rank:
    """One rank's part: a trainer for each way and backend, and their turns."""

    def __init__(self, rank, options, folder):
        import dfccl_torch  # noqa: F401: registers the backend

        warnings.simplefilter("ignore", FutureWarning)
        torch.set_num_threads(2)
        self._rank, self._options = rank, options
        self._iterations = 0
        self._device = torch.device("cpu")
        backends = ["dfccl", "gloo"]
        if options.device == "cuda":
            gpus = torch.cuda.device_count()
            self._device = torch.device("cuda", rank % gpus)
            torch.cuda.set_device(self._device)
            if gpus >= options.ranks:
                backends.insert(1, "nccl")
        patience = timedelta(seconds=60)
        dist.init_process_group(
            "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=options.ranks, timeout=patience
        )
        self._groups = {name: dist.new_group(backend=name) for name in backends if name in options.backends}

    def trainings(self):
        """(way, backend), the network alone first."""
        yield "alone", "-"
        for way in self._options.ways:
            for backend in self._groups:
                if backend == "dfccl" or way not in ONLY_OURS:
                    yield way, backend

    def rows(self, model):
        """A row for each training, the same on all ranks."""
        trainers, failed = {}, {}
        for key in self.trainings():
            with self._watched(f"{model}, {key[0]}, {key[1]}, the first iterations"):
                try:
                    trainers[key], reason = self._trainer(model, *key), ""
                except Exception as error:  # what a backend hasn't got
                    reason = str(error).splitlines()[0]
                reasons = [""] * self._options.ranks
                dist.all_gather_object(reasons, reason)
            if any(reasons):
                trainers.pop(key, None)
                failed[key] = next(filter(None, reasons))
        taken = {key: [] for key in trainers}
        for turn in range(self._options.turns):
            for key in list(trainers)[:: 1 if turn % 2 else -1]:
                with self._watched(f"{model}, {key[0]}, {key[1]}, turn {turn}"):
                    taken[key].append(self._turn(trainers[key]))
        for key in [*trainers, *failed]:
            row = {"model": model, "way": key[0], "backend": key[1]}
            if key[1] == "dfccl" and os.environ.get("DFCCL_IN_STREAMS") == "1":
                row["backend"] = "dfccl, in streams"
            if key in failed:
                yield {**row, "failed": failed[key]}
                continue
            isWhole = key[0] not in ("alone", "fsdp2")
            ddp = trainers.get(("ddp", key[1])) if key[0] == "fsdp2" else None
            yield {
                **row,
                "ms": round(statistics.median(taken[key]), 2),
                "least": round(min(taken[key]), 2),
                "most": round(max(taken[key]), 2),
                "weightsAreEqual": self._areEqual(trainers[key]) if isWhole else None,
                "fromDdp": trainers[key].farthest_from(ddp) if ddp else None,
            }

    @contextmanager
    def _watched(self, what):
        """Where no iteration ends for too long, the rank tells what it waits for, and the stacks of its threads, and ends."""
        isOver = threading.Event()

        def look():
            import dfccl_torch

            seen = -1
            while not isOver.wait(PATIENCE_S):
                if self._iterations != seen:
                    seen = self._iterations
                    continue
                print(f"rank {self._rank} is stuck in {what}:\n{dfccl_torch.explain()}", file=sys.stderr, flush=True)
                faulthandler.dump_traceback(all_threads=True)
                os._exit(1)

        watch = threading.Thread(target=look, daemon=True)
        watch.start()
        try:
            yield
        finally:
            isOver.set()
            watch.join()

    def _trainer(self, model, way, backend):
        batch = self._options.batch or BATCH[model]
        made = Trainer(Task(model, batch, self._device, self._rank), way, self._groups.get(backend), self._device, self._rank)
        for _ in range(WARM_UP):
            made.step()
            self._iterations += 1
        return made

    def _turn(self, trainer):
        self._settle()
        begin = time.perf_counter()
        for _ in range(self._options.iterations):
            trainer.step()
            self._iterations += 1
        if self._device.type == "cuda":
            torch.cuda.synchronize()
        took = torch.tensor((time.perf_counter() - begin) * 1000 / self._options.iterations)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        return float(took)

    def _settle(self):
        if self._device.type == "cuda":
            torch.cuda.synchronize()
        dist.barrier()

    @staticmethod
    def _areEqual(trainer):
        digest = hashlib.sha256()
        for weight in trainer.weights():
            digest.update(weight.cpu().contiguous().numpy().tobytes())
        digests = [None] * dist.get_world_size()
        dist.all_gather_object(digests, digest.hexdigest())
        return len(set(digests)) == 1


def be_rank(rank, options, folder, results):
    if options.machines > 1:
        os.environ.update(DFCCL_HOST=f"machine {rank * options.machines // options.ranks}", MASTER_ADDR="127.0.0.1")
    here = Rank(rank, options, folder)
    for model in options.models:
        for row in here.rows(model):
            if rank == 0:
                results.put(row)
        if here._device.type == "cuda":
            torch.cuda.empty_cache()
    if rank == 0:
        results.put(None)
    dist.barrier()
    dist.destroy_process_group()


def measure(options):
    """Yields rows as they come."""
    from dfccl_torch.extension import load_extension

    load_extension()  # compiled before ranks wait for each other
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        processes = [context.Process(target=be_rank, args=(rank, options, folder, results)) for rank in range(options.ranks)]
        for process in processes:
            process.start()
        while True:
            while not results._reader.poll(1):
                if any(process.exitcode for process in processes):
                    for process in processes:
                        process.kill()
                    raise SystemExit("a rank has failed")
            row = results.get()
            if row is None:
                break
            yield row
        for process in processes:
            process.join()


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def writable(text):
    """Tried before minutes are spent on what is written there."""
    try:
        open(text, "a", encoding="utf-8").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} can't be written ({error.strerror})") from error
    return Path(text)


def cells(row, alone):
    if "failed" in row:
        return [row["model"], row["way"], row["backend"], "–", "–", "–", row["failed"][:60]]
    equal = {True: "equal", False: "DIFFER", None: ""}[row["weightsAreEqual"]]
    if row["fromDdp"] is not None:
        equal = f"{row['fromDdp']:.0e} from DDP's"
    spread = f"{row['least']:.1f} to {row['most']:.1f}"
    times = f"{row['ms'] / alone:.2f}" if alone else "–"
    return [row["model"], row["way"], row["backend"], f"{row['ms']:.1f}", spread, times, equal]


def table(rows):
    alone = {row["model"]: row.get("ms") for row in rows if row["way"] == "alone"}
    heads = ["model", "way", "backend", "ms", "least to most", "of alone", "weights"]
    lines = [heads, *(cells(row, alone[row["model"]]) for row in rows)]
    widths = [max(3, *(len(texts[i]) for texts in lines)) for i in range(len(heads))]
    rule = [":" + "-" * (widths[0] - 1), *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(lines[0], widths), line(rule, widths), *(line(texts, widths) for texts in lines[1:])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS[:3]))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--backends", nargs="+", choices=("dfccl", "nccl", "gloo"), default=["dfccl", "nccl", "gloo"])
    parser.add_argument("--ranks", type=positive, default=2)
    parser.add_argument("--machines", type=positive, default=1, help="make-believe ones, which meet on loopback; dfccl's only")
    parser.add_argument("--batch", type=positive, help="a rank's; default: by the model")
    parser.add_argument("--iterations", type=positive, default=10, help="of a turn")
    parser.add_argument("--turns", type=positive, default=3)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--json", type=writable, help="a file for all figures")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("PyTorch sees no GPU here; --device cpu trains without")
    rows = []
    for row in measure(options):
        rows.append(row)
        print(json.dumps(row), flush=True)
    print(f"\n{options.ranks} ranks, {options.turns} turns of {options.iterations} iterations\n\n{table(rows)}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if any(row.get("weightsAreEqual") is False or (row.get("fromDdp") or 0) > FARTHEST for row in rows):
        raise SystemExit("weights differ")


if __name__ == "__main__":
    main()
