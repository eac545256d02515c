#!/usr/bin/env bash
# Builds the server in work/plain without instrumentation, but otherwise like the instrumented one,
# unless it is there. Needs run.sh --fetch. overhead.py compares with this server.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"
build() {
  "$here/build.sh" configure && "$here/build.sh"
}
build_plain mariadb build
