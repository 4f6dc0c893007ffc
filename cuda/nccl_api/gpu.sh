#!/bin/bash
# libnccl.so.2 of this project in NCCL's place, on this host's GPU or GPUs; where there are fewer than ranks, they share
# them: its own tests, callers of other kinds, and PyTorch's own backend "nccl", got in by each of the ways there are.
# Needs python3 with torch; no network.
# Usage: gpu.sh DIR OUT [PART...]    DIR has libnccl.so.2, or is the unpacked package; logs and results go to OUT.
# A line of JSON a step; every step has a time limit, after which its whole process group is killed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
callers=$here/../test/callers
[ -d "$callers" ] || callers=$here/nccl-callers
programs=$here/torch
[ -d "$programs" ] || programs=$here/nccl-torch
library=$dir/libnccl.so.2
if [ ! -e "$library" ]; then
  library=$dir/nccl/libnccl.so.2
  [ -e "$library" ] || [ ! -e "$dir/binaries.tar.xz" ] ||
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$dir/binaries.tar.xz" "$dir"
fi
[ -e "$library" ] || { echo "There is no libnccl.so.2 in $dir." >&2; exit 2; }
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())') || exit 2
worst=0

# run NAME LIMIT COMMAND...: what it says is in NAME.log, and its last "RESULT {...}", or its last line, in the step's.
run() {
  local name=$1 limit=$2 begin=$SECONDS code=0
  shift 2
  setsid "$@" >"$out/$name.log" 2>&1 &
  local group=$!
  while kill -0 "$group" 2>/dev/null && [ $((SECONDS - begin)) -lt "$limit" ]; do sleep 0.5; done
  if kill -0 "$group" 2>/dev/null; then code=124; fi
  kill -KILL -- "-$group" 2>/dev/null # also what a rank has left behind
  wait "$group" 2>/dev/null
  local ended=$?
  [ $code -eq 124 ] || code=$ended
  local said
  said=$(grep '^RESULT ' "$out/$name.log" | tail -1 | cut -c8-)
  [ -n "$said" ] || said=$(grep . "$out/$name.log" | tail -1 | python3 -c 'import json, sys; print(json.dumps(sys.stdin.read().strip()))')
  echo "{\"step\":\"$name\",\"gpus\":$gpus,\"exit\":$code,\"seconds\":$((SECONDS - begin)),\"result\":${said:-null}}" |
    tee -a "$out/nccl.jsonl"
  [ $code -le $worst ] || [ $code -eq 77 ] || worst=$code # 77: what it needs isn't there
}
# step NAME LIMIT LIBRARY PROGRAM-ARGUMENTS...: ranks of PyTorch's. LIBRARY "-": its own.
step() {
  local name=$1 limit=$2 preloaded=$3
  shift 3
  run "$name" "$limit" python3 "$programs/launch.py" --library "$preloaded" "$@"
}
# The distribution dfccl-nccl as it lies here.
wheel=(env PYTHONPATH="$here/python/dfccl-nccl/src" DFCCL_NCCL_LIBRARY="$library" DFCCL_EXPECTED_LIBRARY="$library" python3 -m dfccl_nccl)
# What PyTorch brings, where it is in a wheel of its own.
nvidias() { python3 -c 'import sys, glob; print(next(iter(sum((glob.glob(p + "/nvidia/nccl/lib/libnccl.so.2") for p in sys.path if p), [])), ""))'; }
# CUDA's, as PyTorch has it.
runtime() { python3 -c 'import torch; print(next(line.split()[-1] for line in open("/proc/self/maps") if "libcudart" in line))'; }

parts=("$@")
[ ${#parts[@]} -ne 0 ] || parts=(tests callers overhead audit wheel collectives messages orders ddp-resnet ddp-gpt fsdp-gpt tensor-parallel pipeline destroy exit)
for part in "${parts[@]}"; do
  case $part in
    collectives) step collectives 180 "$library" collectives ;;
    orders) step orders 180 "$library" orders --rounds 100 ;;
    ddp-resnet) step ddp-resnet 240 "$library" ddp-resnet --iterations 20 ;;
    ddp-gpt) step ddp-gpt 240 "$library" ddp-gpt --iterations 20 ;;
    fsdp-gpt) step fsdp-gpt 240 "$library" fsdp-gpt --iterations 20 ;;
    tensor-parallel | pipeline | messages) step "$part" 180 "$library" "$part" --iterations 20 ;;
    destroy) step destroy 120 "$library" destroy --rounds 5 ;;
    exit) step exit 60 "$library" exit ;;
    tests)
      run tests 300 "$dir/bin/nccl_gpu_test" -d
      run tests-of-processes 300 "$dir/bin/nccl_gpu_processes_test"
      ;;
    callers) # as serving programs and compilers' runtimes call it, by ctypes, and CuPy's module where there is one
      for caller in serving compiled cupy_module; do
        run "caller-$caller" 120 python3 -B "$callers/$caller.py" "$library" "$(runtime)"
      done
      ;;
    overhead) run overhead 60 "$dir/bin/nccl_call_overhead" 300 ;;
    audit) step audit 120 "$library" --loader audit ddp-resnet --iterations 5 ;;
    wheel)
      run wheel-check 60 "${wheel[@]}" check
      run wheel-run 120 "${wheel[@]}" run -- python3 "$programs/launch.py" --library - ddp-resnet --iterations 5
      file=$(nvidias)
      if [ -n "$file" ]; then
        run wheel-replace 60 "${wheel[@]}" replace
        DFCCL_EXPECTED_LIBRARY=$file step wheel-replaced 120 - ddp-resnet --iterations 5
        run wheel-restore 60 "${wheel[@]}" restore
      fi
      ;;
    fallback) # all of it NVIDIA's, through this library; a GPU for each rank
      for what in collectives "ddp-resnet --iterations 5"; do
        DFCCL_REAL_NCCL=$(nvidias) DFCCL_REAL_NCCL_FOR=all step "fallback-${what%% *}" 120 "$library" $what
      done
      ;;
    machines) # ranks that believe to be on two: what both are in is NVIDIA's, the rest this library's; a GPU for each
      DFCCL_REAL_NCCL=$(nvidias) NCCL_SOCKET_IFNAME=lo step machines 180 "$library" --ranks "$gpus" --machines 2 hybrid --iterations 20
      ;;
    perf) # the collective tests on it as they are on NVIDIA's; a GPU for each rank
      for test in ${PERF_TESTS:-all_reduce all_gather reduce_scatter reduce broadcast alltoall gather scatter sendrecv}; do
        for mode in ${PERF_MODES:--g -t --processes}; do
          run "perf-$test$mode" 120 env LD_PRELOAD="$library" "$here/run.sh" perf "${test}_perf" $mode 2 -b 1000 -e 4194000 -f 4194 -d all \
            -o all -r -1 -n 2 -T 5 --backend nccl
        done
      done
      ;;
    soak-*) # soak-fsdp-gpt, say: twenty times
      for i in $(seq 20); do step "$part-$i" 240 "$library" "${part#soak-}" --iterations "${SOAK_ITERATIONS:-20}"; done
      ;;
    # What NCCL does with the same orders; needs a GPU for each rank, and is expected to hang.
    orders-of-nccl) NCCL_LAUNCH_ORDER_IMPLICIT=1 step orders-of-nccl 90 - orders --rounds 100 ;;
    *) echo "There is no part $part." >&2 && worst=2 ;;
  esac
done
exit $worst
