"""The processes of one job: started together, in a process group of their own, and killed together."""
import json
import os
import signal
import subprocess
import sys
import time

import train

# A rank whose peer has ended in an error can't go on; it gets so long to write where it stands.
_GRACE_SECONDS = 12


class RankGroup:
    """Ranks of one job, forked from this process (which has PyTorch loaded, and no GPU opened) or started anew."""

    def __init__(self, options, queues, make_model, limit_seconds):
        """@param make_model None: start new interpreters @param queues CUDA_DEVICE_MAX_CONNECTIONS"""
        self.options, self.queues = options, queues
        self.started = time.monotonic()
        self._limit, self._ended, self._is_late = limit_seconds, None, False
        self._group = 0
        self._codes = {}  # of ranks that have ended
        self._pids = [self._start(number, make_model) for number in range(options.ranks)]

    def poll(self):
        """@return whether all ranks have ended. Ends the group when its time is over."""
        for number, pid in enumerate(self._pids):
            if number in self._codes:
                continue
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._codes[number] = os.waitstatus_to_exitcode(status)
        if len(self._codes) == len(self._pids):
            self._kill_group()  # what they have started, a debugger perhaps
            return True
        now = time.monotonic()
        if self._ended is None and any(code != train.PASSED for code in self._codes.values()):
            self._ended = now
        # A rank that hangs takes its peer's stacks along: both write them, and end by themselves.
        writes = 90 if self.options.native_stacks else 20
        grace = _GRACE_SECONDS if train.FAILED in self._codes.values() else self.options.patience + writes
        is_out_of_time = now - self.started > self._limit
        if is_out_of_time or (self._ended is not None and now - self._ended > grace):
            self._is_late = is_out_of_time
            self.kill()
        return False

    def kill(self):
        """Lets every rank write its Python stacks, then ends all processes of the group."""
        for number, pid in enumerate(self._pids):
            if number not in self._codes:
                os.kill(pid, signal.SIGUSR1)
        time.sleep(0.5)
        self._kill_group()

    def results(self):
        """One for each case, of the mode and warm-up that it names."""
        folder = self.options.folder
        per_rank = [_lines(os.path.join(folder, f"rank{number}.jsonl")) for number in range(self.options.ranks)]
        made = []
        for index, (mode, warm) in enumerate(self.options.cases):
            of_case = [lines[index] for lines in per_rank if index < len(lines)]
            if len(of_case) == self.options.ranks:
                first = of_case[0]
                outcome = "passed" if all(r["outcome"] == "passed" for r in of_case) else "wrong"
                made.append({"mode": mode, "warm": warm, "outcome": outcome, "sameWeights": first["sameWeights"],
                             "msPerIteration": first["msPerIteration"], "loss": first["loss"]})
                continue
            # The first without a result is the one that ended the processes; later ones never began.
            outcome = self._failure() if not made or made[-1]["outcome"] in ("passed", "wrong") else "unfinished"
            made.append({"mode": mode, "warm": warm, "outcome": outcome, "exits": self._exits(), "note": self._note()})
        return made

    def _start(self, number, make_model):
        log = os.open(os.path.join(self.options.folder, f"rank{number}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        pid = self._fork(number, log, make_model) if make_model else self._spawn(number, log)
        os.close(log)
        self._group = self._group or pid
        try:
            os.setpgid(pid, self._group)  # the child does so too: whoever comes first
        except (ProcessLookupError, PermissionError):
            pass  # it has ended, or is another program already
        return pid

    def _fork(self, number, log, make_model):
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid != 0:
            return pid
        try:
            os.setpgid(0, self._group)
            os.dup2(log, 1)
            os.dup2(log, 2)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = str(self.queues)
            train.set_environment(self.options)
            train.run_and_exit(self.options, number, make_model)
        finally:
            os._exit(train.FAILED)

    def _spawn(self, number, log):
        environment = {**os.environ, "CUDA_DEVICE_MAX_CONNECTIONS": str(self.queues)}
        command = [sys.executable, train.__file__, "--rank", str(number), *train_words(self.options)]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, process_group=self._group)
        process.returncode = 0  # its end is waited for here
        return process.pid

    def _kill_group(self):
        try:
            os.killpg(self._group, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _failure(self):
        if self._is_late:
            return "timeout"
        return "hung" if 3 in self._codes.values() else "failed"

    def _exits(self):
        return [self._codes.get(number) for number in range(self.options.ranks)]

    def _note(self):
        """The last words of the first rank that says what went wrong."""
        for number in range(self.options.ranks):
            with open(os.path.join(self.options.folder, f"rank{number}.log"), errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            words = last_words(lines)
            if words:
                return f"rank {number}: {words}"[:200]
        return ""

    def log_ends(self, count):
        """The last lines of every rank's log."""
        ends = []
        for number in range(self.options.ranks):
            with open(os.path.join(self.options.folder, f"rank{number}.log"), errors="replace") as file:
                ends += [f"    rank {number} | {line.rstrip()[:300]}" for line in file.readlines()[-count:]]
        return ends


def last_words(lines):
    """What a log says last of what went wrong. PyTorch puts a stack of C++ behind its message."""
    for line in reversed(lines):
        if "HUNG" in line or ("Error" in line and not line.startswith(("frame #", "Exception raised from"))):
            return line
    return ""


def train_words(options):
    """The command line by which train.py gets these options."""
    words = ["--model", options.model, "--job", options.job, "--folder", options.folder,
             "--device", options.device, "--cases", ",".join(f"{mode}:{warm}" for mode, warm in options.cases)]
    for name in ("ranks", "iterations", "batch", "synchronize", "empty_cache", "fresh_kernel", "arena_mb", "patience"):
        words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    for name in ("expandable_segments", "keep_gradients", "control", "native_stacks"):
        words += [f"--{name.replace('_', '-')}"] if getattr(options, name) else []
    return words


def _lines(path):
    try:
        with open(path) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []
