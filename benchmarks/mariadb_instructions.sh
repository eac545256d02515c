#!/usr/bin/env bash
# Instructions, and misses of the first-level instruction cache, that MariaDB takes for a transaction
# of one client: what call sites cost that are off, without the noise of a machine.
#
#   mariadb_instructions.sh SERVER...
#
# Each SERVER is a mariadbd of examples/mariadb, such as work/plain/bld/sql/mariadbd and
# .vprof/mirror/bld/sql/mariadbd; plain.sh has made the first one, and workload.sh (WORKLOAD=tpcc)
# the data. Needs valgrind and sysbench. Simulates the caches of this machine's processor. EVENTS is
# the number of transactions (default 150).
set -euo pipefail

example=$(cd "$(dirname "${BASH_SOURCE[0]}")/../examples/mariadb" && pwd)
# shellcheck source=examples/server-process.sh
. "$example/../server-process.sh"
tree=$example/work/plain
work=$(mktemp -d)
at_exit_kill KILL "$work"

sql() { "$tree/bld/client/mariadb" --no-defaults --socket="$work/socket" --user=root "$@"; }

transactions() { # how many
  sysbench "$example/tpcc/tpcc.lua" --db-driver=mysql --mysql-socket="$work/socket" \
    --mysql-user=root --mysql-db=tpcc --threads=1 --time=0 --rand-seed=1 --events="$1" \
    --warehouses=4 --items=10000 --customers=300 run >"$work/sysbench.log" ||
    { cat "$work/sysbench.log" >&2; exit 1; }
}

measure() { # a server
  rm -rf "$work/data"
  cp -a "$example/work/data-4-10000-300" "$work/data"
  mkdir -p "$work/trace"
  VPROF_TRACE_DIR=$work/trace valgrind --tool=callgrind --cache-sim=yes --instr-atstart=no \
    --callgrind-out-file="$work/out" "$1" --no-defaults --datadir="$work/data" --user="$(id -un)" \
    --socket="$work/socket" --pid-file="$work/pid" --skip-networking \
    --lc-messages-dir="$tree/bld/sql/share" --character-sets-dir="$tree/sql/share/charsets" \
    --innodb-buffer-pool-size=512M --innodb-buffer-pool-size-max=512M \
    --innodb-log-file-size=256M --innodb-use-native-aio=0 >"$work/server.log" 2>&1 &
  server=$!
  until_it_answers sql -e 'select 1'
  transactions 60
  callgrind_control -i on "$server" >/dev/null 2>&1
  transactions "${EVENTS:-150}"
  callgrind_control -i off "$server" >/dev/null 2>&1
  stop_server TERM
  awk -v events="${EVENTS:-150}" -v server="$1" '
    $1 == "events:" { for (i = 2; i <= NF; ++i) column[$i] = i }
    $1 == "totals:" {
      printf "%.0f instructions, %.0f misses a transaction: %s\n", $column["Ir"] / events,
        $column["I1mr"] / events, server
    }' "$work/out"
}

for each in "$@"; do measure "$each"; done
