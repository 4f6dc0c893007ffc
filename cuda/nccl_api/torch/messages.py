"""Messages between neighbours, and pieces of different sizes from all to all: right, and how long a round takes."""
import torch
import torch.distributed as dist

BYTES = [8, 4096, 32 << 10, 256 << 10, 1 << 20, 4 << 20, 32 << 20]


def exchange(send, recv):
    """With both neighbours, in one group of the library's."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    calls = [dist.P2POp(dist.isend, send, (rank + 1) % ranks), dist.P2POp(dist.irecv, recv, (rank - 1) % ranks)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()


def unevenly(count, sender, receiver):
    """Elements of a piece; in round numbers, so that few different ones come."""
    return count // (2 + (sender + receiver) % 2)


def all_to_all(send, recv):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    count = send.numel() // ranks
    sent = [unevenly(count, rank, other) for other in range(ranks)]
    received = [unevenly(count, other, rank) for other in range(ranks)]
    dist.all_to_all_single(recv[:sum(received)], send[:sum(sent)], received, sent)


def device_us(call, rounds):
    """Of a round, on the device, when the host has submitted all of them."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    dist.barrier()
    torch.cuda._sleep(20_000_000)
    begin.record()
    for _ in range(rounds):
        call()
    end.record()
    torch.cuda.synchronize()
    return 1000 * begin.elapsed_time(end) / rounds


def check(call, send, recv, expected):
    recv.fill_(-1)
    call(send, recv)
    torch.cuda.synchronize()
    assert torch.equal(recv[:expected.numel()], expected), f"{call.__name__} of {send.numel()} elements"


def run(options, device):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    times = {}
    for size in BYTES:
        count = size // 4
        numbers = [torch.arange(count, device=device, dtype=torch.int32) * (r + 1) for r in range(ranks)]
        send, recv = numbers[rank], torch.empty_like(numbers[rank])
        check(exchange, send, recv, numbers[rank - 1])
        times[f"exchange-{size}"] = min(device_us(lambda: exchange(send, recv), options.iterations) for _ in range(3))
        if size < 4096:
            continue
        pieces = []
        for sender in range(ranks):
            lengths = [unevenly(count // ranks, sender, other) for other in range(ranks)]
            begin = sum(lengths[:rank])
            pieces.append(numbers[sender][begin:begin + lengths[rank]])
        check(all_to_all, send, recv, torch.cat(pieces))
        times[f"all-to-all-{size}"] = min(device_us(lambda: all_to_all(send, recv), options.iterations) for _ in range(3))
    return {name: round(us, 1) for name, us in times.items()}
