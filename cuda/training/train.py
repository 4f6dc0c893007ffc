#!/usr/bin/env python3
"""Trains a network with processes that share a machine; dfccl averages the gradients behind PyTorch's streams.

    DFCCL_LIBRARY=.../libdfccl.so.0 python3 train.py --model resnet50 --mode each --iterations 60

starts two processes. Rank r has GPU r, again from 0 where there are no more. At the end the ranks compare their
weights, which must be equal to the bit: each rank has another input, so without averaging they differ.

Exit: 0 good; 1 an error; 3 nothing moved for --patience seconds (see watchdog.py); 4 the weights differ, or a kernel
that was loaded meanwhile computed something else. `matrix.py` runs many of these.
"""
import argparse
import faulthandler
import hashlib
import json
import os
import sys
import tempfile
import time
import traceback

# Before PyTorch is loaded: asking whether there are GPUs must not open them, else no child could use them after a fork.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

MODELS, MODES = ("resnet50", "vit", "gpt2"), ("none", "each", "shuffled", "bucket")
PASSED, FAILED, DIFFERS = 0, 1, 4
CONTROL = ("DFCCL_CONTROL", "old-path")


def parse_cases(text):
    """"each:0,shuffled:3" as [("each", 0), ("shuffled", 3)]: a mode, and its warm-up iterations."""
    cases = []
    for word in text.split(","):
        mode, colon, warm = word.strip().partition(":")
        if mode not in MODES:
            raise argparse.ArgumentTypeError(f"'{word}': no mode '{mode}'; there are {', '.join(MODES)}")
        if not colon or not warm.isdigit():
            raise argparse.ArgumentTypeError(f"'{word}' says no warm-up iterations; write {mode}:0 or {mode}:3")
        cases.append((mode, int(warm)))
    return cases


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number above 0")
    return int(text)


def natural(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 0 on")
    return int(text)


def add_training_options(parser):
    """What a case is trained with; matrix.py has these too."""
    parser.add_argument("--ranks", type=positive, default=2)
    parser.add_argument("--iterations", type=positive, default=60)
    parser.add_argument("--batch", type=positive, default=2)
    parser.add_argument("--synchronize", type=natural, default=0, metavar="N", help="the device, every N iterations")
    parser.add_argument("--empty-cache", type=natural, default=0, metavar="N", help="PyTorch's, every N iterations")
    parser.add_argument("--fresh-kernel", type=natural, default=0, metavar="N",
                        help="compile and load a kernel every N iterations, while the stream waits for gradients")
    parser.add_argument("--expandable-segments", action="store_true", help="PyTorch's allocator maps virtual memory")
    parser.add_argument("--keep-gradients", action="store_true",
                        help="in the same buffers; else PyTorch makes them anew for every iteration, as it does")
    parser.add_argument("--control", action="store_true", help=f"the library with {'='.join(CONTROL)}: expected to hang")
    parser.add_argument("--arena-mb", type=natural, default=0, help="device memory of a rank's library; 0: its default")
    parser.add_argument("--patience", type=float, default=30, help="seconds in which something must move")
    parser.add_argument("--native-stacks", action="store_true", help="of what hangs, by cuda-gdb")


def parser():
    made = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    made.add_argument("--model", choices=MODELS, default="resnet50")
    made.add_argument("--mode", choices=MODES, default="each")
    made.add_argument("--warm", type=natural, default=0, help="iterations without communication, before the first")
    made.add_argument("--cases", type=parse_cases, metavar="MODE:WARM,...",
                      help="several, one after the other in the same processes, in place of --mode and --warm; only the "
                      "first of them meets modules that are not loaded")
    made.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: --mode none only")
    made.add_argument("--folder", help="for results and stacks; default: a new one")
    made.add_argument("--job", default=f"train-{os.getpid()}")
    made.add_argument("--rank", type=natural, help="be this rank only; the others are started by somebody else")
    add_training_options(made)
    return made


def check(options, made):
    options.cases = options.cases or [(options.mode, options.warm)]
    if options.device == "cpu" and any(mode != "none" for mode, _ in options.cases):
        made.error("streams need a GPU: with --device cpu there is only --mode none")
    if options.device == "cpu" and (options.synchronize or options.empty_cache or options.fresh_kernel):
        made.error("--synchronize, --empty-cache and --fresh-kernel are about a GPU, and --device is cpu")
    if options.rank is not None and options.rank >= options.ranks:
        made.error(f"there is no rank {options.rank} of {options.ranks}")
    if options.rank is not None and options.folder is None:
        made.error("--rank needs --folder, where the ranks find each other")


def set_environment(options):
    """Before PyTorch is loaded."""
    if options.control:
        os.environ[CONTROL[0]] = CONTROL[1]
    if options.expandable_segments:
        for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):  # the second is the name up to PyTorch 2.8
            os.environ[name] = "expandable_segments:True"


def digest_of(model):
    """Of all weights, to the bit."""
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(memoryview(parameter.detach().cpu().contiguous().reshape(-1).numpy()).cast("B"))
    return digest.hexdigest()[:16]


