#!/bin/bash
# What holds of ranks as processes, on a GPU host: run-processes.sh DIRECTORY-OF-PROGRAMS OUTPUT-DIRECTORY
# Needs dfccl_gpu and dfccl_gpu_test there. Prints a line a step; all else is in OUTPUT-DIRECTORY.
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=$1
out=$2
mkdir -p "$out"
nvidia-smi topo -m >"$out/topology.txt" 2>&1
LD_LIBRARY_PATH="$programs/../with-gpu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" timeout -k 5 120 "$programs/dfccl_gpu_test" \
  >"$out/gpu-test.txt" 2>&1
echo "{\"step\":\"dfccl_gpu_test\",\"exit\":$?}"
grep -a "test cases\|assertions" "$out/gpu-test.txt"
steps=(ipc-probe)
for as in processes threads; do steps+=("ranks-$as-checks" "ranks-$as-orders" "ranks-$as-times"); done
steps+=(ranks-kill ranks-kill-large ranks-stop)
for as in processes threads; do steps+=("ranks4-$as-checks" "ranks4-$as-orders" "ranks4-$as-times"); done
steps+=(ranks4-kill)
bash "$here/run.sh" "$programs" "$out" "${steps[@]}"
grep -ah '"error"' "$out"/*.jsonl | head -20
grep -ah '"measure"' "$out"/*.jsonl | sed -n 's/.*"as":"\([a-z]*\)".*"ranks":\([0-9]*\),"bytes":\([0-9]*\),"outstanding":\([0-9]*\),"us":\([0-9.]*\).*/\2 \3 \4 \1 \5/p' |
  sort -k1n -k4n -k2n | awk '{ key = $1 " ranks, " $2 " bytes, " $3 " outstanding"; us[key "," $4] = $5; if (!(key in seen)) { seen[key] = 1; order[++n] = key } }
    END { for (i = 1; i <= n; ++i) { k = order[i]; t = us[k ",threads"]; p = us[k ",processes"]; printf "%s: %s us in threads, %s us in processes%s\n", k, t, p, (t > 0 && p > 0) ? sprintf(" (%.2f)", p / t) : "" } }'
