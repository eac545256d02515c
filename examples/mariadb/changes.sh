#!/usr/bin/env bash
# Measures what settings of the server change: records each variant ROUNDS times, in turn, with the
# sites that the last search left, adds up the profiles and compares them with `vprof diff`. Needs
# run.sh first.
#
#   changes.sh flush    innodb_flush_log_at_trx_commit 1 (default) and 2
#   changes.sh memory   WORKLOAD=memory: buffer pools of 128M, 256M and 1G
#   changes.sh threads  thread_handling=pool-of-threads: thread_pool_size 1, 2, 4, 8
#   changes.sh locks    after `patches/run.sh apply`: who gets a record lock first
#   changes.sh lru      after `patches/run.sh apply`, with WORKLOAD=memory: lazy LRU update
#
# ROUNDS (default 2). VPROF names the vprof to use. The profiles are work/TAG-NAME.vprof, or
# work/NAME.vprof if TAG is not set; sysbench's summary of each run is in work/TAG-NAME.ROUND.txt.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
rounds=${ROUNDS:-2}

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

declare -A variants
case ${1:-} in
  flush)
    names=(flush-1 flush-2)
    variants=([flush-1]="SETTINGS=" [flush-2]="SETTINGS=innodb-flush-log-at-trx-commit=2")
    ;;
  memory)
    export WORKLOAD=memory
    names=(pool-128M pool-256M pool-1G)
    variants=([pool-128M]="POOL=128M" [pool-256M]="POOL=256M" [pool-1G]="POOL=1G")
    ;;
  threads)
    names=(threads-1 threads-2 threads-4 threads-8)
    for name in "${names[@]}"; do
      variants[$name]="SETTINGS=thread-handling=pool-of-threads thread-pool-size=${name#threads-}"
    done
    ;;
  locks)
    names=(locks-fcfs locks-vats locks-ldsf locks-bldsf)
    for name in "${names[@]}"; do
      variants[$name]="SETTINGS=innodb-lock-schedule-algorithm=${name#locks-}"
    done
    ;;
  lru)
    export WORKLOAD=memory
    names=(lru-eager lru-lazy)
    variants=([lru-eager]="SETTINGS=" [lru-lazy]="SETTINGS=innodb-lazy-lru-update=1")
    ;;
  *) die "what to change? (known: flush, memory, threads, locks, lru)" ;;
esac
find_vprof
cd "$here"
profile() { echo "$work/${TAG:+$TAG-}$1"; } # variant

for ((round = 1; round <= rounds; ++round)); do
  for name in "${names[@]}"; do
    say "round $round of $rounds: ${variants[$name]}"
    env "${variants[$name]}" RESULT="$(profile "$name").$round.txt" "$vprof" record
    "$vprof" analyze --profile "$(profile "$name").$round.vprof" >/dev/null
  done
done
for name in "${names[@]}"; do
  profiles=()
  for ((round = 1; round <= rounds; ++round)); do
    profiles+=("$(profile "$name").$round.vprof")
  done
  "$vprof" merge "${profiles[@]}" -o "$(profile "$name").vprof" >"$(profile "$name").report"
  "$vprof" merge "${profiles[@]}" -o "$(profile "$name").vprof" --json >"$(profile "$name").json"
done
# For each variant: figures, throughput, and the first factors.
reports=()
for name in "${names[@]}"; do reports+=("$(profile "$name").json"); done
python3 - "$rounds" "${reports[@]}" <<'END'
import json
import pathlib
import re
import statistics
import sys

paths = [pathlib.Path(path) for path in sys.argv[2:]]
rates = {path: [float(re.search(r"transactions:.*\((\S+) per sec", path.with_suffix(f".{round}.txt").read_text())[1])
                for round in range(1, int(sys.argv[1]) + 1)] for path in paths}
print(f"{'':20}{'mean':>10}{'variance':>14}{'p99':>10}{'a second':>10}   to the first: median and range of the rounds")
for path in paths:
    report = json.loads(path.read_text(encoding="utf-8"))
    interval = report["interval"]
    ratios = [rate / first for rate, first in zip(rates[path], rates[paths[0]])]
    print(f"{path.stem:20}{interval['mean_ns'] / 1e6:7.2f} ms{interval['variance_ns2'] / 1e12:10.1f} ms²"
          f"{interval['p99_ns'] / 1e6:7.1f} ms{statistics.median(rates[path]):10.0f}"
          f"   {statistics.median(ratios):.2f}x, {min(ratios):.2f}x .. {max(ratios):.2f}x")
    for factor in report["factors"][:3]:
        print(f"{'':6}{100 * factor['share']:5.1f} %  {' and '.join(factor['functions'])}")
END
for name in "${names[@]:1}"; do
  say "vprof diff ${names[0]}.vprof $name.vprof"
  "$vprof" diff "$(profile "${names[0]}").vprof" "$(profile "$name").vprof"
done
