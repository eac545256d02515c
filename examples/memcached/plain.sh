#!/usr/bin/env bash
# Builds the server in work/plain without instrumentation, but otherwise like the instrumented one,
# unless it is there. Needs run.sh --fetch. run.sh --test and overhead.py compare with this server.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"
build_plain memcached eval './configure && make -j2'
