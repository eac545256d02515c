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

# One takes what only vtest has, and one measures a rate.
prepare() { rm reg-tests/http-messaging/websocket.vtc reg-tests/ssl/ssl_reuse.vtc; }

# A path of a socket has at most 97 characters. The usual time limit needs an idle machine. So do
# tests that expect the lines of two connections in an order, for instance; what fails beside others
# runs once more, alone.
suite() {
  local directory failed status=0
  directory=$(mktemp -d /tmp/XXXX)
  export TMPDIR=$directory VTEST_PROGRAM=varnishtest HAPROXY_TEST_TIMEOUT=30s
  ./scripts/run-regtests.sh --v --j 2 --vtestparams '-t 100' >"$directory/log" 2>&1 || status=$?
  cat "$directory/log"
  mapfile -t failed < <(sed -nE 's/^#* *top +TEST ([^ ]+) (FAILED|TIMED OUT).*/\1/p' "$directory/log" | sort -u)
  if [ ${#failed[@]} != 0 ]; then
    status=0
    ./scripts/run-regtests.sh --v --j 1 --vtestparams '-t 100' "${failed[@]}" 2>&1 || status=$?
  fi
  rm -rf "$directory"
  return $status
}
# One line per test, the last one, without its time.
verdict() {
  sed -nE 's/^#* *(top )? *TEST ([^ ]+) (passed|FAILED|TIMED OUT|skipped).*/\2 \3/p' "$1" |
    awk '{ test = $1; $1 = ""; last[test] = $0 } END { for (test in last) print test last[test] }' | LC_ALL=C sort
}

# Every hundredth request takes 3 ms.
catalogue=haproxy cause=planted_pause
plant() { plant_pause src/http_ana.c '^int http_process_request[(]' '^[{]$'; }

run_subject "$@"
