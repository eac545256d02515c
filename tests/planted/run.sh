#!/usr/bin/env bash
# Runs each program until N runs were conclusive, and prints how often the loop found the planted
# cause, how often the share that the program itself measured is within the interval that the report
# states (in at least 93 % of all runs), and how much exact blame was checked. A run is inconclusive
# if the machine stalled (planted.py). Gives up after 3 N runs.
#
#   run.sh [N] [NAME...]      default: once, all programs; VPROF names the vprof to test
#   VPROF_VERB=live run.sh …  the same by `vprof live`, which has no truth to compare; in epochs of
#                             EPOCH seconds (default 5), so longer ones have more intervals
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
vprof=${VPROF:-$root/build/release/driver/vprof}
wanted=${1:-1}
[ $# = 0 ] || shift
if [ $# = 0 ]; then
  for program in "$here"/programs/*.c*; do set -- "$@" "$(basename "${program%.*}")"; done
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=0
compared=0
within=0
pieces=0
for name in "$@"; do
  found=0
  runs=0
  inconclusive=0
  while [ "$runs" -lt "$wanted" ] && [ $((runs + inconclusive)) -lt $((3 * wanted)) ]; do
    status=0
    PYTHONDONTWRITEBYTECODE=1 python3 "$here/planted.py" --vprof "$vprof" --root "$root" \
      --scratch "$scratch/run" --program "$name" >"$scratch/log" 2>&1 || status=$?
    case $status in
      0)
        runs=$((runs + 1))
        found=$((found + 1))
        truth=$(grep '^truth ' "$scratch/log" || true)
        case $truth in
          *within) within=$((within + 1)) ;;
          *OUTSIDE) echo "$name, run $runs: $truth" ;;
        esac
        [ -z "$truth" ] || compared=$((compared + 1))
        checked=$(sed -n 's/^edges: \([0-9]*\) .*/\1/p' "$scratch/log")
        pieces=$((pieces + ${checked:-0}))
        ;;
      77) inconclusive=$((inconclusive + 1)) ;;
      *)
        runs=$((runs + 1))
        echo "$name, run $runs: $(tail -1 "$scratch/log")"
        [ -z "${KEEP:-}" ] || cp -r "$scratch/run" "$KEEP/$name-$runs"
        ;;
    esac
  done
  echo "$name: $found of $wanted, $inconclusive inconclusive"
  [ "$found" = "$wanted" ] || failed=$((failed + 1))
done
echo "truth of $compared runs: $within within the stated interval"
echo "$pieces pieces of exact blame are on threads that had what was waited for"
if [ "$compared" -ge 30 ] && [ $((100 * within)) -lt $((93 * compared)) ]; then
  failed=$((failed + 1))
fi
[ "$failed" = 0 ]
