#!/bin/bash
# Runs the packed engine on a GPU host: `run.sh` checks everything; `run.sh COMMAND…` is the command line, as in
# `run.sh doctor` or `run.sh perf all_reduce_perf -g 2 --backend cuda,nccl`. What is compressed is unpacked beside this
# script, Node only where the host has none.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# unpack FILE.xz: to stdout, with what the host has.
unpack() {
  if command -v xz >/dev/null; then
    xz -dc "$1"
  else
    python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer, 1 << 22)' "$1"
  fi
}
if [ ! -e "$here/dfccl.node" ]; then unpack "$here/binaries.tar.xz" | tar -C "$here" -xf - || exit 1; fi
export DFCCL_ADDON="$here/dfccl.node" DFCCL_PERF_PROGRAMS="$here/bin" DFCCL_COMMIT=$(cat "$here/commit")
export LD_LIBRARY_PATH="$here/bin${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
node=$(command -v node || true)
if [ -z "$node" ] || [ "$("$node" -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  node=$here/bin/node
  if [ ! -x "$node" ]; then
    unpack "$here/node.xz" >"$node.part" && chmod +x "$node.part" && mv "$node.part" "$node" || exit 1
  fi
fi
if [ $# -ne 0 ]; then exec "$node" "$here/dist/dfccl.mjs" "$@"; fi

failures=0
# step LIMIT NAME COMMAND…: every step in a process of its own and under its own time limit.
step() {
  local limit=$1 name=$2
  shift 2
  echo "== $name"
  timeout -k 5 "$limit" "$@"
  local code=$?
  if [ $code -ne 0 ]; then
    echo "== $name ended with $code"
    failures=$((failures + 1))
  fi
}
step 30 "what is here" "$node" "$here/dist/dfccl.mjs" doctor
step 120 "the C API" "$here/bin/dfccl_gpu_test"
step 60 "TypeScript" "$node" "$here/dist/gpu-check.mjs"
step 60 "this engine and NCCL side by side" "$node" "$here/dist/dfccl.mjs" perf all_reduce -g 2 -b 8 -e 64M -f 32 -T 10 \
  --backend cuda,nccl
step 60 "every order, 8 collectives" "$here/bin/dfccl_gpu" orders --iterations 200
step 120 "ResNet-50's gradients in any order" "$node" "$here/dist/dfccl.mjs" disorder --backend cuda --ranks 2 --iterations 10 --json
exit $((failures > 0))
