"""One rank's part of beside_gloo.py: the same collectives by turns through each way that there is."""

import statistics
import time
import warnings

import torch
import torch.distributed as dist
from c_api import KINDS, CApi

BACKENDS = ("dfccl", "gloo")
WAYS = (*BACKENDS, "c api")
WARM_UP_CALLS, FEWEST_CALLS, MOST_CALLS = 5, 3, 2000


def tensors_of(name, size, ranks):
    """What a rank has, what all have together, and a second one of that size; `size` bytes are what a rank holds in all."""
    count = max(1, size // 4)
    if name not in ("all_reduce", "broadcast"):
        count = max(1, count // ranks)
    return torch.zeros(count), torch.zeros(count * ranks), torch.zeros(count * ranks)


def torch_call(name, tensors, group):
    mine, whole, other = tensors
    return {
        "all_reduce": lambda: dist.all_reduce(mine, group=group),
        "all_gather": lambda: dist.all_gather_into_tensor(whole, mine, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(mine, whole, group=group),
        "all_to_all": lambda: dist.all_to_all_single(other, whole, group=group),
        "broadcast": lambda: dist.broadcast(mine, 0, group=group),
    }[name]


def seconds_for(call, times):
    begin = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - begin) / times


class Rank:
    """Of a group for each backend, and of a world of the C API."""

    def __init__(self, rank, ranks, folder, loop, job):
        import dfccl_torch  # noqa: F401: registers the backend

        torch.set_num_threads(1)
        warnings.simplefilter("ignore", FutureWarning)  # torch 2.13 calls its own functions by new names as well
        self.ranks = ranks
        dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
        self._groups = {backend: dist.new_group(backend=backend) for backend in BACKENDS}
        self._c_api = CApi(loop, job, rank, ranks)

    def end(self):
        dist.barrier(self._groups["gloo"])
        dist.destroy_process_group()

    def rows(self, sizes, turns, seconds_a_turn):
        """A dictionary for each collective and size, the same on each rank; times are in microseconds."""
        for size in sizes:
            for name in KINDS:
                times = self._turns(name, tensors_of(name, size, self.ranks), turns, seconds_a_turn)
                yield {"collective": name, "bytes": size, "ranks": self.ranks, **{way: summary(times[way]) for way in WAYS}}

    def _turns(self, name, tensors, turns, seconds_a_turn):
        ways = {backend: self._way(torch_call(name, tensors, group)) for backend, group in self._groups.items()}
        ways["c api"] = lambda times: self._c_api.seconds_for(name, tensors, times)
        calls = {}
        for way, run in ways.items():
            self._together(run, WARM_UP_CALLS)
            once = self._together(run, FEWEST_CALLS)
            calls[way] = min(MOST_CALLS, max(FEWEST_CALLS, int(seconds_a_turn / once)))
        taken = {way: [] for way in WAYS}
        for turn in range(turns):
            for way in WAYS if turn % 2 else reversed(WAYS):
                taken[way].append(self._together(ways[way], calls[way]))
        return taken

    @staticmethod
    def _way(call):
        return lambda times: seconds_for(call, times)

    def _together(self, run, times):
        """The slowest rank's, which is the collective's."""
        dist.barrier(self._groups["gloo"])
        taken = torch.tensor([run(times)], dtype=torch.float64)
        dist.all_reduce(taken, dist.ReduceOp.MAX, group=self._groups["gloo"])
        return taken.item()


def summary(seconds):
    micros = [taken * 1e6 for taken in seconds]
    return {"median": statistics.median(micros), "least": min(micros), "most": max(micros)}
