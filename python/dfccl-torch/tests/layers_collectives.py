"""What torch's own layers make of collectives: functional ones, their gradients, compiled ones, meshes, objects."""

import torch
import torch.distributed as dist
from layers_values import device, drawn


def functional_collectives(rank, size):
    from torch.distributed import _functional_collectives as functional

    world, results = dist.group.WORLD, []
    for op in ("sum", "avg", "min", "max", "product"):
        for dtype in (torch.float32, torch.float64, torch.int64):
            if op != "avg" or dtype.is_floating_point:
                results.append(functional.all_reduce(drawn(rank, 3, 5).to(dtype), op, world))
    for dim in (0, 1):
        results.append(functional.all_gather_tensor(drawn(rank, 4, 6), dim, world))
        results.append(functional.reduce_scatter_tensor(drawn(rank, 4 * size, 4 * size), "sum", dim, world))
    results.append(functional.broadcast(drawn(rank, 7), size - 1, world))
    given, taken = ([(rank + other) % 3 for other in range(size)] for _ in range(2))
    results.append(functional.all_to_all_single(drawn(rank, sum(given), 2), taken, given, world))
    results.append(functional.permute_tensor(drawn(rank, 5), [(i + 1) % size for i in range(size)], world))
    # One on the other, none waited for between.
    first = functional.all_reduce(drawn(rank, 6), "sum", world)
    second = functional.all_reduce(first + 1, "max", world)
    return [*results, functional.all_reduce(second.view(2, 3), "sum", world), first, second]


def gradients_of_collectives(rank, size):
    from torch.distributed import _functional_collectives as functional
    from torch.distributed import nn

    world, results = dist.group.WORLD, []
    calls = [
        (4, lambda x: nn.broadcast(x, 0)),
        (4, nn.all_reduce),
        (4, lambda x: torch.stack(nn.all_gather(x))),
        (4, lambda x: nn.scatter([x * i for i in range(size)], 0)),
        (4, lambda x: torch.stack(nn.all_to_all([torch.zeros_like(x)] * size, [x * i for i in range(size)]))),
        (4, lambda x: nn.reduce_scatter(torch.zeros_like(x), [x * i for i in range(size)])),
        (4, lambda x: nn.all_to_all_single(torch.zeros(size * 4), x.repeat(size))),
        (4, lambda x: functional.all_gather_tensor_autograd(x, 0, world)),
        (4 * size, lambda x: functional.reduce_scatter_tensor_autograd(x, "sum", 0, world)),
        (2 * size, lambda x: functional.all_to_all_single_autograd(x, None, None, world)),
    ]
    for length, call in calls:
        x = drawn(rank, length).requires_grad_()
        y = call(x)
        (y * (rank + 2)).sum().backward()
        results += [y, x.grad]
    return results


def compiled_collectives(rank, size):
    from torch.distributed import _functional_collectives as functional

    @torch.compile(backend="aot_eager", fullgraph=True)
    def of_functions(x):
        gathered = functional.all_gather_tensor(x + 1, 0, dist.group.WORLD)
        scattered = functional.reduce_scatter_tensor(gathered, "sum", 0, dist.group.WORLD)
        return functional.all_reduce(x * 2, "sum", dist.group.WORLD) + scattered.sum()

    @torch.compile(backend="aot_eager")
    def of_calls(x):
        y = x.clone()
        dist.all_reduce(y)
        gathered = torch.zeros(size * len(y), *y.shape[1:])
        dist.all_gather_into_tensor(gathered, y)
        return gathered

    return [of_functions(drawn(rank, 4, 4)), of_calls(drawn(rank, 4, 4))]


def meshes(rank, size):
    from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

    mesh = init_device_mesh(device(), (2, size // 2), mesh_dim_names=("outer", "inner"))
    groups = [
        mesh["outer"].get_group(),
        mesh["inner"].get_group(),
        mesh["outer", "inner"]._flatten("all").get_group(),
        DeviceMesh.from_group(dist.group.WORLD, device()).get_group(),
        DeviceMesh(device(), torch.arange(size, device="cpu").flip(0)).get_group(),
        dist.new_subgroups(2)[0],
        dist.new_subgroups(1)[0],
        dist.new_subgroups_by_enumeration([[0, size - 1], list(range(1, size - 1))] if size > 2 else [[0], [1]])[0],
    ]
    if rank < 2:
        groups.append(dist.new_group([0, 1], use_local_synchronization=True))
    results = []
    for group in groups:
        results.append(drawn(rank, 5))
        dist.all_reduce(results[-1], group=group)
    return [*results, mesh.get_coordinate()]


def objects(rank, size):
    everyone, at_root = [None] * size, [None] * size if rank == 0 else None
    dist.all_gather_object(everyone, {"rank": rank, "text": "a" * rank})
    dist.gather_object((rank, [1] * rank), at_root, dst=0)
    mine = [None]
    dist.scatter_object_list(mine, ["s" * i for i in range(size)] if rank == 1 else None, src=1)
    shared = [rank, "text", None]
    dist.broadcast_object_list(shared, src=size - 1)
    sent = [1, "two", {3: 4}] if rank == 0 else [None] * 3
    if rank == 0:
        dist.send_object_list(sent, dst=1)
    elif rank == 1:
        dist.recv_object_list(sent, src=0)
    pair = dist.new_subgroups(2)[0]
    of_pair, from_second = [None] * 2, [f"rank {dist.get_rank(pair)}"]
    dist.all_gather_object(of_pair, rank, group=pair)
    dist.broadcast_object_list(from_second, group=pair, group_src=1)
    return [everyone, at_root, mine, shared, sent, of_pair, from_second]


def messages(rank, size):
    after, before = (rank + 1) % size, (rank - 1) % size
    received = torch.zeros(5)
    both = [dist.P2POp(dist.isend, drawn(rank, 5), after), dist.P2POp(dist.irecv, received, before)]
    for work in dist.batch_isend_irecv(both):
        work.wait()
    sends = [dist.isend(drawn(rank, 3) + tag, after, tag=tag) for tag in range(4)]
    by_tag = [torch.zeros(3) for _ in range(4)]
    for tag in (3, 1, 0, 2):
        dist.recv(by_tag[tag], before, tag=tag)
    for work in sends:
        work.wait()
    together = [drawn(rank, 4), drawn(rank, 6)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for tensor in together:
            dist.all_reduce(tensor)
    manager.wait()
    if device() != "cpu":  # who may be any rank can't be waited for by a stream
        return [received, *by_tag, *together]
    if rank:
        dist.send(torch.full((4,), float(rank)), 0)
        return [received, *by_tag, *together]
    of_any = []
    for _ in range(size - 1):
        tensor = torch.zeros(4)
        of_any.append((dist.recv(tensor), tensor[0].item()))
    return [received, *by_tag, *together, sorted(of_any)]
