"""Calls NCCL as a compiler's runtime does: the library is opened at run time, each process makes communicators of the cliques that
it needs, without blocking, and polls ncclCommGetAsyncError after each call.

    python3 compiled.py libnccl.so.2 [libcudart.so]
"""

import sys
import time
from ctypes import byref, c_int

from library import COMM, FLOAT, IN_PROGRESS, SUM, Config, Library, id_of
from processes import run

RANKS = 4
COUNT = 500
ROUNDS = 20


def settle(nccl, comm):
    """Waits until the communicator has done what was asked of it."""
    state = c_int(IN_PROGRESS)
    while True:
        nccl.CommGetAsyncError(comm, byref(state))
        if state.value != IN_PROGRESS:
            break
        time.sleep(0.0002)
    assert state.value == 0, state.value


class Rank:
    def __init__(self, nccl, rank, ids):
        self.nccl, self.rank, self.ids, self.config = nccl, rank, ids, Config(blocking=0)

    def clique(self, members):
        comm = COMM()
        self.nccl.CommInitRankConfig(byref(comm), len(members), id_of(self.ids[members]), members.index(self.rank), byref(self.config))
        settle(self.nccl, comm)
        return comm

    def run(self):
        nccl, rank = self.nccl, self.rank
        everybody = tuple(range(RANKS))
        row = tuple(r for r in everybody if r // 2 == rank // 2)
        column = tuple(r for r in everybody if r % 2 == rank % 2)
        cliques = {members: self.clique(members) for members in (everybody, row)}
        part = COMM()
        nccl.CommSplit(cliques[everybody], rank % 2, rank, byref(part), byref(self.config))
        settle(nccl, part)
        cliques[column] = part
        for comm in cliques.values():
            size = c_int()
            nccl.CommCount(comm, byref(size))
            assert size.value in (2, RANKS)

        ones = nccl.numbers(COUNT, 1.0)
        sums = {members: [nccl.numbers(COUNT, 0.0) for _ in range(ROUNDS)] for members in cliques}
        for turn in range(ROUNDS):
            # In a group or not. One after the other in one stream, so in one order.
            if turn % 2:
                nccl.GroupStart()
            for members in cliques:
                nccl.AllReduce(ones.address, sums[members][turn].address, COUNT, FLOAT, SUM, cliques[members], None)
            if turn % 2:
                nccl.GroupEnd()
            for comm in cliques.values():
                settle(nccl, comm)
        for comm in cliques.values():
            nccl.CommFinalize(comm)
            settle(nccl, comm)
        for members, comm in cliques.items():
            assert all(set(buffer.read()) == {float(len(members))} for buffer in sums[members]), members
            nccl.CommDestroy(comm)


def be_rank(paths, rank, ids):
    Rank(Library(paths, rank), rank, ids).run()


def main(paths):
    nccl = Library(paths[:1])  # ids alone: the ranks are processes of their own
    cliques = [(0, 1, 2, 3), (0, 1), (2, 3)]
    ids = {members: bytes(nccl.new_id()) for members in cliques}
    return run(be_rank, RANKS, paths, ids)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
