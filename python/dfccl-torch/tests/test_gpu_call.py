"""A rank without operations on its GPU, and others that wait until they know which GPU that is."""

import threading
from types import SimpleNamespace

import pytest
import torch
import torch.distributed as dist

from dfccl_torch import gpu_call
from dfccl_torch.gpu_call import Listener, known_gpu, stop_listeners

LIMIT_S = 20


class Call:
    """Made, and answered by all others, from the beginning."""

    def __init__(self):
        self.looks = 0
        self.looked = threading.Event()
        self.told = []
        self.joined = threading.Event()
        self.error = None
        self.join_error = None
        self.made = True
        self.over = False
        self.known = True

    def is_over(self):
        return self.over

    def is_made(self):
        self.looks += 1
        if self.looks > 2:
            self.looked.set()
        if self.error:
            raise self.error
        return self.made

    def tell(self, device):
        self.told.append(device)

    def join(self):
        if self.join_error:
            raise self.join_error
        if self.known:
            self.joined.set()
        self.looked.set()
        return self.known


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(gpu_call, "_PERIOD_S", 0.001)
    monkeypatch.setattr(torch.cuda, "init", lambda: None)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    yield
    stop_listeners(LIMIT_S)
    assert not gpu_call._listeners


def ends(listener):
    listener._thread.join(LIMIT_S)
    return not listener._thread.is_alive()


def test_a_call_is_answered_with_this_process_s_gpu():
    call = Call()
    listener = Listener(call, 2)
    assert call.joined.wait(LIMIT_S)
    assert ends(listener)
    assert call.told == [0]


def test_nothing_is_told_where_nobody_calls():
    call = Call()
    call.made = False
    listener = Listener(call, 2)
    assert call.looked.wait(LIMIT_S)
    assert not call.told and not call.joined.is_set()
    call.over = True
    assert ends(listener)


def test_who_does_not_know_its_gpu_yet_tells_it_later(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    contexts = set()
    monkeypatch.setattr(torch._C, "_cuda_hasPrimaryContext", contexts.__contains__, raising=False)
    call = Call()
    Listener(call, 2)
    assert call.looked.wait(LIMIT_S)
    assert not call.told
    contexts.add(3)
    assert call.joined.wait(LIMIT_S)
    assert call.told == [3]


def test_who_has_told_its_gpu_waits_for_no_rank_that_has_not():
    call = Call()
    call.known = False
    listener = Listener(call, 2)
    assert call.looked.wait(LIMIT_S)
    assert call.told == [0] and not call.joined.is_set()
    call.known = True
    assert call.joined.wait(LIMIT_S)
    assert ends(listener)
    assert call.told == [0]


def test_who_is_stopped_asks_no_more():
    call = Call()
    call.known = False
    listener = Listener(call, 2)
    assert call.looked.wait(LIMIT_S)
    listener.stop()
    assert ends(listener)


def test_a_store_that_is_gone_ends_it_without_a_word(recwarn):
    for error in dist.DistNetworkError("closed"), dist.DistStoreError("timeout"), RuntimeError("no file"):
        call = Call()
        call.error = error
        assert ends(Listener(call, 2))
        call = Call()
        call.join_error = dist.DistNetworkError("closed")
        assert ends(Listener(call, 2))
    assert not recwarn.list


def test_a_gpu_that_is_only_gone_past_is_not_told(monkeypatch):
    known = iter([0, 1, 1, 1])
    monkeypatch.setattr(gpu_call, "known_gpu", lambda: next(known))
    call = Call()
    assert ends(Listener(call, 2))
    assert call.told == [1]


@pytest.mark.parametrize("error", [dist.DistBackendError("no memory"), RuntimeError("no memory")])
def test_a_gpu_that_can_not_join_is_told(error):
    call = Call()
    call.join_error = error
    with pytest.warns(RuntimeWarning, match="other ranks use GPUs, and this one can't join them: no memory"):
        assert ends(Listener(call, 2))


@pytest.mark.parametrize(
    ("used", "local", "known"),
    [([], None, None), ([2], None, 2), ([2], "2", 2), ([0], "2", None), ([0, 2], "2", None), ([2], "7", 2), ([1], "x", 1)],
)
def test_a_gpu_is_known_by_its_use(monkeypatch, used, local, known):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(torch._C, "_cuda_hasPrimaryContext", used.__contains__, raising=False)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    if local is not None:
        monkeypatch.setenv("LOCAL_RANK", local)
    assert known_gpu() == known


def test_a_gpu_is_known_where_there_is_one_or_the_group_has_a_device_id(monkeypatch):
    assert known_gpu() == 0
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    world = SimpleNamespace(bound_device_id=torch.device("cuda", 3))
    monkeypatch.setattr(gpu_call, "dist", SimpleNamespace(group=SimpleNamespace(WORLD=world)))
    assert known_gpu() == 3