def train(options, number, mode, warm, job, model, dog):
    """One case on one rank. @return its result, without what only all ranks know."""
    import torch

    import models
    from reducers import make_reducer

    is_gpu = options.device == "cuda"
    device = torch.device("cuda", number % torch.cuda.device_count()) if is_gpu else torch.device("cpu")
    if is_gpu:
        torch.cuda.set_device(device)
    dog.at("the model moves to the device")
    model = model.to(device)
    before = next(model.parameters()).detach().cpu().clone()
    loss_of = models.make_loss(options.model, options.batch, device, number)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for iteration in range(warm):
        dog.at(f"warm-up iteration {iteration}")
        loss_of(model).backward()
        optimizer.zero_grad()

    rank = None
    if mode != "none":
        import dfccl_ctypes
        devices = [r % torch.cuda.device_count() for r in range(options.ranks)]
        dog.at("joining the world")
        rank = dfccl_ctypes.Rank(job, number, options.ranks, devices, arena_bytes=options.arena_mb << 20)
        dog.rank = rank
    dog.at("registering")
    reducer = make_reducer(mode, rank, model, device, seed=7 * number + 1)
    disturbances = None
    if is_gpu:
        from disturbances import Disturbances
        disturbances = Disturbances(options)

    started = time.monotonic()
    for iteration in range(options.iterations):
        dog.at(f"iteration {iteration}, forward")
        loss = loss_of(reducer.network)
        dog.at(f"iteration {iteration}, backward")
        loss.backward()
        dog.at(f"iteration {iteration}, gradients")
        reducer.finish()
        if disturbances:
            disturbances.before_step(iteration, dog)
        dog.at(f"iteration {iteration}, optimizer")
        optimizer.step()
        optimizer.zero_grad(set_to_none=not options.keep_gradients)
        if disturbances:
            disturbances.after_step(iteration, dog)
    dog.at("the end of all streams")
    if is_gpu:
        torch.cuda.synchronize()
    seconds = time.monotonic() - started
    dog.at("the end of all runs")
    if rank:
        rank.wait()
    dog.at("weights")
    return {
        "mode": mode, "warm": warm, "msPerIteration": round(1e3 * seconds / options.iterations, 2),
        "loss": round(float(loss.detach()), 5), "digest": digest_of(model),
        "hasLearned": not torch.equal(before, next(model.parameters()).detach().cpu()),
        "isRight": disturbances is None or disturbances.are_right(),
    }


def close(rank, dog):
    """When no rank needs another any more."""
    if rank is None:
        return
    dog.rank = None
    dog.at("leaving the world")
    rank.close()


def run_rank(options, number, make_model):
    """All cases of one process. Writes FOLDER/rankN.jsonl. @param make_model the network's copy, on the CPU"""
    import torch.distributed as dist

    from watchdog import Watchdog

    import torch

    faulthandler.enable()
    # PyTorch replaces the pool of threads that a fork broke when it is first asked for. The backward pass asks from one
    # thread for each GPU, and of two at once one finds none and ends the process: so it is asked for here, by one.
    torch.set_num_threads(torch.get_num_threads())
    dog = Watchdog(os.path.join(options.folder, f"rank{number}"), options.patience, options.native_stacks)
    dog.at("meeting the other ranks")
    # For comparing weights, and as DistributedDataParallel wants one. It moves no gradients.
    dist.init_process_group("gloo", init_method=f"file://{os.path.abspath(options.folder)}/rendezvous", rank=number,
                            world_size=options.ranks)
    code = PASSED
    with open(os.path.join(options.folder, f"rank{number}.jsonl"), "a") as results:
        for index, (mode, warm) in enumerate(options.cases):
            result = train(options, number, mode, warm, f"{options.job}-{index}", make_model(options.model), dog)
            dog.at("comparing weights")
            digests = [None] * options.ranks
            dist.all_gather_object(digests, result["digest"])
            close(dog.rank, dog)
            result["sameWeights"] = len(set(digests)) == 1
            is_good = (result["sameWeights"] or mode == "none") and result["hasLearned"] and result["isRight"]
            result["outcome"] = "passed" if is_good else "wrong"
            code = code if is_good else DIFFERS
            print(json.dumps({"model": options.model, "rank": number, **result}), file=results, flush=True)
            if number == 0:
                print(json.dumps({"model": options.model, **result}), flush=True)
    return code


def run_and_exit(options, number, make_model):
    """As a whole process: nothing behind it tears down what may hang."""
    try:
        code = run_rank(options, number, make_model)
    except BaseException:
        traceback.print_exc()
        code = FAILED
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main():
    made = parser()
    options = made.parse_args()
    check(options, made)
    set_environment(options)
    options.folder = options.folder or tempfile.mkdtemp(prefix="training-")
    os.makedirs(options.folder, exist_ok=True)
    import models
    if options.rank is not None:
        run_and_exit(options, options.rank, models.make_model)
    print(f"results and stacks in {options.folder}", flush=True)
    children = []
    for number in range(options.ranks):
        child = os.fork()
        if child == 0:
            run_and_exit(options, number, models.make_model)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(next((code for code in codes if code != 0), 0))


if __name__ == "__main__":
    main()
