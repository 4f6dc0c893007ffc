#!/bin/bash
# The backend on GPUs, checked on a host that has them and nothing of this project installed:
#   gpu.sh LIBDIR OUT [CHECK...]
# LIBDIR has libdfccl.so.0 with the engine for GPUs (of `npm run pack:gpu`: gpu-package/bin, which is unpacked here
# where it has to be); OUT gets a log for each check, and results.txt, a line for each, which is printed too. Without
# names, all checks of gpu/ are run, the compilation first. Python is $PYTHON, else python3, with torch 2.9 or newer.
# DFCCL_CHECK_DEVICE=cpu tries the checks themselves on a host without GPUs. Ends with 1 where a check failed.
set -u
if [ $# -lt 2 ]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0"
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2/home/lib" || exit 2
out=$(cd "$2" && pwd)
python=${PYTHON:-python3}
package=$(dirname "$1")
if [ ! -e "$1/libdfccl.so.0" ] && [ -e "$package/binaries.tar.xz" ]; then
  "$python" -c 'import sys, tarfile; tarfile.open(sys.argv[1], "r:xz").extractall(sys.argv[2])' \
    "$package/binaries.tar.xz" "$package"
fi
if [ ! -e "$1/libdfccl.so.0" ]; then
  echo "There is no libdfccl.so.0 in $1: name the folder of the library, such as gpu-package/bin."
  exit 2
fi
lib=$(cd "$1" && pwd)
shift 2
checks=("$@")
if [ ${#checks[@]} -eq 0 ]; then
  checks=(compile reductions copies uneven streams pools graphs futures opposite_orders late_first two_threads data_parallel power_sgd fully_sharded
    in_streams in_streams_disagree begin_again exit_without_end lost_rank layers)
fi
# As "cmake --install" lays it.
ln -sfn "$here/../../../native/include" "$out/home/include"
ln -sf "$lib/libdfccl.so.0" "$out/home/lib/libdfccl.so.0"
ln -sf libdfccl.so.0 "$out/home/lib/libdfccl.so"
export DFCCL_HOME=$out/home DFCCL_TORCH_CACHE=$out/cache PYTHONPATH=$here/../src:$here/gpu PYTHONDONTWRITEBYTECODE=1
export PYTHONUNBUFFERED=1

# check NAME LIMIT: in a process group of its own, all of which is killed in the end, or after so many seconds.
check() {
  local name=$1 limit=$2 begin=$EPOCHREALTIME code
  if [ ! -e "$here/gpu/$name.py" ]; then
    echo "FAILED $name: there is no such check" | tee -a "$out/results.txt"
    return 1
  fi
  setsid "$python" "$here/gpu/$name.py" >"$out/$name.log" 2>&1 &
  local pid=$!
  local end=$((SECONDS + limit))
  while kill -0 "$pid" 2>/dev/null; do
    if [ $SECONDS -ge $end ]; then kill -KILL -- "-$pid" 2>/dev/null; fi
    sleep 0.1
  done
  wait "$pid" 2>/dev/null
  code=$?
  kill -KILL -- "-$pid" 2>/dev/null
  local took
  took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')
  case $code in
    0) echo "passed $name, $took" ;;
    77) echo "skipped $name: $(tail -1 "$out/$name.log")" ;;
    137) echo "FAILED $name: killed after $took; its last line: $(tail -1 "$out/$name.log")" ;;
    *) echo "FAILED $name, $took, ended with $code; its last line: $(tail -1 "$out/$name.log")" ;;
  esac | tee -a "$out/results.txt"
  # A log may not come back from a host that is only lent.
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    { grep -m 5 -E "error:|Error|aborted" "$out/$name.log" || tail -5 "$out/$name.log"; } | cut -c1-300 | sed 's/^/    /' | tee -a "$out/results.txt"
  fi
  [ "$code" -eq 0 ] || [ "$code" -eq 77 ]
}

: >"$out/results.txt"
failures=0
for name in "${checks[@]}"; do
  case $name in
    compile | data_parallel | fully_sharded | begin_again) limit=300 ;;
    *) limit=180 ;;
  esac
  check "$name" "$limit" || failures=$((failures + 1))
done
echo "${#checks[@]} checks, $failures failed" | tee -a "$out/results.txt"
exit $((failures > 0))
