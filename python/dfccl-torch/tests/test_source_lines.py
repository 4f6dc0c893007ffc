"""At which line of the program something was issued, as `explain` and errors tell it."""

import os
import re
import sys
import threading
from datetime import timedelta
from inspect import currentframe
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from ranks import gather_results, run_ranks
from torch.nn.parallel import DistributedDataParallel

import dfccl_torch


def place(function, line):
    return f"at {__file__}:{line} in {function}"


def without_places(text):
    return re.sub(r"[0-9.]+ s ago, at \S+ in \w+", "ago", text)


def explained(has):
    """What `explain` says once it says that, to whoever looks on while others wait."""
    while True:
        text = dfccl_torch.explain()
        if has(text):
            return text


def issue_two():
    line = currentframe().f_lineno + 1
    works = [dist.all_reduce(torch.ones(3), async_op=True)]
    with dfccl_torch.tag("layer3"):
        works.append(dist.broadcast(torch.ones(5), 0, async_op=True))
    return line, works


def lines_of_both(rank, size):
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        store.get("rank 0 has looked")
        _, works = issue_two()
        for work in works:
            work.wait()
        return
    line, (summed, spread) = issue_two()
    waiting = threading.Thread(target=summed.wait)
    waiting.start()
    # Of what a thread waits for it is told who is missing; the other one nobody waits for yet.
    missing = "all-reduce of 3 float32, sum (ranks 0, 1), in group 0, run 0: rank 1 has not submitted it"
    told = f"{place('issue_two', line)}: {missing}"
    text = explained(lambda text: told in text)
    assert text.endswith(place("issue_two", line + 2) + "\n"), text
    page = (Path(__file__).parents[3] / "docs" / "pytorch.md").read_text(encoding="utf-8")
    shown = page[page.index("Issued here") :]
    assert without_places(text[text.index("Issued here") :]) == without_places(shown[: shown.index("```")])
    with pytest.raises(dist.DistBackendError) as error:
        spread.wait(timedelta(milliseconds=10))
    assert str(error.value).splitlines()[0].endswith(f"It was issued {place('issue_two', line + 2)}."), str(error.value)
    store.set("rank 0 has looked", "")
    waiting.join()
    spread.wait()
    assert "Issued here" not in dfccl_torch.explain()


def test_the_line_of_the_program_is_named_where_it_was_issued():
    run_ranks(2, lines_of_both)


def line_of_a_backward_pass(rank, size):
    store = dist.distributed_c10d._get_default_store()
    model = DistributedDataParallel(torch.nn.Linear(4, 4))
    loss = model(torch.ones(2, 4)).sum()
    if rank == 1:
        store.get("rank 0 has looked")
        loss.backward()
        return
    line = currentframe().f_lineno + 8

    def look():
        explained(lambda text: place("line_of_a_backward_pass", line) in text)
        store.set("rank 0 has looked", "")

    looking = threading.Thread(target=look)
    looking.start()
    loss.backward()
    looking.join()


def test_of_what_torch_issues_it_is_the_programs_line_that_is_named():
    run_ranks(2, line_of_a_backward_pass)


def first_of_many_threads(rank, size):
    # Python's lock changes hands wherever it can.
    sys.setswitchinterval(1e-6)
    start = threading.Barrier(8)

    def issue(number):
        start.wait()
        with dfccl_torch.tag(str(number)):
            dist.all_reduce(torch.ones(3))

    threads = [threading.Thread(target=issue, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_may_look_for_their_lines_at_once():
    run_ranks(2, first_of_many_threads, limit_s=60)


def nothing_of_lines(rank, size):
    os.environ["DFCCL_SOURCE_LINES"] = "0"  # read at the first operation
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        store.get("rank 0 has looked")
    _, works = issue_two()
    if rank == 0:
        text = dfccl_torch.explain()
        store.set("rank 0 has looked", "")
        assert text.count("ago, at a place outside of Python") == len(works) and __file__ not in text, text
    for work in works:
        work.wait()


def test_lines_can_be_left_out():
    run_ranks(2, nothing_of_lines)


def wait_for_who_is_slow(rank, folder):
    records = Path(folder) / "records"
    records.mkdir(exist_ok=True)
    os.environ["DFCCL_FLIGHT_RECORD"] = f"{records}/rank_"
    dist.init_process_group("dfccl", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    store = dist.distributed_c10d._get_default_store()
    if rank == 1:
        store.get("rank 0 has waited")
        dist.all_reduce(torch.ones(3))
        store.get("rank 0's time was up")
        dist.all_reduce(torch.ones(5))
    else:
        waiting = threading.Thread(target=dist.all_reduce, args=(torch.ones(3),))
        waiting.start()
        waiting.join(0.5)  # longer than it takes until a wait first tells of itself
        assert not list(records.iterdir())
        store.set("rank 0 has waited", "")
        waiting.join()
        late = dist.all_reduce(torch.ones(5), async_op=True)
        with pytest.raises(dist.DistBackendError, match="Timed out"):
            late.wait(timedelta(milliseconds=10))
        assert list(records.iterdir())
        store.set("rank 0's time was up", "")
        late.wait()
    dist.destroy_process_group()


def test_a_wait_whose_time_is_not_up_writes_no_flight_record(tmp_path):
    gather_results(2, wait_for_who_is_slow, (str(tmp_path),))
