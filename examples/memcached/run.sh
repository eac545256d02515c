#!/usr/bin/env bash
# Profiles memcached, from Debian's source package: from nothing to a report on the variance of its
# request latency.
#
#   run.sh            fetches the source, builds the load generator, runs `vprof loop --auto`, which
#                     prints the report
#   run.sh --restart  the same, but starts a new search
#   run.sh --fetch    only fetches the source and builds the load generator
#   run.sh --test     runs memcached's own tests (make test) on a plain and on the instrumented
#                     build, and compares the results; about 15 minutes
#
# VPROF names the vprof to use (default: the one built in this tree, else the one on PATH).
# LOAD_REQUESTS changes the number of requests.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
version=1.6.18

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

build_load() {
  say "building the load generator"
  cc -std=gnu11 -O2 -Wall -Wextra "$here/load.c" -o "$work/load" -pthread -lm
}

# Runs memcached's test suite in directory $1 and writes what must be equal in two runs to file $2.
# The number of subtests is not part of it: some tests poll and count each attempt as one.
run_suite() {
  local status=0
  say "make test in $1 (about 7 minutes)"
  (cd "$1" && make test) >"$2.log" 2>&1 || status=$?
  grep '^Files=' "$2.log" || true
  {
    sed -n 's/^\(Files=[0-9]*\),.*/\1/p; /^Result:/p' "$2.log"
    grep -E '^t/.*(Failed|Wstat)' "$2.log" || true
    echo "exit status $status"
  } >"$2"
}

compare_suites() {
  install_missing perl libio-socket-ssl-perl
  "$here/plain.sh"
  [ -x "$here/.vprof/mirror/memcached-debug" ] ||
    die "there is no instrumented memcached-debug; run run.sh first"
  # The suite writes to its directory, so it runs in a copy.
  rm -rf "$work/instrumented"
  cp -a "$here/.vprof/mirror" "$work/instrumented"
  run_suite "$work/plain" "$work/suite-plain"
  # The shims come first on PATH in case make compiles something again.
  PATH=$here/.vprof/shims:$PATH run_suite "$work/instrumented" "$work/suite-instrumented"
  say "plain"
  cat "$work/suite-plain"
  say "instrumented"
  cat "$work/suite-instrumented"
  cmp -s "$work/suite-plain" "$work/suite-instrumented" || die "the results differ"
  echo "the tests have the same results with and without instrumentation"
}

install_missing gcc libc6-dev make libevent-dev python3
mkdir -p "$work"
fetch_debian_source memcached "$version-" "$work/memcached"
build_load
case "${1:-}" in
  --fetch) ;;
  --test) compare_suites ;;
  "" | --restart)
    find_vprof
    cd "$here"
    say "vprof loop --auto $*"
    "$vprof" loop --auto "$@"
    ;;
  *) die "unknown option $1 (known: --fetch, --restart, --test)" ;;
esac
