"""Ends a process in which nothing moves, and says where it stands."""
import faulthandler
import os
import shutil
import signal
import subprocess
import threading
import time

HUNG = 3
_FLIGHT_RECORD_SECONDS, _NATIVE_SECONDS = 15, 60


class Watchdog:
    """Told by `at` that something moved. After `patience` seconds without it, the process ends with 3.

    First it writes, in the order of what is least likely to hang itself: BASE.python.txt with the stack of every
    thread, BASE.flight.json, and with `native` BASE.native.txt, the native stacks by cuda-gdb.
    SIGUSR1 writes the Python stacks to stderr, also while the interpreter's lock is held by what hangs.
    """

    def __init__(self, base, patience, native):
        self._base, self._patience, self._native = base, patience, native
        self._moved, self._where = time.monotonic(), "start"
        self.rank = None  # whose flight record is written
        faulthandler.register(signal.SIGUSR1, all_threads=True)
        threading.Thread(target=self._watch, daemon=True, name="watchdog").start()

    def at(self, where):
        self._where, self._moved = where, time.monotonic()

    @property
    def where(self):
        return self._where

    def _watch(self):
        while time.monotonic() - self._moved < self._patience:
            time.sleep(0.2)
        print(f"HUNG at {self._where}: nothing has moved for {self._patience:g} s", flush=True)
        with open(self._base + ".python.txt", "w") as file:
            print(f"at {self._where}", file=file, flush=True)
            faulthandler.dump_traceback(file=file, all_threads=True)
        if self.rank is not None:
            # A library that keeps its rules can write it now; one that doesn't must not keep us here.
            writer = threading.Thread(target=self._write_flight_record, daemon=True)
            writer.start()
            writer.join(_FLIGHT_RECORD_SECONDS)
            if writer.is_alive():
                print(f"no flight record within {_FLIGHT_RECORD_SECONDS} s", flush=True)
        if self._native:
            self._write_native_stacks()
        os._exit(HUNG)

    def _write_flight_record(self):
        try:
            self.rank.write_flight_record(self._base + ".flight.json")
        except Exception as error:
            print(f"no flight record: {error}", flush=True)

    def _write_native_stacks(self):
        debugger = shutil.which("cuda-gdb") or shutil.which("gdb")
        if debugger is None:
            print("no native stacks: neither cuda-gdb nor gdb is on the PATH", flush=True)
            return
        command = [debugger, "--nx", "-batch", "-p", str(os.getpid()), "-ex", "thread apply all bt 24"]
        with open(self._base + ".native.txt", "w") as file:
            try:
                subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               timeout=_NATIVE_SECONDS)
            except (OSError, subprocess.TimeoutExpired) as error:
                print(f"no native stacks: {error}", flush=True)
