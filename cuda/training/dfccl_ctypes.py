"""dfccl's C API, as far as training in PyTorch needs it: joining, registering, running and waiting behind streams.

DFCCL_LIBRARY is the path of libdfccl.so.0; without it, the system's library path is searched. Structures repeat
native/include/dfccl/dfccl.h, field for field: each begins with its size, by which the library knows what we know.
"""
import ctypes
import os

INT32, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16 = 2, 4, 6, 7, 8, 9
SUM, PROD, MIN, MAX, AVG = 0, 1, 2, 3, 4
CPU, CUDA = 0, 1
SUCCESS, QUEUE_FULL, ABORTED = 0, 7, 10


class DfcclError(RuntimeError):
    """A call that failed: its code, and what the library says about it."""

    def __init__(self, call, code, text):
        super().__init__(f"{call}: {text} (code {code})")
        self.code = code


class _WorldConfig(ctypes.Structure):
    _fields_ = [
        ("structSize", ctypes.c_size_t),
        ("ranks", ctypes.c_uint32),
        ("workers", ctypes.c_int32),
        ("grid", ctypes.c_uint32),
        ("submissionSlots", ctypes.c_uint32),
        ("completionSlots", ctypes.c_uint32),
        ("collectives", ctypes.c_uint32),
        ("programBlocks", ctypes.c_uint32),
        ("streams", ctypes.c_uint32),
        ("arenaBytes", ctypes.c_size_t),
        ("backend", ctypes.c_uint32),
        ("devices", ctypes.POINTER(ctypes.c_int)),
        ("slotPayloadBytes", ctypes.c_size_t),
    ]


class _JoinConfig(ctypes.Structure):
    _fields_ = [
        ("structSize", ctypes.c_size_t),
        ("world", _WorldConfig),
        ("job", ctypes.c_char_p),
        ("rank", ctypes.c_int),
        ("timeoutMillis", ctypes.c_uint32),
        ("muteMillis", ctypes.c_uint32),
    ]


class _DevSet(ctypes.Structure):
    _fields_ = [("ranks", ctypes.POINTER(ctypes.c_int)), ("count", ctypes.c_int)]


_pointer, _handle = ctypes.c_void_p, ctypes.c_void_p
_run_arguments = [_pointer, _pointer, ctypes.c_int]
# Without these, ctypes would pass the upper halves of pointers and sizes as it likes.
_PROTOTYPES = {
    "dfcclJoinWorld": [ctypes.POINTER(_JoinConfig), ctypes.POINTER(_handle), ctypes.POINTER(ctypes.c_int)],
    "dfcclInitRank": [_handle, ctypes.c_int, ctypes.POINTER(_handle)],
    "dfcclDestroy": [_handle],
    "dfcclWorldDestroy": [_handle],
    "dfcclRegisterAllReduce": [
        ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, _DevSet, ctypes.c_int, _handle],
    "dfcclUnregister": [ctypes.c_int, _handle],
    "dfcclAllocate": [ctypes.c_size_t, ctypes.POINTER(_pointer), _handle],
    "dfcclFree": [_pointer, ctypes.c_size_t, _handle],
    "dfcclRun": [*_run_arguments, _pointer, _pointer, _handle],
    "dfcclRunOnStream": [*_run_arguments, _pointer, _pointer, _pointer, _handle],
    "dfcclWaitOnStream": [ctypes.c_int, _pointer, _handle],
    "dfcclWaitFor": [ctypes.c_uint64, _handle],
    "dfcclPoll": [ctypes.POINTER(ctypes.c_int), _handle],
    "dfcclWriteFlightRecord": [ctypes.c_char_p, _handle],
}


def _load():
    library = ctypes.CDLL(os.environ.get("DFCCL_LIBRARY", "libdfccl.so.0"))
    library.dfcclGetLastError.restype = ctypes.c_char_p
    library.dfcclVersion.restype = ctypes.c_char_p
    for name, arguments in _PROTOTYPES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, ctypes.c_int
    return library


class Rank:
    """One rank of a job whose processes share a machine; `close` gives it back.

    Joining waits until all ranks of the job are here. Any thread may call any method but `close`.
    """

    def __init__(self, job, rank, ranks, devices=None, backend=CUDA, arena_bytes=0, timeout_millis=120_000):
        """devices: the GPU of each rank; None leaves it to the library."""
        self._library = _load()
        world = _WorldConfig(structSize=ctypes.sizeof(_WorldConfig), ranks=ranks, backend=backend,
                             arenaBytes=arena_bytes)
        if devices is not None:
            self._devices = (ctypes.c_int * ranks)(*devices)  # lives as long as the config that points to it
            world.devices = self._devices
        config = _JoinConfig(structSize=ctypes.sizeof(_JoinConfig), world=world, job=job.encode(), rank=rank,
                             timeoutMillis=timeout_millis)
        self._world, self._context = _handle(), _handle()
        self._call("dfcclJoinWorld", ctypes.byref(config), ctypes.byref(self._world), None)
        self._call("dfcclInitRank", self._world, rank, ctypes.byref(self._context))

    def register_all_reduce(self, collective, count, data_type=FLOAT32, operator=SUM, priority=0):
        self._call("dfcclRegisterAllReduce", count, data_type, operator, collective, _DevSet(None, 0), priority,
                   self._context)

    def unregister(self, collective):
        """Gives the id back. No run of it may be in flight."""
        self._call("dfcclUnregister", collective, self._context)

    def run(self, collective, send, receive):
        """Queues a run whose input is there already. While the queue is full, it delivers what has completed."""
        self._until_room("dfcclRun", send, receive, collective, None, None, self._context)

    def run_on_stream(self, collective, send, receive, stream):
        """Queues a run that begins when the stream has done what it was given so far."""
        self._until_room("dfcclRunOnStream", send, receive, collective, stream, None, None, self._context)

    def wait_on_stream(self, collective, stream):
        """Lets the stream go on once all runs of the id that were queued so far are over."""
        self._call("dfcclWaitOnStream", collective, stream, self._context)

    def wait(self, timeout_seconds=0):
        """Waits until every run of this rank is over; 0: for as long as it takes."""
        self._call("dfcclWaitFor", int(timeout_seconds * 1e6), self._context)

    def allocate(self, count_bytes):
        """Zeroed memory that every rank can reach, for `free`."""
        memory = _pointer()
        self._call("dfcclAllocate", count_bytes, ctypes.byref(memory), self._context)
        return memory.value

    def free(self, memory, count_bytes):
        self._call("dfcclFree", memory, count_bytes, self._context)

    def write_flight_record(self, path):
        self._call("dfcclWriteFlightRecord", os.fsencode(path), self._context)

    def close(self):
        """Gives up the rank and the world. No run may be in flight."""
        self._call("dfcclDestroy", self._context)
        self._call("dfcclWorldDestroy", self._world)

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != SUCCESS:
            raise DfcclError(name, code, self._library.dfcclGetLastError().decode(errors="replace"))

    def _until_room(self, name, *arguments):
        while (code := getattr(self._library, name)(*arguments)) == QUEUE_FULL:
            self._call("dfcclPoll", None, self._context)
        if code != SUCCESS:
            raise DfcclError(name, code, self._library.dfcclGetLastError().decode(errors="replace"))
