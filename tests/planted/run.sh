#!/usr/bin/env bash
# How often does the loop find the planted cause? Runs each program N times and prints the tally.
#
#   run.sh [N] [NAME...]      default: once, all programs; VPROF names the vprof to test
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
vprof=${VPROF:-$root/build/release/driver/vprof}
runs=${1:-1}
[ $# = 0 ] || shift
if [ $# = 0 ]; then
  for program in "$here"/programs/*.c*; do set -- "$@" "$(basename "${program%.*}")"; done
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=0
for name in "$@"; do
  found=0
  for ((run = 1; run <= runs; ++run)); do
    if PYTHONDONTWRITEBYTECODE=1 python3 "$here/planted.py" --vprof "$vprof" --root "$root" --scratch "$scratch/run" \
      --program "$name" >"$scratch/log" 2>&1; then
      found=$((found + 1))
    else
      echo "$name, run $run: $(tail -1 "$scratch/log")"
      [ -z "${KEEP:-}" ] || cp -r "$scratch/run" "$KEEP/$name-$run"
    fi
  done
  echo "$name: $found of $runs"
  [ "$found" = "$runs" ] || failed=$((failed + 1))
done
[ "$failed" = 0 ]
