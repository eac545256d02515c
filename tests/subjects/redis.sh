#!/usr/bin/env bash
# redis: C; plain make; an event loop, background threads, forks to save. Its tests are Tcl programs
# that start servers.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=redis version=5:7.0.
needs=(tcl pkg-config)
configure=true
build="make -j2 MALLOC=libc"
interval=processCommand

# All types of values, expiry, transactions, scripts, functions, replication of commands and files.
# Left out: what needs more memory or time than a test has.
suite() {
  local unit units=()
  for unit in auth protocol keyspace scan info expire multi pubsub quit introspection \
    type/string type/list type/set type/zset type/hash type/stream type/incr \
    functions scripting bitops sort hyperloglog acl; do
    units+=(--single "unit/$unit")
  done
  ./runtest --clients 2 --timeout 2400 --tags -slow "${units[@]}" --single integration/aof
}
# One line per test, without colours and times.
verdict() {
  sed -E 's/\x1b\[[0-9;]*m//g' "$1" |
    sed -nE 's/^\[(ok|err|exception|timeout)\]: (.*)/\2 \1/p' |
    sed -E 's/ \([0-9]+ ms\)//' | LC_ALL=C sort
}

# Every hundredth write of a key takes 3 ms.
catalogue=redis cause=planted_pause
plant() { plant_pause src/db.c '^void setKey[(]client [*]c, redisDb [*]db,.*[{]$'; }

run_subject "$@"
