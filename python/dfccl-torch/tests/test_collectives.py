"""Each collective, each type, against what the ranks' inputs, known to all, come to."""

import math
import pytest
import torch
import torch.distributed as dist
from ranks import run_ranks

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
MOVED = [*FLOATS, *INTEGERS, torch.bool, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2]
SHAPE = (3, 5)


def input_of(rank, dtype, shape=SHAPE, salt=0):
    """Small whole numbers, so that every order of additions gives the same."""
    generator = torch.Generator().manual_seed(1000 * salt + rank)
    return torch.randint(1, 4, shape, generator=generator).to(dtype)


def equal(actual, expected, what):
    assert actual.dtype == expected.dtype, what
    # float8 has no comparison of its own.
    both = [t.view(torch.uint8) if t.element_size() == 1 else t for t in (actual.contiguous(), expected.contiguous())]
    assert torch.equal(*both), f"{what}: {actual} and not {expected}"


def fold(inputs, op):
    total = inputs[0]
    for other in inputs[1:]:
        if op == dist.ReduceOp.SUM or op == dist.ReduceOp.AVG:
            total = total + other
        elif op == dist.ReduceOp.PRODUCT:
            total = total * other
        elif op == dist.ReduceOp.MIN:
            total = torch.minimum(total, other)
        elif op == dist.ReduceOp.MAX:
            total = torch.maximum(total, other)
        elif op == dist.ReduceOp.BAND:
            total = total & other
        elif op == dist.ReduceOp.BOR:
            total = total | other
        else:
            total = total ^ other
    return total / len(inputs) if op == dist.ReduceOp.AVG else total


def reductions():
    ops = dist.ReduceOp
    for dtype in FLOATS:
        for op in (ops.SUM, ops.PRODUCT, ops.MIN, ops.MAX, ops.AVG):
            yield dtype, op
    for dtype in INTEGERS:
        for op in (ops.SUM, ops.PRODUCT, ops.MIN, ops.MAX, ops.BAND, ops.BOR, ops.BXOR):
            yield dtype, op
    for op in (ops.BAND, ops.BOR, ops.BXOR):
        yield torch.bool, op
    yield torch.complex64, ops.SUM


def reduce_everything(rank, size):
    for salt, (dtype, op) in enumerate(reductions()):
        what = f"{dtype} {op}"
        inputs = [input_of(r, dtype, salt=salt) for r in range(size)]
        expected = fold(inputs, op)

        tensor = inputs[rank].clone()
        dist.all_reduce(tensor, op)
        equal(tensor, expected, f"all_reduce {what}")

        root = salt % size
        tensor = inputs[rank].clone()
        dist.reduce(tensor, root, op)
        if rank == root:
            equal(tensor, expected, f"reduce {what}")

        rows = [torch.stack([input_of(r, dtype, (4,), salt * size + r + k) for k in range(size)]) for r in range(size)]
        output = torch.empty(4, dtype=dtype)
        dist.reduce_scatter(output, list(rows[rank]), op)
        equal(output, fold([row[rank] for row in rows], op), f"reduce_scatter {what}")
        output = torch.empty(4, dtype=dtype)
        dist.reduce_scatter_tensor(output, rows[rank].flatten(), op)
        equal(output, fold([row[rank] for row in rows], op), f"reduce_scatter_tensor {what}")


@pytest.mark.parametrize("size", [1, 2, 4])
def test_reductions_of_every_type_and_operator(size):
    run_ranks(size, reduce_everything)


