#!/bin/bash
# How fast are traces of other tools read? The same program, the same number of calls, recorded with
# uftrace, with LLVM's XRay and as a trace of ours, each read three times from a warm page cache;
# seconds of processor time (user + system), the median, and calls per second of it: processor time,
# since a loaded machine disturbs it least (both others use one thread).
#
#   compare_readers.sh BENCH_ANALYZE_SPEED [CALLS]       (needs uftrace, clang and llvm, version 19)
set -euo pipefail
bench=$(realpath "$1")
calls=${2:-5000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >program.c <<'C'
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline)) void inner(unsigned long i) { sink += i; }
__attribute__((noinline)) void outer(unsigned long i) { inner(i); sink ^= i; }
int main(int argc, char** argv) {
  unsigned long n = strtoul(argv[argc - 1], NULL, 10) / 2;
  for (unsigned long i = 0; i < n; ++i) outer(i);
  return 0;
}
C
gcc -O1 -pg program.c -o with_uftrace
clang-19 -O1 -fxray-instrument -fxray-instruction-threshold=1 program.c -o with_xray

uftrace record --no-libcall -d uftrace.data ./with_uftrace "$calls" >/dev/null
XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic xray_logfile_base=$work/xray." \
  XRAY_BASIC_OPTIONS="func_duration_threshold_us=0" ./with_xray "$calls" 2>/dev/null
xray_log=$(ls "$work"/xray.*)

median() { # median COMMAND...: processor seconds
  for _ in 1 2 3; do
    ( TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1 ) 2>&1 | awk '{ print $1 + $2 }'
  done | sort -n | sed -n 2p
}
row() { awk -v name="$1" -v s="$2" -v n="$3" 'BEGIN { printf "%-22s %8.2f s %8.2f M calls/s\n", name, s, n / s / 1e6 }'; }
uftrace_s=$(median uftrace report -d uftrace.data)
xray_s=$(median llvm-xray-19 account "$xray_log" --instr_map=with_xray --keep-going)
row "uftrace report" "$uftrace_s" "$calls"
row "llvm-xray account" "$xray_s" "$calls"
"$bench" --records "$calls" --cpu-of 3 >ours.txt
ours=$(cat ours.txt)
row "vprof analyze" "$ours" "$calls"
awk -v u="$uftrace_s" -v x="$xray_s" -v v="$ours" \
  'BEGIN { printf "vprof analyze is %.1f times as fast as uftrace report, %.1f times as fast as llvm-xray account\n", u / v, x / v }'
