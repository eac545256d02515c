#!/usr/bin/env bash
# Compares the speed of reading recordings with other tools. uftrace, LLVM's XRay and vprof each
# record the same calls of one program. Then the commands that their users type read the recordings
# in turn, from a warm page cache. Prints the medians of elapsed time and processor time (vprof uses
# all cores, the other two use one).
#
#   compare_readers.sh [CALLS [ROUNDS]]
#
# Needs uftrace, and clang and llvm of version 19. VPROF names the vprof to use.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
vprof=${VPROF:-$root/build/release/driver/vprof}
calls=${1:-5000000}
rounds=${2:-9}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir source

# Two threads that handle requests of 100 calls each, two deep.
cat >source/program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
enum { THREADS = 2, CALLS = 100 };
static unsigned long requests;
__attribute__((noinline)) unsigned long inner(unsigned long i) {
  /* A loop, so that the callee is not trivial. */
  for (int turn = 0; turn < 2; ++turn) i = i * 2862933555777941757u + 1;
  return i;
}
__attribute__((noinline)) unsigned long outer(unsigned long i) { return inner(i) ^ i; }
__attribute__((noinline)) unsigned long request(unsigned long i) {
  for (int call = 0; call < CALLS / 2; ++call) i = outer(i);
  return i;
}
static void* work(void* sum) {
  for (unsigned long i = 0; i < requests; ++i) *(unsigned long*)sum += request(i);
  return NULL;
}
int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  unsigned long sums[THREADS] = {0};
  requests = strtoul(argv[argc - 1], NULL, 10) / (THREADS * CALLS);
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, &sums[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return (sums[0] ^ sums[1]) == 1;
}
C
gcc -O1 -pg -pthread source/program.c -o with_uftrace
clang-19 -O1 -pthread -fxray-instrument -fxray-instruction-threshold=1 source/program.c -o with_xray
cat >vprof.json <<JSON
{ "source": "source", "build": "gcc -O1 -pthread program.c -o program", "run": "./program $calls",
  "intervals": [{ "name": "request", "function": "request" }] }
JSON

uftrace record --no-libcall -d uftrace.data ./with_uftrace "$calls" >/dev/null
XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic xray_logfile_base=$work/xray." \
  XRAY_BASIC_OPTIONS="func_duration_threshold_us=0" ./with_xray "$calls" 2>/dev/null
xray_log=$(ls "$work"/xray.*)
# The first recording warms the page cache. On a slow disk, records may be dropped; then record
# again.
for step in index "instrument --expand request outer" build record record; do
  # shellcheck disable=SC2086  # options
  "$vprof" $step >vprof.log 2>&1 || { cat vprof.log; exit 1; }
done
for turn in 1 2 3 4 5; do
  "$vprof" analyze >vprof.log 2>&1 || { cat vprof.log; exit 1; }
  grep -q "found no room" vprof.log || break
  if [ "$turn" = 5 ]; then
    echo "all five recordings dropped records, so the tools would not read the same calls"
    exit 1
  fi
  "$vprof" record >vprof.log 2>&1 || { cat vprof.log; exit 1; }
done

read_once() { # name command...: appends elapsed and processor seconds to NAME.times
  local name=$1
  shift
  (TIMEFORMAT='%R %U %S'; time "$@" >"$name.out" 2>"$name.err") 2>&1 |
    awk '{ print $1, $2 + $3 }' >>"$name.times"
  [ -s "$name.out" ] || { cat "$name.err"; exit 1; }
}
for ((round = 0; round <= rounds; ++round)); do
  read_once uftrace uftrace report -d uftrace.data
  read_once xray llvm-xray-19 account "$xray_log" --instr_map=with_xray --keep-going
  read_once vprof "$vprof" analyze
done
median() { # by elapsed time, without the first round, which brings the files into memory
  tail -n +2 "$1.times" | sort -n | sed -n "$((rounds / 2 + 1))p"
}
uftrace=$(median uftrace)
xray=$(median xray)
ours=$(median vprof)
awk -v calls="$calls" -v uftrace="$uftrace" -v xray="$xray" -v ours="$ours" '
  function row(name, times,   t) {
    split(times, t)
    printf "%-20s %9.2f s %9.2f s %14.1f\n", name, t[1], t[2], calls / t[1] / 1e6
  }
  BEGIN {
    printf "%-20s %11s %11s %14s\n", "", "elapsed", "processor", "M calls/s"
    row("uftrace report", uftrace); row("llvm-xray account", xray); row("vprof analyze", ours)
    split(uftrace, u); split(xray, x); split(ours, o)
    printf "vprof analyze is %.1f times as fast as uftrace report (%.1f in processor time), ",
      u[1] / o[1], u[2] / o[2]
    printf "%.1f times as fast as llvm-xray account (%.1f)\n", x[1] / o[1], x[2] / o[2]
  }'
