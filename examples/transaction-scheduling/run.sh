#!/usr/bin/env bash
# From nothing to the report, for two baselines: `vprof loop --auto` on the baseline, then the
# scheduler, and `vprof diff` of both.
#
#   run.sh [CASE...]     cases: occ, locks (default: both)
#
# Ends with what vprof ranked first in each case, and what the scheduler changed. Fails if the first
# factor is not the one that the case is about. All files are in .vprof/ and work/. VPROF names the
# vprof to use (default: the one built in this tree, else the one on PATH).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# shellcheck source=examples/debian-source.sh
. ../debian-source.sh

work=work
summary=()
load="--workload tpcc --clients 48 --workers 48 --seconds 1000 --transactions 1500"

# What the two systems of a case are, and what the first factor's path has in it.
describe() { # case
  case $1 in
    occ) before=occ after=r-smf factor='smf::Client::retry_after_abort' ;;
    locks) before=locks after=r-smf factor='smf::ConcurrencyControl::read > wait(pthread_cond_wait)' ;;
    *) die "unknown case $1 (known: occ, locks)" ;;
  esac
}

# The first factor of the last report. Fails if $1 is not in its path.
first_factor() { # part of a path
  "$vprof" report --json | python3 -c '
import json, sys
first = json.load(sys.stdin)["factors"][0]
path = " > ".join(first["instances"][0]["path"])
print("%.1f %% %s, in %s" % (100 * first["share"], " with ".join(first["functions"]), sys.argv[1]))
sys.exit(0 if sys.argv[1] in path else path)' "$1"
}

# Records the load, and adds it up to profile $1.
profile() { # file
  "$vprof" record
  "$vprof" analyze --profile "$1" >"$1.report"
}

run_case() { # case
  local before after factor found
  describe "$1"
  export LAB="$load --system $before"
  say "$1: vprof loop --auto ($LAB)"
  "$vprof" loop --auto --restart | tee "$work/$1.report"
  found=$(first_factor "$factor") || die "$1: the first factor is $found"
  profile "$work/$1-before.vprof"
  export LAB="$load --system $after"
  say "$1: the scheduler ($LAB)"
  profile "$work/$1-after.vprof"
  say "$1: vprof diff"
  "$vprof" diff "$work/$1-before.vprof" "$work/$1-after.vprof" | tee "$work/$1.diff"
  summary+=("$1 ($before, then $after): $found")
  summary+=("$(head -8 "$work/$1.diff" | grep -E '^  (mean|variance|p99) ')")
}

install_missing g++ cmake make python3 librocksdb-dev
find_vprof
mkdir -p "$work"
if [ $# = 0 ]; then
  set -- occ locks
fi
for name in "$@"; do
  run_case "$name"
done
say "what was found, and what the scheduler changed"
printf '%s\n' "${summary[@]}"
