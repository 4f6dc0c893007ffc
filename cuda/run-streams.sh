#!/bin/bash
# Runs the random stream programs on this host's first GPU: two processes, more ranks, ranks as threads, and few or many
# hardware queues. Usage: run-streams.sh DIRECTORY-OF-stream_programs OUTPUT-DIRECTORY [MINUTES of each, default 2]
set -u
program=$1/stream_programs
out=$2
minutes=${3:-2}
mkdir -p "$out"
worst=0
run() {
  local name=$1
  shift
  timeout -k 5 "$(awk "BEGIN {print int($minutes * 60) + 180}")" "$program" --programs 1000000 --minutes "$minutes" --print --without pinned,aborts "$@" \
    >"$out/$name.jsonl" 2>"$out/$name.stderr"
  local code=$?
  [ -s "$out/$name.stderr" ] || rm -f "$out/$name.stderr"
  echo "{\"step\":\"$name\",\"exit\":$code}" >>"$out/$name.jsonl"
  printf '%-20s exit %3d  %s\n' "$name" "$code" "$(grep '"summary"' "$out/$name.jsonl")"
  [ $code -gt $worst ] && worst=$code
}
run processes --ranks 2 --processes 2
run processes-1-queue --ranks 2 --processes 2 --queues 1
run processes-32-queues --ranks 2 --processes 2 --queues 32
run four-processes --ranks 4 --processes 4
run threads --processes 1
run drawn --seed 1000000
exit $worst
