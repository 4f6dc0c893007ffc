"""How gradients are averaged: the three ways in which training programs use collectives behind streams.

each:     a run for every gradient as soon as the backward pass has made it, in the order in which it does;
shuffled: the same at the end of the backward pass, in an order that each rank draws anew;
bucket:   DistributedDataParallel fills buckets, its hook runs one collective a bucket on a side stream.
"""
import random

import torch

import dfccl_ctypes as dfccl

MODES = ("each", "shuffled", "bucket")


def _current_stream():
    return torch.cuda.current_stream().cuda_stream


class GradientReducer:
    """A collective for every parameter, in place, behind the stream that makes the gradient."""

    def __init__(self, rank, model, is_shuffled, seed):
        self._rank, self._random = rank, random.Random(seed)
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._is_shuffled = is_shuffled
        self.network = model
        for number, parameter in enumerate(self._parameters):
            rank.register_all_reduce(number, parameter.numel(), operator=dfccl.AVG)
            if not is_shuffled:
                parameter.register_post_accumulate_grad_hook(lambda _, number=number: self._submit(number))

    def finish(self):
        """Behind the backward pass: the current stream goes on with averaged gradients."""
        numbers = list(range(len(self._parameters)))
        if self._is_shuffled:
            self._random.shuffle(numbers)
            for number in numbers:
                self._submit(number)
        for number in numbers:
            self._rank.wait_on_stream(number, _current_stream())

    def _submit(self, number):
        gradient = self._parameters[number].grad
        if not gradient.is_contiguous():
            raise RuntimeError(f"the gradient of parameter {number} is not contiguous, so its address says too little")
        self._rank.run_on_stream(number, gradient.data_ptr(), gradient.data_ptr(), _current_stream())


class BucketReducer:
    """DistributedDataParallel with a hook. It needs a process group, which moves none of the gradients."""

    def __init__(self, rank, model, device):
        self._rank, self._ids = rank, {}
        self._side = torch.cuda.Stream()
        self.network = torch.nn.parallel.DistributedDataParallel(
            model, device_ids=[device], broadcast_buffers=False, init_sync=False)
        self.network.register_comm_hook(None, self._hook)

    def finish(self):
        """Nothing: DistributedDataParallel waits for its futures at the end of the backward pass."""

    def _hook(self, _, bucket):
        buffer = bucket.buffer()
        # After the first iteration the buckets are cut anew; the new ones get ids of their own.
        key = (bucket.index(), buffer.numel())
        if key not in self._ids:
            self._ids[key] = len(self._ids)
            self._rank.register_all_reduce(self._ids[key], buffer.numel(), operator=dfccl.AVG)
        collective = self._ids[key]
        self._side.wait_stream(torch.cuda.current_stream())
        self._rank.run_on_stream(collective, buffer.data_ptr(), buffer.data_ptr(), self._side.cuda_stream)
        with torch.cuda.stream(self._side):
            self._rank.wait_on_stream(collective, self._side.cuda_stream)
            # The future notes an event of this stream, for which its user's stream waits.
            future = torch.futures.Future(devices=[torch.cuda.current_device()])
            future.set_result(buffer)
        return future


class NoReducer:
    """Each rank on its own: what the loop costs without communication."""

    def __init__(self, model):
        self.network = model

    def finish(self):
        """Nothing."""


def make_reducer(mode, rank, model, device, seed):
    if mode == "none":
        return NoReducer(model)
    if mode == "bucket":
        return BucketReducer(rank, model, device)
    return GradientReducer(rank, model, mode == "shuffled", seed)
