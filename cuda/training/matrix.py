#!/usr/bin/env python3
"""Trains every model in every mode, warm-up and number of hardware queues, and says what hung or came out wrong.

    DFCCL_LIBRARY=.../libdfccl.so.0 python3 matrix.py --out results.jsonl --parallel 8

54 cases of two processes on one GPU, 3 runs of 60 iterations each. PyTorch is loaded once, and the models are built
once: every case is forked from here, before anything has opened a GPU. A case that hangs writes its stacks into a
folder of its own and is killed with all its processes; the others go on. A run that is in the output file already,
with the same options, is not done again.

Exit: 0 all runs passed, 1 some didn't, 2 wrong options, 5 time was up before all had run.
"""
import argparse
import copy
import itertools
import json
import os
import shutil
import signal
import sys
import time
from typing import NamedTuple

import summary
import train
from rank_group import RankGroup

_MODELS, _MODES = ("resnet50", "vit", "gpt2"), ("each", "shuffled", "bucket")
# What makes a run another run, though its case is the same.
_VARIANT = ("ranks", "iterations", "batch", "synchronize", "empty_cache", "fresh_kernel", "expandable_segments",
            "keep_gradients", "control")


class Case(NamedTuple):
    model: str
    mode: str
    warm: int
    queues: int


def one_of(names):
    def parse(text):
        words = [word.strip() for word in text.split(",")]
        for word in words:
            if word not in names:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(names)}")
        return words
    return parse


def numbers(text):
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() for word in words):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers, such as 1,8,32")
    return [int(word) for word in words]


def parser():
    made = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    made.add_argument("--models", type=one_of(_MODELS), default=list(_MODELS))
    made.add_argument("--modes", type=one_of(("none", *_MODES)), default=list(_MODES))
    made.add_argument("--warm", type=numbers, default=[0, 3], help="iterations without communication, a case each")
    made.add_argument("--queues", type=numbers, default=[1, 8, 32], help="CUDA_DEVICE_MAX_CONNECTIONS, a case each")
    made.add_argument("--runs", type=train.positive, default=3)
    made.add_argument("--parallel", type=train.positive, default=1, metavar="N", help="N jobs at once")
    made.add_argument("--out", default="training.jsonl", help="JSON lines, a run each; continued where it exists")
    made.add_argument("--folder", help="for logs and stacks of runs; default: beside --out")
    made.add_argument("--case-seconds", type=float, default=180, help="after which a job is killed")
    made.add_argument("--total-minutes", type=float, default=0, help="after which all are; 0: never")
    made.add_argument("--together", dest="fresh", action="store_false",
                      help="all modes and warm-ups of a model and a number of queues in one pair of processes")
    made.add_argument("--fresh", action="store_true", help="processes of its own for every case: the default")
    made.add_argument("--new-interpreters", action="store_true", help="start Python anew for every rank; slow")
    made.add_argument("--retry", action="store_true", help="do runs again that didn't pass")
    made.add_argument("--show-logs", type=int, default=0, metavar="N",
                      help="print the last N lines of each rank's log where a run didn't pass")
    made.add_argument("--keep-logs", action="store_true", help="also of runs that passed")
    made.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: --modes none only")
    made.add_argument("--dry-run", action="store_true", help="say what would be run")
    made.set_defaults(fresh=True)
    train.add_training_options(made)
    return made


def cases_of(options):
    return [Case(*values) for values in itertools.product(options.models, options.modes, options.warm, options.queues)]


def variant_of(options):
    return {name: getattr(options, name) for name in _VARIANT}


def known_results(path, variant):
    """Of earlier calls with the same options. A line that was cut off by a crash counts as none."""
    results = []
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    result = json.loads(line)
                except ValueError:
                    continue
                if result.get("variant") == variant and "outcome" in result:
                    results.append(result)
    return results


def jobs_of(cases, options, done):
    """Lists of (case, run) that share their processes. @param done set of them that are left out"""
    jobs = {}
    for run in range(options.runs):
        for case in cases:
            if (case, run) not in done:
                name = (run, case) if options.fresh else (run, case.model, case.queues)
                jobs.setdefault(name, []).append((case, run))
    return list(jobs.values())


