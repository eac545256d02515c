#!/usr/bin/env bash
# Compares all responses of a plain server with those of the instrumented one that the last `vprof
# loop` or `vprof build` left, which records at the same time: with both MPMs, to the last byte.
# run.sh --test calls this script, not as root.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

mirror=$here/.vprof/mirror
[ -x "$mirror/installed/bin/httpd" ] || die "there is no instrumented server; run run.sh first"
"$here/plain.sh"
for mpm in event prefork; do
  export MPM=$mpm
  (cd "$work/plain" && "$here/workload.sh" responses "$work/responses-plain")
  rm -rf "$work/trace"
  mkdir -p "$work/trace"
  (cd "$mirror" && VPROF_TRACE_DIR=$work/trace "$here/workload.sh" responses \
    "$work/responses-instrumented")
  traces=$(find "$work/trace" -name '*.vpt' | wc -l)
  rm -rf "$work/trace"
  cmp "$work/responses-plain" "$work/responses-instrumented" ||
    die "$mpm: the responses differ"
  echo "$mpm: $(grep -ao 'HTTP/1.1 [2-5]' "$work/responses-plain" | wc -l) responses," \
    "$(stat -c %s "$work/responses-plain") bytes, are the same; $traces processes left traces"
done
