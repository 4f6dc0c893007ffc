#!/bin/bash
# Compiled programs on GPUs: right to the bit in random orders, then measured beside the built-in choice and NCCL. Lies in
# the folder that `npm run pack:gpu` makes, and needs nothing else. Usage: measure-programs.sh OUTPUT-DIRECTORY [RANKS]
# [STEP...]; without steps, all of them. A file a step; every step has its own time limit.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
ranks=${2:-4}
shift $(($# < 2 ? $# : 2))
wanted=("$@")
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 # multicast can put a shared host's GPUs out of service
export NCCL_LIBRARY=${NCCL_LIBRARY:-$(find / -name "libnccl.so.2" -not -path "/proc/*" 2>/dev/null | head -1)}

# step LIMIT NAME ARGUMENTS: one command of the packed command line.
step() {
  local limit=$1 name=$2
  shift 2
  if [ ${#wanted[@]} -ne 0 ] && [[ " ${wanted[*]} " != *" ${name%%-*} "* ]]; then return; fi
  echo "\$ dfccl $*" >>"$out/$name.txt"
  timeout -k 5 "$limit" "$here/run.sh" "$@" >>"$out/$name.txt" 2>&1
  local code=$?
  echo "$name: $code"
  [ $code -eq 0 ] || tail -3 "$out/$name.txt"
}

# Right: algorithms, protocols and forms all at once, small and over many tiles.
mixed=(ring-all-reduce{,:ll,:ll128,:x8,:c4:x8} all-pairs-one-shot-all-reduce{:ll,:ll:direct,:ll:direct:x4}
  all-pairs-two-shot-all-reduce{,:ll,:direct,:direct:x32,:direct:phases:x32} recursive-halving-doubling-all-reduce double-binary-tree-all-reduce:ll
  ring-all-gather:x4 all-pairs-all-gather:direct ring-reduce-scatter all-pairs-all-to-all)
for bytes in 4K 1M; do
  step 60 "right-$bytes" run "${mixed[@]}" --ranks "$ranks" --backend cuda --bytes $bytes --iterations 10 --copies 2
done

exchange=all-pairs-one-shot-all-reduce:ll:direct
twoShot=all-pairs-two-shot-all-reduce
contenders=($exchange{,:x4,:x16,:x32} $twoShot:direct{,:x32,:phases:x32} ring-all-reduce{,:c4,:x8,:c4:x8,:ll,:ll:x8}
  all-pairs-one-shot-all-reduce:ll $twoShot:ll)
bench=(bench programs --gpus --ranks "$ranks" "${contenders[@]}")
step 120 quick "${bench[@]}" --quick --json "$out/quick.json"
step 300 programs "${bench[@]}" --json "$out/programs.json" --markdown "$out/programs.md"
for slot in 32K 512K; do
  step 100 "slots-$slot" bench programs --gpus --ranks "$ranks" ring-all-reduce{,:c4,:x8,:c4:x8} -n 5 -b 64K,1M,16M,64M --slot-bytes $slot \
    --json "$out/slots-$slot.json"
done
step 200 backToBack "${bench[@]}" --back-to-back -n 5 --json "$out/back-to-back.json" --markdown "$out/back-to-back.md"
step 120 tune tune programs --gpus --ranks "$ranks" $exchange{,:x4,:x16,:x32} $twoShot:direct{,:x32,:phases:x32} ring-all-reduce:{x8,c4:x8} \
  -n 5 -b 8,512,4K,16K,32K,64K,128K,256K,512K,1M,4M,16M,64M -o "$out/table.json"
