#!/usr/bin/env bash
# Runs the quickstart test N times and prints how often the loop found the planted cause.
#
#   repeat.sh N [EXAMPLE] [VPROF]     EXAMPLE: quickstart (default) or quickstart-c
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
runs=${1:?usage: repeat.sh N [EXAMPLE] [VPROF]}
example=${2:-quickstart}
vprof=${3:-$root/build/release/driver/vprof}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

found=0
for ((run = 1; run <= runs; ++run)); do
  if PYTHONDONTWRITEBYTECODE=1 python3 "$here/test_quickstart.py" --vprof "$vprof" --root "$root" \
    --scratch "$scratch/run" --example "$example" >"$scratch/log" 2>&1; then
    found=$((found + 1))
    echo "run $run: $(grep 'iterations$' "$scratch/log" | tail -1)"
  else
    echo "run $run: $(tail -1 "$scratch/log")"
  fi
done
echo "$found of $runs"
[ "$found" = "$runs" ]