class Matrix:
    """Jobs that are under way, and what came of those that are over."""

    def __init__(self, options, cases, results):
        self._options, self._cases, self.results = options, cases, results
        self._variant = variant_of(options)
        self._folder = options.folder or os.path.splitext(options.out)[0] + "-runs"
        self._started, self._under_way, self._count = time.monotonic(), {}, 0
        self._models = {}

    def run(self, jobs):
        """@return whether all jobs have been started before time was up."""
        waiting, total = list(jobs), sum(map(len, jobs))
        self._done, self._total = 0, total
        self._load(sorted({case.model for job in jobs for case, _ in job}))
        with open(self._options.out, "a") as self._file:
            while (waiting and not self._is_time_up()) or self._under_way:
                while waiting and len(self._under_way) < self._options.parallel and not self._is_time_up():
                    job = waiting.pop(0)
                    self._under_way[self._start(job)] = job
                self._collect()
                time.sleep(0.05)
        return not waiting

    def kill_all(self):
        for group in self._under_way:
            group.kill()

    def _load(self, names):
        """PyTorch, and the models that are wanted; a child gets its copies by being forked."""
        if self._options.new_interpreters:
            return
        train.set_environment(self._options)
        import torch

        import models
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # a pool of threads doesn't survive a fork
        for name in names:
            print(f"building {name}", flush=True)
            self._models[name] = models.make_model(name)
        torch.set_num_threads(min(threads, 2))
        if any(os.path.realpath(f"/proc/self/fd/{fd}").startswith("/dev/nvidia-uvm") for fd in os.listdir("/proc/self/fd")):
            print("the GPU is open already, so nothing can be forked from here: every rank starts Python anew", flush=True)
            self._options.new_interpreters = True

    def _start(self, job):
        self._count += 1
        case, run = job[0]
        options = copy.copy(self._options)
        options.model, options.cases = case.model, [(c.mode, c.warm) for c, _ in job]
        options.job = f"train-{os.getpid()}-{self._count}"
        name = f"{case.model}-{case.mode if self._options.fresh else 'all'}-{case.warm}-{case.queues}-{run}"
        options.folder = os.path.join(os.path.abspath(self._folder), f"{name}-{os.getpid()}")
        shutil.rmtree(options.folder, ignore_errors=True)
        os.makedirs(options.folder)
        is_forked = not self._options.new_interpreters
        # A case of several needs a copy of its own: training changes it.
        copies = (lambda model: copy.deepcopy(self._models[model])) if len(job) > 1 else self._models.get
        limit = self._options.case_seconds * len(job)
        return RankGroup(options, case.queues, copies if is_forked else None, limit)

    def _collect(self):
        if self._is_time_up():
            self.kill_all()
        for group in [g for g in self._under_way if g.poll()]:
            job = self._under_way.pop(group)
            seconds = round(time.monotonic() - group.started, 1)
            results = group.results()
            for (case, run), result in zip(job, results):
                self._note({**case._asdict(), "run": run, **result, "seconds": seconds, "folder": group.options.folder,
                            "variant": self._variant})
                if result["outcome"] != "passed" and self._options.show_logs > 0:
                    print("\n".join(group.log_ends(self._options.show_logs)), flush=True)
            if not self._options.keep_logs and all(r["outcome"] == "passed" for r in results):
                shutil.rmtree(group.options.folder, ignore_errors=True)

    def _note(self, result):
        self._done += 1
        if result["outcome"] == "unfinished" or (result["outcome"] not in ("passed", "wrong") and self._is_time_up()):
            return  # it had no chance, so it isn't known
        self.results.append(result)
        print(json.dumps(result), file=self._file, flush=True)
        elapsed = int(time.monotonic() - self._started)
        name = f"{result['model']} {result['mode']} warm {result['warm']} queues {result['queues']} run {result['run']}"
        time_text = f"{result['msPerIteration']:.1f} ms/it" if "msPerIteration" in result else result.get("note", "")
        width = len(str(self._total))
        print(f"[{self._done:{width}}/{self._total} {elapsed // 60:3}:{elapsed % 60:02}] {name:<46} "
              f"{result['outcome']:<8} {result['seconds']:6.1f} s  {time_text}".rstrip(), flush=True)

    def _is_time_up(self):
        limit = self._options.total_minutes * 60
        return limit > 0 and time.monotonic() - self._started > limit


def main():
    made = parser()
    options = made.parse_args()
    if options.device == "cpu" and options.modes != ["none"]:
        made.error("streams need a GPU: with --device cpu there is only --modes none")
    if options.device == "cuda" and "none" not in options.modes and not options.dry_run:
        library = os.environ.get("DFCCL_LIBRARY")
        if library is None or not os.path.exists(library):
            made.error(f"DFCCL_LIBRARY is {library or 'not set'}: let it name libdfccl.so.0 of the build with GPUs")
    cases = cases_of(options)
    results = [r for r in known_results(options.out, variant_of(options)) if Case(*summary.key(r)) in cases]
    if options.retry:
        results = [r for r in results if r["outcome"] == "passed"]
    results = [r for r in results if r["run"] < options.runs]
    done = {(Case(*summary.key(r)), r["run"]) for r in results}
    jobs = jobs_of(cases, options, done)
    print(f"{len(cases)} cases, {options.runs} runs each; {len(done)} known, {sum(map(len, jobs))} to do in "
          f"{len(jobs)} jobs, {options.parallel} at once", flush=True)
    if options.dry_run:
        rows = [["job", "model", "queues", "run", "cases"]]
        for index, job in enumerate(jobs):
            case, run = job[0]
            rows.append([index + 1, case.model, case.queues, run, ",".join(f"{c.mode}:{c.warm}" for c, _ in job)])
        print("\n".join(summary.table(rows)))
        return 0
    matrix = Matrix(options, cases, results)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        is_complete = matrix.run(jobs)
    finally:
        matrix.kill_all()
    print("\n".join(["", *summary.summarize(matrix.results, cases, options.runs), ""]))
    totals = summary.totals(matrix.results, cases, options.runs)
    print(json.dumps(totals), flush=True)
    if totals["casesPassed"] == totals["cases"]:
        return 0
    return 1 if is_complete or any(r["outcome"] != "passed" for r in matrix.results) else 5


if __name__ == "__main__":
    sys.exit(main())
