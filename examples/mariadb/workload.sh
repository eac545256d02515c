#!/usr/bin/env bash
# Starts the MariaDB that build.sh built in the current directory on a copy of a prepared data
# directory, sends it all transactions and stops it. The exit status is 0 if no client failed and the
# server shut down in order.
#
#   WORKLOAD      tpcc (default): the mix of tpcc/, all data in the buffer pool; memory: the same
#                 with as many rows as TPC-C has, about three times what the buffer pool holds; hot:
#                 few rows that all clients want (patches/hot.lua)
#   POOL          size of the buffer pool (default: memory 128M, others 512M)
#   WAREHOUSES    (default 4)
#   CLIENTS       (default 8)
#   TRANSACTIONS  of all clients together (default 8000)
#   ITEMS, CUSTOMERS  items, and customers per district (default: tpcc 10000 and 300, a tenth of
#                 TPC-C's, so that copying the data takes a second; memory 100000 and 3000)
#   HOT           options of hot.lua: "--rows=4 --think=1000"
#   SETTINGS      more options of the server: "innodb-flush-log-at-trx-commit=2 thread-pool-size=2"
#   RESULT        a file for sysbench's summary, which is also printed
#   BUILD         where the server is built (default: ./bld)
#   WATCH         a command to run beside the load, and once more after it with the argument "end";
#                 $MARIADB is the client with its options
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/server-process.sh
. "$here/../server-process.sh"
tree=$PWD
build=${BUILD:-$tree/bld}
workload=${WORKLOAD:-tpcc}
case $workload in
  tpcc) pool=${POOL:-512M} items=${ITEMS:-10000} customers=${CUSTOMERS:-300} ;;
  memory) pool=${POOL:-128M} items=${ITEMS:-100000} customers=${CUSTOMERS:-3000} ;;
  hot) pool=${POOL:-512M} warehouses=hot items=0 customers=0 ;;
  *) echo "workload.sh: WORKLOAD=$workload is none of tpcc, memory, hot" >&2; exit 2 ;;
esac
warehouses=${warehouses:-${WAREHOUSES:-4}}
clients=${CLIENTS:-8}
transactions=${TRANSACTIONS:-8000}
work=${WORK:-$here/work}
template=$work/data-$warehouses-$items-$customers
data=$work/data-run
# The path of a Unix socket has at most 107 characters, so the socket is not in the tree.
sockets=$(mktemp -d)
socket=$sockets/mariadb
user=$(id -un)

# Only the server is recorded.
unrecorded() { env -u VPROF_TRACE_DIR "$@"; }

client=("$build/client/mariadb" --no-defaults --socket="$socket" --user=root)
sql() { unrecorded "${client[@]}" --batch --skip-column-names "$@"; }

start() { # data directory, then arguments of env
  local directory=$1 setting options=()
  shift
  for setting in ${SETTINGS:-}; do options+=("--$setting"); done
  env "$@" "$build/sql/mariadbd" --no-defaults --datadir="$directory" --socket="$socket" \
    --user="$user" --skip-networking --pid-file="$sockets/pid" \
    --lc-messages-dir="$build/sql/share" --character-sets-dir="$tree/sql/share/charsets" \
    --max-connections=$((clients + 20)) --innodb-buffer-pool-size="$pool" \
    --innodb-buffer-pool-dump-at-shutdown=OFF --innodb-buffer-pool-load-at-startup=OFF \
    --innodb-log-file-size=256M "${options[@]}" >"$work/server.log" 2>&1 &
  server=$!
  until_it_answers sql -e 'select 1'
}

at_exit_kill KILL "$sockets"

run_sysbench() { # script, then its options and command
  unrecorded sysbench "$1" --db-driver=mysql --mysql-socket="$socket" --mysql-user=root \
    --mysql-db=tpcc --threads="$clients" "${@:2}"
}

load() {
  sql -e 'create database tpcc'
  [ "$workload" != hot ] || return 0
  {
    cat "$here/tpcc/schema.sql"
    echo "SET @warehouses = $warehouses, @items = $items, @customers = $customers;"
    cat "$here/tpcc/load.sql"
  } | sql tpcc
}

# Makes the data once. Each run starts with a copy, so that all start alike.
prepare() {
  [ -d "$template" ] && return
  rm -rf "$template.new"
  unrecorded "$build/scripts/mariadb-install-db" --no-defaults --srcdir="$tree" \
    --builddir="$build" --datadir="$template.new" --user="$user" \
    --auth-root-authentication-method=normal --skip-test-db >"$work/install.log" 2>&1 ||
    { tail -5 "$work/install.log" >&2; exit 1; }
  SETTINGS='' start "$template.new" -u VPROF_TRACE_DIR
  load >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }
  # With it, the server writes all pages and purges what was deleted before it ends.
  sql -e 'set global innodb_fast_shutdown = 0'
  stop_server TERM
  mv "$template.new" "$template"
}

# Reads all tables and their second indexes, so that no transaction of tpcc has to.
warm_up() {
  local table
  # (history has no key.)
  for table in warehouse district customer orders new_order order_line item stock; do
    echo "SELECT count(*) FROM $table FORCE INDEX (PRIMARY);"
  done | sql tpcc >/dev/null
  sql tpcc -e 'SELECT count(c_first) FROM customer FORCE INDEX (customer_name);
    SELECT count(o_id) FROM orders FORCE INDEX (orders_customer)' >/dev/null
}

bench() {
  if [ "$workload" = hot ]; then
    local step
    for step in prepare run check; do
      # shellcheck disable=SC2086  # several options
      run_sysbench "$here/patches/hot.lua" --time=0 --events="$transactions" ${HOT:-} $step
    done
  else
    run_sysbench "$here/tpcc/tpcc.lua" --time=0 --events="$transactions" --rand-seed=1 \
      --warehouses="$warehouses" --items="$items" --customers="$customers" run
  fi
}

mkdir -p "$work"
prepare
rm -rf "$data"
cp -a --reflink=auto "$template" "$data"
sync "$data"
start "$data"
[ "$workload" != tpcc ] || warm_up
watch=
if [ -n "${WATCH:-}" ]; then
  export MARIADB="env -u VPROF_TRACE_DIR ${client[*]}"
  $WATCH &
  watch=$!
fi
bench | tee ${RESULT:+"$RESULT"}
if [ -n "$watch" ]; then
  kill "$watch" 2>/dev/null || true
  $WATCH end
fi
processor_time "$server"
stop_server TERM
