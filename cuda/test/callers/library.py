"""libnccl.so.2 by ctypes, as Python programs that call NCCL have it: one prototype for each function that they list."""

import ctypes
from ctypes import POINTER, byref, c_char, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p

FLOAT, SUM, MAX = 7, 0, 2
IN_PROGRESS = 7
UNSET = -(2**31)


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", c_char * 128)]


class Config(ctypes.Structure):
    """As of NCCL 2.30; what is not asked for is UNSET."""

    _fields_ = [("size", c_size_t), ("magic", c_uint), ("version", c_uint), ("blocking", c_int)] + [
        (name, kind)
        for name, kind in (
            *[(name, c_int) for name in ("cgaClusterSize", "minCTAs", "maxCTAs")],
            ("netName", c_char_p),
            *[(name, c_int) for name in ("splitShare", "trafficClass")],
            ("commName", c_char_p),
            *[(name, c_int) for name in ("collnetEnable", "CTAPolicy", "shrinkShare", "nvlsCTAs", "nChannelsPerNetPeer")],
            *[(name, c_int) for name in ("nvlinkCentricSched", "graphUsageMode", "numRmaCtx", "maxP2pPeers")],
            ("graphStreamOrdering", c_int),
        )
    ]

    def __init__(self, blocking):
        super().__init__(ctypes.sizeof(Config), 0xCAFEBEEF, 23007, blocking)
        for name, kind in self._fields_[4:]:
            if kind is c_int:
                setattr(self, name, UNSET)


COMM = STREAM = c_void_p
PROTOTYPES = {
    "ncclGetVersion": [POINTER(c_int)],
    "ncclGetUniqueId": [POINTER(UniqueId)],
    "ncclCommInitRank": [POINTER(COMM), c_int, UniqueId, c_int],
    "ncclCommInitRankConfig": [POINTER(COMM), c_int, UniqueId, c_int, POINTER(Config)],
    "ncclCommSplit": [COMM, c_int, c_int, POINTER(COMM), POINTER(Config)],
    "ncclCommCount": [COMM, POINTER(c_int)],
    "ncclCommGetAsyncError": [COMM, POINTER(c_int)],
    "ncclCommFinalize": [COMM],
    "ncclCommDestroy": [COMM],
    "ncclCommAbort": [COMM],
    "ncclAllReduce": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "ncclReduce": [c_void_p, c_void_p, c_size_t, c_int, c_int, c_int, COMM, STREAM],
    "ncclAllGather": [c_void_p, c_void_p, c_size_t, c_int, COMM, STREAM],
    "ncclReduceScatter": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "ncclBroadcast": [c_void_p, c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "ncclSend": [c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "ncclRecv": [c_void_p, c_size_t, c_int, c_int, COMM, STREAM],
    "ncclGroupStart": [],
    "ncclGroupEnd": [],
    "ncclMemAlloc": [POINTER(c_void_p), c_size_t],
    "ncclMemFree": [c_void_p],
    "ncclCommWindowRegister": [COMM, c_void_p, c_size_t, POINTER(c_void_p), c_int],
    "ncclCommWindowDeregister": [COMM, c_void_p],
}


class Library:
    """Its functions as methods, without "nccl"; what isn't a success is a RuntimeError with the library's sentence."""

    def __init__(self, paths, rank=0):
        """Of this library, for a rank's device; a second path is that of CUDA's runtime, where devices are real ones."""
        library = ctypes.CDLL(paths[0])
        self._runtime = ctypes.CDLL(paths[1]) if len(paths) > 1 else None
        if self._runtime is not None:
            devices = c_int()
            assert self._runtime.cudaGetDeviceCount(byref(devices)) == 0
            assert self._runtime.cudaSetDevice(rank % devices.value) == 0
        for text in ("ncclGetErrorString", "ncclGetLastError"):
            getattr(library, text).restype = c_char_p
        library.ncclGetErrorString.argtypes, library.ncclGetLastError.argtypes = [c_int], [COMM]
        self._library = library
        for name, arguments in PROTOTYPES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = c_int, arguments
            setattr(self, name.removeprefix("nccl"), self._checked(name, function))

    def _checked(self, name, function):
        def call(*arguments):
            result = function(*arguments)
            if result not in (0, IN_PROGRESS):
                said = self._library.ncclGetErrorString(result), self._library.ncclGetLastError(None)
                raise RuntimeError(f"{name}: " + ": ".join(text.decode() for text in said))
            return result

        return call

    def new_id(self):
        made = UniqueId()
        self.GetUniqueId(byref(made))
        return made

    def communicator(self, ranks, unique_id, rank):
        made = COMM()
        self.CommInitRank(byref(made), ranks, unique_id, rank)
        return made

    def numbers(self, count, value):
        """Device memory with so many floats."""
        memory = c_void_p()
        self.MemAlloc(byref(memory), 4 * count)
        found = Numbers(memory.value, count, self._runtime)
        found.write(value)
        return found


class Numbers:
    """Floats at an address of a device's. Without CUDA's runtime devices are simulated, and have the host's memory."""

    def __init__(self, address, count, runtime):
        self.address, self._count, self._runtime = address, count, runtime

    def write(self, value):
        self._copy((c_float * self._count)(*[value] * self._count), into_device=True)

    def read(self):
        found = (c_float * self._count)()
        self._copy(found, into_device=False)
        return list(found)

    def _copy(self, host, into_device):
        here, there, size = c_void_p(ctypes.addressof(host)), c_void_p(self.address), 4 * self._count
        to, source = (there, here) if into_device else (here, there)
        if self._runtime is None:
            ctypes.memmove(to, source, size)
        else:
            assert self._runtime.cudaMemcpy(to, source, c_size_t(size), 1 if into_device else 2) == 0


def id_of(text):
    return UniqueId.from_buffer_copy(text)
