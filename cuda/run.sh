#!/bin/bash
# Runs the GPU tests and measurements, each step in its own process and under its own time limit, so that nothing that is
# stuck outlives its step. Usage: run.sh DIRECTORY-OF-dfccl_gpu OUTPUT-DIRECTORY [STEP...]; without steps, all of them.
# Every step's JSON lines go to OUTPUT-DIRECTORY/STEP.jsonl; the last line says how it ended (124, 137: the limit).
set -u
program=$1/dfccl_gpu
out=$2
shift 2
mkdir -p "$out"
gpus=$(nvidia-smi -L | wc -l)
nccl=${NCCL_LIBRARY:-$(find / -name 'libnccl.so.2' -not -path '/proc/*' 2>/dev/null | head -1)}
export NCCL_NVLS_ENABLE=0  # multicast can put a shared host's GPUs out of service

# run LIMIT STEP ARGUMENTS: the program, or with `tool` set, the program under that tool.
run() {
  local limit=$1 name=$2
  shift 2
  if [ ${#wanted[@]} -ne 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  local begin=$(date +%s)
  echo "{\"command\":\"${tool:+$tool }dfccl_gpu $*\",\"gpus\":$gpus,\"commit\":\"${DFCCL_COMMIT:-unknown}\"}" >>"$out/$name.jsonl"
  timeout -k 5 "$limit" ${tool:-} "$program" "$@" >>"$out/$name.jsonl" 2>"$out/$name.stderr"
  local code=$?
  [ -s "$out/$name.stderr" ] && sed 's/^/# /' "$out/$name.stderr" | head -20
  rm -f "$out/$name.stderr"
  echo "{\"step\":\"$name\",\"exit\":$code,\"seconds\":$(($(date +%s) - begin))}" | tee -a "$out/$name.jsonl"
}

wanted=("$@")
run 60 types types --grid 9
run 60 orders orders --iterations 1000
run 60 orders-unsticky orders --iterations 1000 --sticky off
run 60 synchronize synchronize --iterations 1000
run 90 resnet50 orders --list resnet50 --iterations 200 --disturb 1
run 90 gpt2 orders --list gpt2 --iterations 200 --disturb 1 --deadline-ms 20000
run 90 vit orders --list vit --iterations 200 --disturb 1 --deadline-ms 20000
run 120 latency latency --grid 33 --sweep 1 --iterations 200
run 60 pipeline pipeline --grid 33
run 60 pipeline-one-id pipeline --grid 33 --ids 1 --factor 4
run 30 phases phases --grid 17
run 30 late burst --grid 33 --late-us 2000
run 30 late-fixed burst --grid 33 --late-us 2000 --sticky off
run 60 overheads overheads --ranks 2
run 60 overheads-without-host-atomics overheads --ranks 2 --without-host-atomics 1
run 30 memory-direct memory --form direct
run 30 memory-exchange memory --form exchange --arena-mb 1024
run 60 streams streams --grid 33 ${nccl:+--nccl "$nccl"}
run 30 trace trace --out "$out/trace.json"
run 60 ipc-probe ipc-probe
run 120 blocked-calls blocked-calls
run 30 hardware-queues hardware-queues
tool="env CUDA_DEVICE_MAX_CONNECTIONS=1" run 30 hardware-queues hardware-queues
for as in processes threads; do
  run 90 "ranks-$as-checks" ranks --as $as --task checks
  run 60 "ranks-$as-orders" ranks --as $as --task orders --iterations 40
  run 90 "ranks-$as-times" ranks --as $as --task times
done
run 60 ranks-kill ranks --task kill
run 60 ranks-kill-large ranks --task kill --large 1
run 60 ranks-stop ranks --task stop
if [ "$gpus" -ge 4 ]; then
  for as in processes threads; do
    run 60 "ranks4-$as-checks" ranks --as $as --task checks --ranks 4
    run 60 "ranks4-$as-orders" ranks --as $as --task orders --ranks 4
    run 90 "ranks4-$as-times" ranks --as $as --task times --ranks 4
  done
  run 60 ranks4-kill ranks --task kill --ranks 4
fi
if [ -n "$nccl" ]; then
  run 150 compare compare --nccl "$nccl" --grid 33
  run 60 burst burst --nccl "$nccl" --grid 33
  run 20 nccl-same-order nccl-orders --nccl "$nccl" --ordered 1
  run 20 nccl-opposite-orders nccl-orders --nccl "$nccl"
fi
if command -v compute-sanitizer >/dev/null; then
  for check in memcheck racecheck synccheck; do
    tool="compute-sanitizer --tool $check" run 60 "sanitizer-$check" orders --ranks 2 --grid 2 --iterations 2 \
      --watchdog-ms 30000 --deadline-ms 40000
  done
  # What racecheck makes of the daemon's two kinds of hand-over, of barriers that it follows, and of a race.
  for kind in atomics atomics-barrier lone-lane whole-warp race; do
    tool="compute-sanitizer --tool racecheck" run 30 "racecheck-$kind" hazards --kind "$kind"
  done
fi
