#!/usr/bin/env bash
# From nothing to the report, for each of the engine's four bottlenecks: `vprof loop --auto` on the
# baseline, then the remedy, and `vprof diff` of both.
#
#   run.sh [CASE...]     cases: locks, lru, log, workers (default: all)
#
# Ends with one line for each case: what vprof ranked first, and what the remedy changed. Fails if the
# first factor is not the one that the case is about. All files are in .vprof/ and work/. VPROF names
# the vprof to use (default: the one built in this tree, else the one on PATH).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# shellcheck source=examples/debian-source.sh
. ../debian-source.sh

work=work
summary=()

# What the load of a case is, and what a first factor is called.
describe() { # case
  case $1 in
    locks)
      load="--workload tpcc-2 --clients 32 --unit-us 500 --transactions 3000"
      before="--policy fcfs" after="--policy bldsf"
      factor='wait(lab::LockTable::wait_in_lock_queue)'
      ;;
    lru)
      load="--workload ycsb --clients 64 --rate 300 --pages 900 --transactions 6000"
      before="--lru mutex" after="--lru lazy"
      factor='wait(lab::BufferPool::lock_lru)'
      ;;
    log)
      load="--workload ycsb --clients 64 --rate 250 --transactions 4000"
      before="--logs 1" after="--logs 2"
      factor='wait(lab::Logs::acquire_log)'
      ;;
    workers)
      load="--workload ycsb --rate 600 --unit-us 2500 --transactions 4000"
      before="--workers 2" after="--workers 8"
      factor='queue(lab::dequeue)'
      ;;
    *) die "unknown case $1 (known: locks, lru, log, workers)" ;;
  esac
}

# The first factor of the last report. Fails if it is neither wait $1 nor a part of it, which is what the
# thread did that was waited for.
first_factor() { # wait
  "$vprof" report --json | python3 -c '
import json, sys
first = json.load(sys.stdin)["factors"][0]
path = first["instances"][0]["path"]
print("%.1f %% %s, in %s" % (100 * first["share"], " with ".join(first["functions"]), sys.argv[1]))
sys.exit(0 if sys.argv[1] in path else " > ".join(path))' "$1"
}

# Records the load, and adds it up to profile $1.
profile() { # file
  "$vprof" record
  "$vprof" analyze --profile "$1" >"$1.report"
}

run_case() { # case
  local load before after factor found
  describe "$1"
  export LAB="$load $before"
  say "$1: vprof loop --auto ($LAB)"
  "$vprof" loop --auto --restart | tee "$work/$1.report"
  found=$(first_factor "$factor") || die "$1: the first factor is $found"
  profile "$work/$1-before.vprof"
  export LAB="$load $after"
  say "$1: the remedy ($LAB)"
  profile "$work/$1-after.vprof"
  say "$1: vprof diff"
  "$vprof" diff "$work/$1-before.vprof" "$work/$1-after.vprof" | tee "$work/$1.diff"
  summary+=("$1: $found")
  summary+=("$(head -8 "$work/$1.diff" | grep -E '^  (mean|variance|p99) ')")
}

install_missing g++ cmake make python3
find_vprof
mkdir -p "$work"
if [ $# = 0 ]; then
  set -- locks lru log workers
fi
for name in "$@"; do
  run_case "$name"
done
say "what was found, and what the remedy changed"
printf '%s\n' "${summary[@]}"
