"""PyTorch's own suite for backends, torch.testing._internal.distributed.distributed_test, on two ranks.

    python tests/pytorch_suite.py [--backend gloo] [--results FILE.json] [PART OF A TEST'S NAME ...]

Prints each test with what became of it, and totals. Ends with 1 where one failed that isn't among EXCEPTIONS below, or one of them
passed, or none did, or, with --as-gloo, one is skipped that pytorch_suite_skips.json hasn't got, where PyTorch's reasons are: on two
ranks, with torch 2.13 or 2.14, and without a GPU. Takes two minutes on two cores; --as-gloo is what covers most.

With --as-nccl what the suite keeps for NCCL by its name, on GPUs, which ranks share where there is none for each; --part 2/5 is the
second of five parts of it, as on a GPU most of a test's time is its processes' beginning. It needs --start spawn.
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import sys
import tempfile
import types
import unittest

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--backend", default="dfccl")
parser.add_argument("--ranks", default="2")
parser.add_argument("--results", help="a file for {test: {outcome, reason}}")
parser.add_argument("--as-gloo", action="store_true", help="also what the suite keeps for Gloo by its name")
parser.add_argument("--as-nccl", action="store_true", help="what it keeps for NCCL by its name, on GPUs")
parser.add_argument("--part", default="1/1", help="which part of how many")
parser.add_argument("--start", default="fork", choices=("fork", "spawn"), help="how ranks' processes begin")
parser.add_argument("parts", nargs="*")
arguments = parser.parse_args()

if __name__ == "__main__":  # else a rank's process, which loads this file as well
    folder = tempfile.TemporaryDirectory()
    os.environ["TEMP_DIR"] = folder.name
os.environ.update(
    BACKEND=arguments.backend,
    WORLD_SIZE=arguments.ranks,
    DISTRIBUTED_TESTS_DEFAULT_TIMEOUT="90",
    OMP_NUM_THREADS="1",
)

if importlib.util.find_spec("expecttest") is None:
    # torch.testing imports it for tests that write their own expectations, of which this suite has none.
    sys.modules["expecttest"] = types.SimpleNamespace(TestCase=unittest.TestCase)

import torch  # noqa: E402: the suite reads the variables when it is imported

if arguments.as_nccl:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu"))
    from shared_devices import share_devices

    share_devices(int(arguments.ranks))
    # Some ask for a group of "nccl".
    new_group = torch.distributed.new_group

    def new_group_here(*given, backend=None, **named):
        return new_group(*given, backend=arguments.backend if backend == "nccl" else backend, **named)

    torch.distributed.new_group = new_group_here
from torch.testing._internal import common_distributed  # noqa: E402

import dfccl_torch  # noqa: E402, F401

# "gpu" and "cuda" are asked for by tests that run on CPUs as well; those that need a device look for one.
for feature in ("ddp", "subgroup", "gpu", "cuda", "plugin"):
    common_distributed.DistTestCases.backend_feature[feature].add("dfccl")


class LikeAnother(str):
    """A backend's name that the suite, where it looks for another's, takes for that."""

    other = "nccl" if arguments.as_nccl else "gloo"

    def __eq__(self, other):
        return str.__eq__(self, other) or other == self.other

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.other)


class Environment(type(os.environ)):
    """What the suite reads its backend from while it is imported."""

    def __getitem__(self, name):
        value = super().__getitem__(name)
        return LikeAnother(value) if name == "BACKEND" else value


plain = type(os.environ)
if arguments.as_gloo or arguments.as_nccl:
    os.environ.__class__ = Environment
from torch.testing._internal.distributed import distributed_test  # noqa: E402

os.environ.__class__ = plain

if arguments.backend == "dfccl":
    from dfccl_torch.extension import load_extension

    load_extension()  # before ranks wait for each other


# With --as-gloo, of what passes with Gloo: what dfccl refuses, and why.
EXCEPTIONS = {
    "test_ddp_logging_data_cpu": "torch's DDP logger calls every backend from outside of torch \"custom\"",
}
if arguments.as_nccl:
    EXCEPTIONS = {
        "test_DistributedDataParallel": "a loaded model with a static graph adds nothing up, with Gloo neither; torch 2.13 skips it on Linux",
        "test_batch_isend_irecv_self_nccl": "rank 0 alone has an operation on a GPU, and the first waits for all ranks' first",
        "test_ddp_profiling_execution_trace": "wants the backend to be called nccl",
        "test_monitored_barrier_allreduce_hang": "wants the sentence of ProcessGroupNCCL's timeout; ours names the missing rank",
        "test_monitored_barrier_allreduce_hang_wait_all_ranks": "as test_monitored_barrier_allreduce_hang",
    }
    if torch.cuda._device_count_nvml() < int(arguments.ranks):
        EXCEPTIONS["test_ddp_device"] = "wants a device whose number is the rank's, which ranks that share one haven't got"
        EXCEPTIONS["test_ddp_logging_data_gpu"] = "as test_ddp_device"
        EXCEPTIONS["test_nccl_high_priority_stream"] = "makes a group of NCCL's own, which refuses ranks that share a GPU"


class TestDfccl(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
    def setUp(self):
        super().setUp()
        # Forked, so that two ranks of each of 300 tests needn't load torch.
        self._start_processes(multiprocessing.get_context(arguments.start).Process)


class Result(unittest.TextTestResult):
    def __init__(self, *args):
        super().__init__(*args)
        self.outcomes = {}

    def note(self, test, outcome, reason=""):
        self.outcomes[test.id().split(".")[-1]] = {"outcome": outcome, "reason": reason}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", str(err[1]).strip()[-2000:])

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "failed", str(err[1]).strip()[-2000:])


def selected():
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(TestDfccl)
    wanted = [test for test in tests if not arguments.parts or any(part in test.id() for part in arguments.parts)]
    which, of = (int(number) for number in arguments.part.split("/"))
    return unittest.TestSuite(wanted[which - 1 :: of])


if __name__ == "__main__":
    torch.set_num_threads(1)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(selected())
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch_suite_skips.json"), encoding="utf-8") as file:
        known = {name for names in json.load(file).values() for name in names}
    skipped = {name for name, outcome in result.outcomes.items() if outcome["outcome"] == "skipped"}
    unknown = skipped - known if arguments.as_gloo and arguments.backend == "dfccl" else set()
    counts = {name: 0 for name in ("passed", "failed", "skipped")}
    for outcome in result.outcomes.values():
        counts[outcome["outcome"]] += 1
    if arguments.results:
        with open(arguments.results, "w", encoding="utf-8") as file:
            json.dump(result.outcomes, file, indent=1, sort_keys=True)
    failed = {name for name, outcome in result.outcomes.items() if outcome["outcome"] == "failed"}
    isListed = (arguments.as_gloo or arguments.as_nccl) and arguments.backend == "dfccl"
    listed = {name for name in EXCEPTIONS if name in result.outcomes and isListed} - skipped
    for name in sorted(failed & listed):
        print(f"{name} fails as listed: {EXCEPTIONS[name]}")
    for name in sorted(listed - failed):
        print(f"{name} no longer fails: take it off the list")
    for name in sorted(unknown):
        print(f"{name} is skipped, and isn't listed: {result.outcomes[name]['reason']}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()) + f" ({len(failed & listed)} of them as listed)" * bool(listed))
    sys.exit(1 if failed ^ listed or unknown or not counts["passed"] else 0)
