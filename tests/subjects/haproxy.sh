#!/usr/bin/env bash
# haproxy: C; GNU make; event loops in threads with hand-made locks and atomics, callbacks through
# tables, functions that constructors register. Its own tests run it between clients and servers of
# varnishtest, which Debian has instead of its successor, vtest.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=haproxy version=2.6.
needs=(varnish socat libssl-dev libpcre2-dev zlib1g-dev liblua5.3-dev curl apache2-utils)
configure=true
build="make -j2 CC=\$CC TARGET=linux-glibc USE_OPENSSL=1 USE_PCRE2=1 USE_ZLIB=1 USE_LUA=1"
interval=process_stream

# Left out: what `haproxy.sh gcc unstable` lists, since it fails in some runs of the plain build too,
# what only vtest can do, and what measures a rate.
prepare() {
  local left_out=(
    # SIGINT and SIGTERM come at once, and the status must be that of the first.
    http-rules/acl_cli_spaces mcli/mcli_show_info mcli/mcli_start_progs
    # The connection of an earlier client must be idle by now.
    connection/http_reuse_aggressive connection/http_reuse_safe
    # The lines of two connections must come in the order in which those were made.
    http-messaging/h1_host_normalization
    # Its server closes the connection after each answer without saying so, and the next request may
    # already be on it: failed in 1 of 6 plain runs on 2 busy cores.
    log/log_uri
    # Which of two errors ends a handshake.
    checks/tcp-check-ssl
    http-messaging/websocket ssl/ssl_reuse
  )
  (cd reg-tests && rm "${left_out[@]/%/.vtc}")
}

# A path of a socket has at most 97 characters. The usual time limit needs an idle machine.
suite() {
  local directory status=0
  directory=$(mktemp -d /tmp/XXXX)
  export TMPDIR=$directory VTEST_PROGRAM=varnishtest HAPROXY_TEST_TIMEOUT=30s
  ./scripts/run-regtests.sh --v --j 2 --vtestparams '-t 100' || status=$?
  rm -rf "$directory"
  return $status
}
# One line per test, without its time.
verdict() {
  sed -nE 's/^#* *(top )? *TEST ([^ ]+) (passed|FAILED|TIMED OUT|skipped).*/\2 \3/p' "$1" |
    LC_ALL=C sort -u
}

# Every hundredth request takes 3 ms. Streams of the front end also wait for the back end, which is
# the same process, while it is in the pause.
catalogue=haproxy cause=planted_pause
plant() { plant_pause src/http_ana.c '^int http_process_request[(]' '^[{]$'; }

run_subject "$@"
