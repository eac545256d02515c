#!/usr/bin/env bash
# Builds the server in work/plain without instrumentation, but otherwise like the instrumented one,
# unless it is there. Needs run.sh --fetch. compare.sh and overhead.py compare with this server.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

[ ! -e "$work/plain.built" ] || exit 0
say "building httpd without instrumentation"
rm -rf "$work/plain"
cp -a "$work/httpd" "$work/plain"
(cd "$work/plain" && "$here/build.sh") >"$work/plain.log" 2>&1 ||
  die "the plain build failed; see $work/plain.log"
touch "$work/plain.built"
