"""Calls NCCL as serving programs do: a process for each rank, a wrapper of ctypes with every function that it lists, an id of
rank 0's that goes to the others as bytes, and a first all-reduce that warms up.

    python3 serving.py libnccl.so.2 [libcudart.so]
"""

import sys
from ctypes import byref, c_int, c_void_p

from library import FLOAT, MAX, SUM, Library, id_of
from processes import context, run

COUNT = 1000
RANKS = 2


def be_rank(paths, rank, ids):
    serve(Library(paths, rank), rank, ids)


def serve(nccl, rank, ids):
    version = c_int()
    nccl.GetVersion(byref(version))
    assert version.value >= 22703, version.value  # from where on windows are asked for
    if rank == 0:
        text = bytes(nccl.new_id())
        for _ in range(RANKS - 1):
            ids.put(text)
    else:
        text = ids.get()
    comm = nccl.communicator(RANKS, id_of(text), rank)
    other = (rank + 1) % RANKS

    warm = nccl.numbers(1, 1.0)
    nccl.AllReduce(warm.address, warm.address, 1, FLOAT, SUM, comm, None)

    mine, sums, mosts = (nccl.numbers(COUNT, value) for value in (rank + 1.0, 0.0, 0.0))
    rows, part, given, received = (nccl.numbers(size, -1.0) for size in (RANKS * COUNT, COUNT // RANKS, COUNT, COUNT))
    where = mine.address
    nccl.AllReduce(where, sums.address, COUNT, FLOAT, SUM, comm, None)
    nccl.Reduce(where, mosts.address, COUNT, FLOAT, MAX, 0, comm, None)
    nccl.AllGather(where, rows.address, COUNT, FLOAT, comm, None)
    nccl.ReduceScatter(where, part.address, COUNT // RANKS, FLOAT, SUM, comm, None)
    nccl.Broadcast(where, given.address, COUNT, FLOAT, 1, comm, None)
    nccl.GroupStart()
    nccl.Send(where, COUNT, FLOAT, other, comm, None)
    nccl.Recv(received.address, COUNT, FLOAT, other, comm, None)
    nccl.GroupEnd()
    # Windows are optional for these callers: the refusal is an error that they get over.
    window = c_void_p()
    try:
        nccl.CommWindowRegister(comm, where, 4 * COUNT, byref(window), 1)
        raise AssertionError("a window was made")
    except RuntimeError as error:
        assert "There are no windows" in str(error), error
    nccl.CommFinalize(comm)

    total = RANKS * (RANKS + 1) / 2
    assert warm.read() == [float(RANKS)]
    assert set(sums.read()) == {total} and set(part.read()) == {total}
    assert set(mosts.read()) == ({float(RANKS)} if rank == 0 else {0.0})
    rows_read = rows.read()
    assert [set(rows_read[r * COUNT : (r + 1) * COUNT]) for r in range(RANKS)] == [{r + 1.0} for r in range(RANKS)]
    assert set(given.read()) == {2.0} and set(received.read()) == {other + 1.0}
    nccl.CommDestroy(comm)
    for buffer in (warm, mine, sums, mosts, rows, part, given, received):
        nccl.MemFree(buffer.address)


def main(paths):
    return run(be_rank, RANKS, paths, context.SimpleQueue())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
