#!/usr/bin/env bash
# Starts the PostgreSQL in ./installed on a copy of a prepared data directory, sends it all
# transactions and stops it. The exit status is 0 if no client failed and the server shut down in
# order. An argument names a fault to end with instead.
#
#   WORKLOAD      tpcb (default): pgbench's TPC-B-like; tpcc: the mix of tpcc/
#   SCALE         tpcb: branches (default 1); tpcc: warehouses (default 4)
#   CLIENTS       (default 8)
#   TRANSACTIONS  per client (default: tpcb 1000, tpcc 1500)
#   ITEMS, CUSTOMERS  tpcc: items, and customers per district (default 10000 and 300, a tenth of
#                 TPC-C's, so that copying the data takes a second)
#   PROTOCOL      tpcb: simple (default), extended, prepared
#   SCRIPT        tpcb: tpcb (default), or another script of tpcb/
#   SETTINGS      more lines of postgresql.conf: "commit_delay=100 synchronous_commit=off"
#   RESULT        a file for pgbench's summary, which is also printed
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/server-process.sh
. "$here/../server-process.sh"
bin=$PWD/installed/bin
workload=${WORKLOAD:-tpcb}
case $workload in
  tpcb) scale=${SCALE:-1} transactions=${TRANSACTIONS:-1000} ;;
  tpcc) scale=${SCALE:-4} transactions=${TRANSACTIONS:-1500} ;;
  *) echo "workload.sh: WORKLOAD=$workload is neither tpcb nor tpcc" >&2; exit 2 ;;
esac
clients=${CLIENTS:-8}
protocol=${PROTOCOL:-simple}
items=${ITEMS:-10000}
customers=${CUSTOMERS:-300}
work=${WORK:-$here/work}
template=$work/data-$workload-$scale
[ "$workload" = tpcb ] || template=$template-$items-$customers
data=$work/data-run
# The path of a Unix socket has at most 107 characters, so the socket is not in the tree.
socket=$(mktemp -d)
export PGHOST=$socket PGPORT=5432 PGUSER=bench PGDATABASE=postgres
unset PGOPTIONS PGAPPNAME

# Only the server is recorded.
unrecorded() { env -u VPROF_TRACE_DIR "$@"; }

# No autovacuum, and no checkpoint during a run, so that short runs are alike.
settings() {
  printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$socket'" \
    "shared_buffers = 256MB" "max_connections = $((clients + 20))" "checkpoint_timeout = 30min" \
    "max_wal_size = 4GB" "autovacuum = off" "max_logical_replication_workers = 0" \
    "logging_collector = off"
  local setting
  for setting in ${SETTINGS:-}; do printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"; done
}

start() { # data directory, then arguments of env
  local directory=$1
  shift
  settings >"$directory/postgresql.auto.conf"
  env "$@" "$bin/postgres" -D "$directory" >"$work/server.log" 2>&1 &
  server=$!
  until_it_answers unrecorded "$bin/psql" -qAtc 'select 1'
}

at_exit_kill QUIT "$socket"

load() {
  case $workload in
    tpcb) unrecorded "$bin/pgbench" -q -i -s "$scale" --foreign-keys ;;
    tpcc) unrecorded "$bin/psql" -qX -v ON_ERROR_STOP=1 -v warehouses="$scale" -v items="$items" \
      -v customers="$customers" -f "$here/tpcc/schema.sql" -f "$here/tpcc/load.sql" ;;
  esac
}

# Makes the data once. Each run starts with a copy, so that all start alike.
prepare() {
  [ -d "$template" ] && return
  rm -rf "$template.new"
  unrecorded "$bin/initdb" -D "$template.new" -U bench --auth=trust --no-locale -E UTF8 --no-sync \
    >"$work/initdb.log"
  start "$template.new" -u VPROF_TRACE_DIR
  load >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }
  unrecorded "$bin/psql" -qc 'vacuum analyze' -c checkpoint
  stop_server INT
  mv "$template.new" "$template"
}

scripts() {
  case $workload in
    # Only the simple protocol allows several commands in one message, as in tpcb/. The others run
    # pgbench's own script, which has no labels.
    tpcb)
      [ "$protocol" = simple ] && echo "-D scale=$scale -f $here/tpcb/${SCRIPT:-tpcb}.sql" ||
        echo "-b tpcb-like"
      ;;
    # The minimum weights of TPC-C 5.2.3; New-Order gets the rest.
    tpcc)
      echo "-D warehouses=$scale -D items=$items -D customers=$customers" \
        "-D names=$((customers < 1000 ? customers : 1000))" \
        "-f $here/tpcc/new-order.sql@45 -f $here/tpcc/payment.sql@43" \
        "-f $here/tpcc/order-status.sql@4" \
        "-f $here/tpcc/delivery.sql@4 -f $here/tpcc/stock-level.sql@4"
      ;;
  esac
}

bench() {
  # shellcheck disable=SC2046  # several words
  unrecorded "$bin/pgbench" -n -M "$protocol" -c "$clients" -j 1 -t "$transactions" $(scripts)
}

# The backends end soon after their clients.
until_the_backends_end() {
  local tries=0
  while [ "$tries" -lt 50 ] && pgrep -P "$server" -f 'postgres: bench' >/dev/null; do
    tries=$((tries + 1))
    sleep 0.1
  done
}

# ---- faults, for tests/subjects/postgresql_faults.sh: 2 s of load, then what the name says

start_load() {
  bench >"$work/bench.log" 2>&1 &
  bench=$!
  sleep 2
}

backend() { # application name: prints the PID of one of its backends
  unrecorded "$bin/psql" -qAtc \
    "select pid from pg_stat_activity where application_name = '$1' limit 1"
}

# The server considers the shared memory damaged, ends all backends and restarts.
killed_backend() {
  start_load
  kill -KILL "$(backend tpc-b)"
  wait "$bench" || true
  grep -q 'terminated by signal 9' "$work/server.log"
  until_it_answers unrecorded "$bin/psql" -qAtc "select 1"
  stop_server INT
}

# The client holds the lock of a row that the others want.
gone_client() {
  coproc gone { exec env -u VPROF_TRACE_DIR "$bin/psql" -qX; }
  start_load
  echo "begin; update pgbench_tellers set tbalance = 1 where tid = 1;" >&"${gone[1]}"
  sleep 1
  # shellcheck disable=SC2154  # coproc sets it
  kill -KILL "$gone_PID"
  wait "$bench"
  stop_server INT
}

# As `pg_ctl stop -m immediate`: the backends exit at once.
immediate_stop() {
  start_load
  kill -QUIT "$server"
  wait "$server" || true
  server=
  wait "$bench" || true
}

mkdir -p "$work"
prepare
rm -rf "$data"
cp -a --reflink=auto "$template" "$data"
sync "$data"
start "$data"
case ${1:-} in
  "")
    bench | tee ${RESULT:+"$RESULT"}
    until_the_backends_end
    processor_time "$server"
    stop_server INT
    ;;
  killed_backend | gone_client | immediate_stop) "$1" ;;
  *) echo "workload.sh: unknown fault $1" >&2; exit 2 ;;
esac
