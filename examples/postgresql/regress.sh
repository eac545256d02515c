#!/usr/bin/env bash
# Runs PostgreSQL's own regression tests (make check) on a plain build and on the instrumented one
# that the last `vprof loop` or `vprof build` left, which records at the same time. The results must
# be the same. run.sh --test calls this script, not as root.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

# What must be equal: the name and the outcome of each test, but not the times.
verdict() {
  sed -nE -e 's/^(test|ok|not ok)? +([a-z0-9_]+) +\.\.\. +([a-zA-Z]+).*/\2 \3/p' \
    -e '/^(# )?All [0-9]+ tests/p' "$1" | sort
}

check() { # name directory
  local status=0
  say "make check, $1 (about 4 minutes)"
  (cd "$2" && make -s check) >"$work/check-$1.log" 2>&1 || status=$?
  { verdict "$work/check-$1.log"; echo "exit status $status"; } >"$work/check-$1"
  rm -rf "$2/tmp_install"
  tail -2 "$work/check-$1"
}

mirror=$here/.vprof/mirror
[ -x "$mirror/installed/bin/postgres" ] || die "there is no instrumented server; run run.sh first"
"$here/plain.sh"
[ -e "$work/check-plain" ] || check plain "$work/plain"

# The shims come first on PATH, since the tests build parts that the workloads do not need. Each
# thread keeps only the last MiB of its records.
rm -rf "$work/trace"
mkdir -p "$work/trace"
PATH=$here/.vprof/shims:$PATH VPROF_TRACE_DIR=$work/trace VPROF_RING_MB=1 VPROF_TRACE_MB=64 \
  check instrumented "$mirror"
echo "$(find "$work/trace" -name '*.vpt' | wc -l) processes left traces"
rm -rf "$work/trace"

diff "$work/check-plain" "$work/check-instrumented" ||
  die "the results differ (< plain, > instrumented)"
echo "the tests have the same results with and without instrumentation"
