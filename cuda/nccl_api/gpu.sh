#!/bin/bash
# Trains and communicates by PyTorch's own backend "nccl", with libnccl.so.2 of this project in NCCL's place, on this
# host's GPU or GPUs; with one, two ranks share it. Needs python3 with torch; no network.
# Usage: gpu.sh DIR OUT [PART...]    DIR has libnccl.so.2, or is the unpacked package; logs and results go to OUT.
# A line of JSON a step; every step has a time limit, after which its whole process group is killed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
shift 2
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

# step NAME LIMIT LIBRARY PROGRAM-ARGUMENTS...: LIBRARY "-": PyTorch's own.
step() {
  local name=$1 limit=$2 preloaded=$3 begin=$SECONDS code=0
  shift 3
  setsid python3 "$programs/launch.py" --library "$preloaded" "$@" >"$out/$name.log" 2>&1 &
  local group=$!
  while kill -0 "$group" 2>/dev/null && [ $((SECONDS - begin)) -lt "$limit" ]; do sleep 0.5; done
  if kill -0 "$group" 2>/dev/null; then code=124; fi
  kill -KILL -- "-$group" 2>/dev/null # also what a rank has left behind
  wait "$group" 2>/dev/null
  local ended=$?
  [ $code -eq 124 ] || code=$ended
  local said
  said=$(grep '^RESULT ' "$out/$name.log" | tail -1 | cut -c8-)
  echo "{\"step\":\"$name\",\"gpus\":$gpus,\"exit\":$code,\"seconds\":$((SECONDS - begin)),\"result\":${said:-null}}" |
    tee -a "$out/nccl.jsonl"
  [ $code -le $worst ] || worst=$code
}

parts=("$@")
[ ${#parts[@]} -ne 0 ] || parts=(collectives orders ddp-resnet ddp-gpt fsdp-gpt destroy exit)
for part in "${parts[@]}"; do
  case $part in
    collectives) step collectives 180 "$library" collectives ;;
    orders) step orders 180 "$library" orders --rounds 100 ;;
    ddp-resnet) step ddp-resnet 240 "$library" ddp-resnet --iterations 20 ;;
    ddp-gpt) step ddp-gpt 240 "$library" ddp-gpt --iterations 20 ;;
    fsdp-gpt) step fsdp-gpt 240 "$library" fsdp-gpt --iterations 20 ;;
    destroy) step destroy 120 "$library" destroy --rounds 5 ;;
    exit) step exit 60 "$library" exit ;;
    soak) for i in $(seq 20); do step "soak-$i" 240 "$library" ddp-resnet --iterations 20; done ;;
    # What NCCL does with the same orders; needs a GPU for each rank, and is expected to hang.
    orders-of-nccl) NCCL_LAUNCH_ORDER_IMPLICIT=1 step orders-of-nccl 90 - orders --rounds 100 ;;
    *) echo "There is no part $part." >&2 && worst=2 ;;
  esac
done
exit $worst
