"""CuPy's own module for NCCL, cupy.cuda.nccl, on whatever libnccl.so.2 is named: all its calls, by processes and by one, and
two communicators in another order on each rank, which NCCL calls wrong. Ends with 77 where there is no such module.

    python3 cupy_module.py libnccl.so.2 [libcudart.so]
"""

import ctypes
import sys

from library import Library
from processes import context, run

RANKS, COUNT = 2, 1000


def module_on(paths):
    """@return the module, which asks the loader for a library that is there already."""
    ctypes.CDLL(paths[0], ctypes.RTLD_GLOBAL)
    try:
        from cupy.cuda import nccl
    except ImportError:
        try:
            from cupy_backends.cuda.libs import nccl
        except ImportError as error:
            print(f"skipped: {error}")
            sys.exit(77)
    return nccl


class Rank:
    """Calls first and looks at what came of them in the end: nothing but a communicator's end waits for operations."""

    def __init__(self, nccl, memory, rank):
        self.nccl, self.memory, self.rank = nccl, memory, rank
        self._expected = []

    def given(self, value, count=COUNT):
        return self.memory.numbers(count, value).address

    def result(self, values, before=-1):
        """Where something is to come: one value everywhere, or a list of values, each COUNT times."""
        values = values if isinstance(values, list) else [values]
        buffer = self.memory.numbers(COUNT * len(values), before)
        self._expected.append((buffer, [float(value) for value in values for _ in range(COUNT)]))
        return buffer.address

    def look(self):
        for number, (buffer, expected) in enumerate(self._expected):
            found = buffer.read()
            assert found == expected, (number, found[:4], expected[:4])

    def collectives(self, comm):
        """One call after the other, as a rank that is a process has them."""
        nccl, rank = self.nccl, self.rank
        total = RANKS * (RANKS + 1) / 2
        mine, many = self.given(rank + 1), self.given(rank + 1, RANKS * COUNT)
        comm.allReduce(mine, self.result(total), COUNT, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, 0)
        comm.reduce(mine, self.result(RANKS if rank == 1 else -1), COUNT, nccl.NCCL_FLOAT32, nccl.NCCL_MAX, 1, 0)
        comm.broadcast(mine, self.result(2), COUNT, nccl.NCCL_FLOAT32, 1, 0)
        comm.reduceScatter(many, self.result(total), COUNT, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, 0)
        comm.allGather(mine, self.result([r + 1 for r in range(RANKS)]), COUNT, nccl.NCCL_FLOAT32, 0)
        comm.bcast(self.result(1, before=rank + 1), COUNT, nccl.NCCL_FLOAT32, 0, 0)
        comm.check_async_error()
        assert (comm.rank_id(), comm.size()) == (rank, RANKS)

    def messages(self, comm):
        """A ring, and everybody to everybody, each a group."""
        nccl, rank = self.nccl, self.rank
        mine = self.given(rank)
        nccl.groupStart()
        comm.send(mine, COUNT, nccl.NCCL_FLOAT32, (rank + 1) % RANKS, 0)
        comm.recv(self.result((rank - 1) % RANKS), COUNT, nccl.NCCL_FLOAT32, (rank - 1) % RANKS, 0)
        nccl.groupEnd()
        nccl.groupStart()
        for peer in range(RANKS):
            comm.send(mine, COUNT, nccl.NCCL_FLOAT32, peer, 0)
            comm.recv(self.result(peer), COUNT, nccl.NCCL_FLOAT32, peer, 0)
        nccl.groupEnd()

    def opposite_orders(self, comms):
        """Two communicators in one group, in another order on each rank, which NCCL calls wrong."""
        nccl = self.nccl
        mine = self.given(self.rank + 1)
        for _ in range(10):
            nccl.groupStart()
            for comm in comms[:: 1 if self.rank == 0 else -1]:
                comm.allReduce(mine, self.result(RANKS), COUNT, nccl.NCCL_FLOAT32, nccl.NCCL_MAX, 0)
            nccl.groupEnd()

    def nonsense(self, comm):
        try:
            comm.allReduce(0, 0, COUNT, self.nccl.NCCL_FLOAT32, self.nccl.NCCL_SUM, 0)
        except self.nccl.NcclError as error:
            assert "INVALID_ARGUMENT" in str(error), error
        else:
            raise AssertionError("a buffer at 0 was accepted")


def be_rank(paths, rank, channels):
    nccl = module_on(paths)
    memory = Library(paths, rank)
    here = Rank(nccl, memory, rank)
    if rank == 0:
        ids = [nccl.get_unique_id() for _ in range(2)]
        for _ in range(RANKS - 1):
            channels.put(ids)
    else:
        ids = channels.get()
    comms = [nccl.NcclCommunicator(RANKS, made, rank) for made in ids]
    here.collectives(comms[0])
    here.messages(comms[0])
    here.opposite_orders(comms)
    here.nonsense(comms[0])
    for comm in comms:
        memory.CommFinalize(comm.comm)
    here.look()
    comms[0].destroy()
    comms[1].abort()


def one_process(nccl, paths):
    """initAll, and a group in which one thread calls for all devices."""
    memory = Library(paths)
    here = Rank(nccl, memory, 0)
    comms = nccl.NcclCommunicator.initAll([0])
    nccl.groupStart()
    for comm in comms:
        comm.allReduce(here.given(3), here.result(3), COUNT, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, 0)
    nccl.groupEnd()
    for comm in comms:
        memory.CommFinalize(comm.comm)
        comm.destroy()
    here.look()


def main(paths):
    nccl = module_on(paths)
    print(f"NCCL {nccl.get_version()}, built for {nccl.get_build_version()}")
    code = run(be_rank, RANKS, paths, context.SimpleQueue())
    if code == 0:
        one_process(nccl, paths)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