def move_everything(rank, size):
    for salt, dtype in enumerate(MOVED):
        inputs = [input_of(r, dtype, salt=salt) for r in range(size)]
        root = salt % size

        tensor = inputs[rank].clone()
        dist.broadcast(tensor, root)
        equal(tensor, inputs[root], f"broadcast {dtype}")

        outputs = [torch.empty(SHAPE, dtype=dtype) for _ in range(size)]
        dist.all_gather(outputs, inputs[rank])
        for r in range(size):
            equal(outputs[r], inputs[r], f"all_gather {dtype}")

        output = torch.empty((size, *SHAPE), dtype=dtype)
        dist.all_gather_into_tensor(output, inputs[rank])
        for r in range(size):
            equal(output[r], inputs[r], f"all_gather_into_tensor {dtype}")

        outputs = [torch.empty(SHAPE, dtype=dtype) for _ in range(size)] if rank == root else None
        dist.gather(inputs[rank], outputs, root)
        for r in range(size if rank == root else 0):
            equal(outputs[r], inputs[r], f"gather {dtype}")

        output = torch.empty(SHAPE, dtype=dtype)
        dist.scatter(output, inputs if rank == root else None, root)
        equal(output, inputs[rank], f"scatter {dtype}")

        outputs = [torch.empty(SHAPE, dtype=dtype) for _ in range(size)]
        dist.all_to_all(outputs, [input_of(rank, dtype, salt=100 + to) for to in range(size)])
        for r in range(size):
            equal(outputs[r], input_of(r, dtype, salt=100 + rank), f"all_to_all {dtype}")

        output = torch.empty((size, 4), dtype=dtype)
        dist.all_to_all_single(output, torch.stack([input_of(rank, dtype, (4,), 200 + to) for to in range(size)]))
        for r in range(size):
            equal(output[r], input_of(r, dtype, (4,), 200 + rank), f"all_to_all_single {dtype}")

        to, source = (rank + 1) % size, (rank - 1) % size
        output = torch.empty(SHAPE, dtype=dtype)
        works = [dist.isend(inputs[rank], to), dist.irecv(output, source)]
        for work in works:
            work.wait()
        equal(output, inputs[source], f"send {dtype}")


@pytest.mark.parametrize("size", [2, 4])
def test_copies_of_every_type(size):
    run_ranks(size, move_everything)


def uneven(rank, size):
    sizes = [3 * r for r in range(size)]  # rank 0 has nothing
    outputs = [torch.empty(s) for s in sizes]
    dist.all_gather(outputs, torch.full((sizes[rank],), float(rank)))
    for r in range(size):
        equal(outputs[r], torch.full((sizes[r],), float(r)), "all_gather")

    # Rank r sends (r + to) rows to each.
    sent = torch.cat([torch.full((rank + to, 2), 10.0 * rank + to) for to in range(size)])
    splits = [rank + other for other in range(size)]
    output = torch.empty(sum(splits), 2)
    dist.all_to_all_single(output, sent, splits, splits)
    expected = torch.cat([torch.full((rank + r, 2), 10.0 * r + rank) for r in range(size)])
    equal(output, expected, "all_to_all_single")

    outputs = [torch.empty(rank + r) for r in range(size)]
    dist.all_to_all(outputs, [torch.full((rank + to,), 10.0 * rank + to) for to in range(size)])
    for r in range(size):
        equal(outputs[r], torch.full((rank + r,), 10.0 * r + rank), "all_to_all")

    output = torch.empty(rank + 1)
    dist.reduce_scatter(output, [torch.full((r + 1,), float(rank)) for r in range(size)])
    equal(output, torch.full((rank + 1,), float(sum(range(size)))), "reduce_scatter")


@pytest.mark.parametrize("size", [2, 4])
def test_sizes_that_differ_between_ranks(size):
    run_ranks(size, uneven)


