#!/usr/bin/env bash
# memcached: C; autoconf; worker threads, libevent.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=memcached version=1.6.18-
needs=(libevent-dev perl libio-socket-ssl-perl)
configure="./configure"
build="make -j2"
interval=drive_machine

suite() { make test PARALLEL=4; }
# Protocols, storage, limits, threads; without TLS and the tests of long loads. They mostly sleep.
suite_quick() {
  prove -j12 t/{00-startup,64bit,ascii-auth,binary-get,bogus-commands,cas,conn-limits,evictions,flags}.t \
    t/{flush-all,getandtouch,getset,incrdecr,issue_14,issue_29,issue_42,issue_61,issue_70}.t \
    t/{item_size_max,line-lengths,lru,maxconns,metaget,misbehave,multiversioning,noreply,quit}.t \
    t/{stats-conns,stats-detail,stats,strtol-testing,touch,udp,unixsocket,watcher,whitespace}.t
}
# Leaves out the number of subtests: some tests poll and count each attempt as one.
verdict() {
  sed -n 's/^\(Files=[0-9]*\),.*/\1/p; /^Result:/p' "$1"
  grep -E '^t/.*(Failed|Wstat)' "$1" || true
}

run_subject "$@"
