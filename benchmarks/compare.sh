#!/usr/bin/env bash
# Compares the cost of a record with other tracers of calls, in one run, on the same trivial call.
#
#   compare.sh BUILD     BUILD: a build tree with libvprof, such as build/release
#
# Prints nanoseconds per call above the bare call, the ratio to the floor (two readings of the
# time-stamp counter and a 16-byte store), and how much cheaper VProfiler is. It cannot be cheaper
# than the floor. Needs the Debian packages clang-19, libclang-rt-19-dev and uftrace.
set -euo pipefail

[ $# = 1 ] || { echo "usage: compare.sh BUILD" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
library=$(cd "$1/runtime" && pwd)
for tool in clang++-19 uftrace; do
  command -v "$tool" >/dev/null || { echo "compare.sh: $tool is not installed" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

clang++-19 -O2 "$here/compared.cpp" -o plain
clang++-19 -O2 -DWITH_VPROF -I"$here/../runtime/include" "$here/compared.cpp" -o vprof \
  -L"$library" -lvprof -Wl,-rpath,"$library"
clang++-19 -O2 -DWITH_XRAY -fxray-instrument -fxray-instruction-threshold=1 "$here/compared.cpp" \
  -o xray
g++ -O2 -pg -mfentry "$here/compared.cpp" -o uftraced

mkdir traces
call=$(./plain)
floor=$(./plain floor)
vprof=$(VPROF_TRACE_DIR=$work/traces ./vprof)
xray=$(XRAY_OPTIONS="xray_logfile_base=$work/xray-" ./xray 2>xray.log)
uftrace=$(uftrace record --no-libcall -d "$work/uftrace.data" ./uftraced)
[ -n "$(find traces -name '*.vpt' -size +50M)" ] && [ -n "$(find . -name 'xray-*' -size +20M)" ] &&
  [ -n "$(find uftrace.data -size +20M)" ] ||
  { echo "compare.sh: one of the tracers recorded too little" >&2; exit 2; }

awk -v call="$call" -v floor="$floor" -v vprof="$vprof" -v xray="$xray" -v uftrace="$uftrace" '
function row(name, ns) { printf "%-12s %9.2f  %8.2f  %8.1f\n", name, ns, ns / f, ns / v }
BEGIN {
  printf "%-12s %9s  %8s  %s\n", "", "ns/call", "x floor", "x VProfiler"
  f = floor - call; v = vprof - call
  printf "%-12s %9.2f\n", "bare call", call
  printf "%-12s %9.2f  %8.2f\n", "floor", f, 1
  row("VProfiler", v); row("XRay FDR", xray - call); row("uftrace", uftrace - call)
}'