def strided(rank, size):
    base = torch.zeros(4, 6)
    column = base[:, 1]
    column.fill_(float(rank + 1))
    dist.all_reduce(column)
    assert torch.equal(column, torch.full((4,), float(sum(range(1, size + 1)))))
    assert torch.equal(base.sum(), column.sum()), "what lies between the elements is untouched"

    transposed = torch.zeros(2, 3).t()
    if rank == 0:
        transposed.copy_(torch.arange(6.0).view(3, 2))
    dist.broadcast(transposed, 0)
    assert torch.equal(transposed, torch.arange(6.0).view(3, 2))

    parameter = torch.nn.Parameter(torch.full((3,), float(rank)))
    dist.broadcast(parameter, size - 1)
    assert torch.equal(parameter.detach(), torch.full((3,), float(size - 1)))

    outputs = [torch.zeros(3, 2).t() for _ in range(size)]
    dist.all_gather(outputs, torch.arange(6.0).view(2, 3) + rank)
    for r in range(size):
        assert torch.equal(outputs[r], torch.arange(6.0).view(2, 3) + r)


def test_tensors_with_gaps_and_parameters():
    run_ranks(2, strided)


def others(rank, size):
    tensor = torch.full((3,), float(rank + 1))
    dist.all_reduce(tensor, dist._make_nccl_premul_sum(0.5))
    assert torch.equal(tensor, torch.full((3,), 0.5 * sum(range(1, size + 1))))
    for count in (0, 1, 100_003):
        tensor = torch.ones(count)
        dist.all_reduce(tensor)
        assert torch.equal(tensor, torch.full((count,), float(size)))
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(size)]
    dist.barrier()
    many = [torch.full((5,), float(i + rank)) for i in range(4)]
    dist.all_reduce_coalesced(many) if hasattr(dist, "all_reduce_coalesced") else [dist.all_reduce(t) for t in many]
    for i in range(4):
        assert torch.equal(many[i], torch.full((5,), float(size * i + sum(range(size)))))


def test_factors_sizes_objects_and_barriers():
    run_ranks(2, others)


def computed_wider(rank, size):
    """Of types for which torch has no operators on CPUs."""
    values = [60_000, 3, 40_000]
    for op, expected in (
        (dist.ReduceOp.SUM, sum(values[:size]) % 2**16),
        (dist.ReduceOp.PRODUCT, math.prod(values[:size]) % 2**16),
        (dist.ReduceOp.MIN, min(values[:size])),
        (dist.ReduceOp.MAX, max(values[:size])),
    ):
        tensor = torch.tensor([values[rank]], dtype=torch.uint16)
        dist.all_reduce(tensor, op)
        assert tensor.tolist() == [expected], op
    for dtype in (torch.float8_e4m3fnuz, torch.float8_e5m2fnuz):
        tensor = torch.full((5,), 0.5 * (rank + 1)).to(dtype)
        dist.all_reduce(tensor)
        assert torch.equal(tensor.float(), torch.full((5,), 0.25 * size * (size + 1))), dtype


@pytest.mark.parametrize("size", [2, 3])
def test_types_without_operators_of_torchs(size):
    run_ranks(size, computed_wider)


def refuse(rank, size):
    cases = [
        (lambda: dist.all_reduce(torch.eye(2).to_sparse(), dist.ReduceOp.MIN), "to_dense"),
        (lambda: dist.all_reduce(torch.zeros(2), dist.ReduceOp.BAND), "integer type"),
        (lambda: dist.all_reduce(torch.zeros(2, dtype=torch.bool), dist.ReduceOp.AVG), "Convert"),
        *[
            (lambda dtype=dtype: dist.all_reduce(torch.ones(1000, dtype=dtype), dist._make_nccl_premul_sum(2.0)), "float32")
            for dtype in (torch.int64, torch.int32, torch.int16, torch.uint16, torch.int8, torch.bool)
        ],
        (lambda: dist.all_gather([torch.zeros(1)] * (size + 1), torch.zeros(1)), "one a rank"),
        (lambda: dist.all_to_all_single(torch.zeros(2), torch.zeros(2), [1, 1], [2, 1]), "add up"),
    ]
    for call, text in cases:
        with pytest.raises(RuntimeError, match=text):
            call()
    dist.barrier()


def test_what_cannot_be_is_refused_with_a_remedy():
    run_ranks(2, refuse)
