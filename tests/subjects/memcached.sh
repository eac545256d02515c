#!/usr/bin/env bash
# memcached: C; autoconf; worker threads, libevent.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=memcached version=1.6.18-
needs=(libevent-dev perl libio-socket-ssl-perl)
configure="./configure"
build="make -j2"
interval=drive_machine

suite() { make test PARALLEL=4; }
# Leaves out the number of subtests: some tests poll and count each attempt as one.
verdict() {
  sed -n 's/^\(Files=[0-9]*\),.*/\1/p; /^Result:/p' "$1"
  grep -E '^t/.*(Failed|Wstat)' "$1" || true
}

run_subject "$@"
