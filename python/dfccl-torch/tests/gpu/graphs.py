"""CUDA graphs: collectives that torch.cuda.graph captures, replayed without the host."""

import torch
import torch.distributed as dist

from processes import expect, expect_equal, run_check

REPLAYS = 1000


def captured(work, warm_ups=0):
    """A graph of what `work` does, on a stream of its own as PyTorch's own helpers have it."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(warm_ups):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    # Products have scratch memory by stream, and all graphs are captured on the same one: those that are replayed side
    # by side must not share it.
    torch._C._cuda_clearCublasWorkspaces()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    return graph, result


def sums(rank, ranks, device):
    x = torch.zeros(1000, device=device)

    def work():
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    graph, y = captured(work)
    for i in range(REPLAYS):
        x.fill_(rank + i)
        graph.replay()
        expect_equal(y, 2 * (ranks * (ranks - 1) / 2 + ranks * i) + 1, "an all-reduce of a graph")


def all_kinds(rank, ranks, device):
    x = torch.zeros(ranks * 1000, device=device)

    def work():
        gathered = torch.empty(ranks * 1000, device=device)
        dist.all_gather_into_tensor(gathered, x[:1000])
        scattered = torch.empty(1000, device=device)
        dist.reduce_scatter_tensor(scattered, x)
        exchanged = torch.empty_like(x)
        dist.all_to_all_single(exchanged, x)
        told = x.clone()
        dist.broadcast(told, 1)
        strided = torch.stack([x, x], dim=1)[:, 0]
        dist.all_reduce(strided)
        got = torch.empty(1000, device=device)
        ops = [dist.P2POp(dist.isend, x[:1000].clone(), (rank + 1) % ranks)]
        ops.append(dist.P2POp(dist.irecv, got, (rank - 1) % ranks))
        for request in dist.batch_isend_irecv(ops):
            request.wait()
        return gathered, scattered, exchanged, told, strided, got

    graph, results = captured(work)
    for i in range(REPLAYS):
        x.copy_(torch.arange(ranks).repeat_interleave(1000) * 10 + rank + i)
        graph.replay()
        gathered, scattered, exchanged, told, strided, got = results
        expect_equal(gathered, (torch.arange(ranks) + i).repeat_interleave(1000).to(device), "an all-gather")
        expect_equal(scattered, ranks * (10 * rank + i) + ranks * (ranks - 1) // 2, "a reduce-scatter")
        expect_equal(exchanged, (torch.arange(ranks) + 10 * rank + i).repeat_interleave(1000).to(device), "an all-to-all")
        blocks = torch.arange(ranks).repeat_interleave(1000).to(device) * 10
        expect_equal(told, blocks + 1 + i, "a broadcast")
        expect_equal(strided, ranks * (blocks + i) + ranks * (ranks - 1) // 2, "an all-reduce of what has gaps")
        expect_equal(got, (rank - 1) % ranks + i, "a message")


class Layer(torch.nn.Module):
    """A transformer's layer whose matrices are divided among the ranks: two all-reduces between products."""

    def __init__(self, width, ranks, device, seed):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)

        def drawn(*shape):
            return torch.nn.Parameter(torch.randn(*shape, generator=generator).to(device) * 0.05)

        self.heads, self.out = drawn(width, width), drawn(width, width)
        self.up, self.down = drawn(width, 4 * width // ranks), drawn(4 * width // ranks, width)

    def forward(self, x):
        attended = torch.softmax(x @ self.heads, dim=-1) @ self.out
        dist.all_reduce(attended)
        x = x + attended
        moved = torch.relu(x @ self.up) @ self.down
        dist.all_reduce(moved)
        return x + moved


def layers(rank, ranks, device):
    """Three graphs of four layers, which call the same, replayed in another order on each rank; results to the bit as one
    after the other."""
    graphs, inputs, outputs, nets = [], [], [], []
    for n in range(3):
        net = torch.nn.Sequential(*[Layer(256, ranks, device, 1000 * n + 10 * i + rank) for i in range(4)])
        x = torch.zeros(32, 256, device=device)
        with torch.no_grad():
            graph, y = captured(lambda net=net, x=x: net(x), warm_ups=2)
        for kept, one in zip((graphs, inputs, outputs, nets), (graph, x, y, net), strict=True):
            kept.append(one)
    streams = [torch.cuda.Stream() for _ in graphs]
    order = torch.Generator().manual_seed(rank)
    for i in range(REPLAYS):
        for n, x in enumerate(inputs):
            x.copy_(torch.randn(x.shape, generator=torch.Generator().manual_seed(10 * i + n)))
        torch.cuda.synchronize()
        for n in torch.randperm(3, generator=order).tolist():
            with torch.cuda.stream(streams[n]):
                graphs[n].replay()
        if i % 5 == 0:
            torch.cuda.synchronize()
        for n, stream in enumerate(streams):
            torch.cuda.current_stream().wait_stream(stream)
        if i % 20 == 0:
            together = [output.clone() for output in outputs]
            for n, output in enumerate(outputs):
                graphs[n].replay()
                expect(torch.equal(together[n], output), f"graph {n} differs from itself without others beside it")
                with torch.no_grad():  # without a graph the products' kernels may be others
                    expect(torch.allclose(output, nets[n](inputs[n]), atol=1e-4), f"graph {n} is wrong")


def callables(rank, ranks, device):
    """torch.cuda.make_graphed_callables, forwards and backwards, beside a gradient that is averaged without a graph."""
    torch.manual_seed(1)

    class Summed(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            y = x.clone()
            dist.all_reduce(y)
            return y

        @staticmethod
        def backward(context, gradient):
            total = gradient.clone()
            dist.all_reduce(total)
            return total

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = torch.nn.Linear(64, 64), torch.nn.Linear(64, 8)

        def forward(self, x):
            return self.last(Summed.apply(torch.relu(self.first(x))))

    plain = Net().to(device)
    graphed = Net().to(device)
    graphed.load_state_dict(plain.state_dict())
    made = torch.cuda.make_graphed_callables(graphed, (torch.randn(32, 64, device=device),))
    for _ in range(20):
        x = torch.randn(32, 64, device=device)
        for net, call in ((plain, plain), (graphed, made)):
            net.zero_grad()
            call(x).square().mean().backward()
            for parameter in net.parameters():
                dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG)
        for one, other in zip(plain.parameters(), graphed.parameters(), strict=True):
            expect(torch.equal(one.grad, other.grad), "a gradient of a graphed module differs")


def compiled(rank, ranks, device):
    """torch.compile's reduce-overhead mode, which captures graphs by itself."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return
    weight = torch.full((128, 128), 0.01, device=device)

    @torch.compile(mode="reduce-overhead")
    def step(x):
        y = torch.relu(x @ weight)
        y = torch.distributed._functional_collectives.all_reduce(y, "sum", dist.group.WORLD)
        return y * 2

    for i in range(10):
        x = torch.full((16, 128), float(rank + i), device=device)
        wanted = torch.relu(x @ weight)
        dist.all_reduce(wanted)
        torch.compiler.cudagraph_mark_step_begin()
        expect(torch.allclose(step(x), wanted * 2), "a compiled step with a graph differs")


def check(rank, ranks, device):
    for part in (sums, all_kinds, layers, callables, compiled):
        part(rank, ranks, device)
        torch.cuda.synchronize()
        if rank == 0:
            print(f"{part.__name__}: good", flush=True)


run_check(check, gpu_only=True)
