#!/usr/bin/env bash
# The papers' remedies for InnoDB, as patches to MariaDB's source. Needs ../run.sh --fetch.
#
#   run.sh apply    applies the patches to ../work/mariadb. Each adds an option that is off by
#                   default. Then ../changes.sh locks and ../changes.sh lru measure them.
#   run.sh revert   takes them back
#   run.sh stress   many clients want the same few rows, under each algorithm, and notice if two of
#                   them have one at the same time; in a debug build, which also validates its lock
#                   queues
#   run.sh suite    MariaDB's own innodb tests in the debug build, under each algorithm, with lazy LRU
#                   update if that is not fcfs, the default
#   run.sh measure  what the algorithms change for 16, 64, 256 and 512 clients that want few rows,
#                   and with TPC-C and 2 warehouses, and what lazy LRU update does: five rounds of
#                   ../changes.sh each. Needs `../run.sh --restart --max-iterations 1` after
#                   `run.sh apply`.
#
# ALGORITHMS are those to test (default: fcfs vats ldsf bldsf), TRANSACTIONS those of a run (default:
# stress 20000, measure 8000), CLIENTS and ROUNDS those to measure. The debug build is in
# ../work/debug.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/../work
debug=$work/debug
read -ra algorithms <<<"${ALGORITHMS:-fcfs vats ldsf bldsf}"

# shellcheck source=examples/debian-source.sh
. "$here/../../debian-source.sh"

# patch --dry-run of all of them: whether they could be applied (or taken back, with -R).
can_patch() { # option...
  cat "$here"/*.patch | patch -d "$work/mariadb" -p1 -s -f --dry-run "$@" >/dev/null 2>&1
}

apply() {
  [ -d "$work/mariadb" ] || die "there is no source in $work; run ../run.sh --fetch first"
  if can_patch -R; then return; fi # they are
  can_patch || die "the patches do not fit the source in $work/mariadb"
  cat "$here"/*.patch | patch -d "$work/mariadb" -p1 -s
}

build_debug() {
  apply
  cd "$work/mariadb"
  [ -e "$debug/build.ninja" ] ||
    ../../build.sh configure "$debug" -DCMAKE_BUILD_TYPE=Debug -DPLUGIN_SEQUENCE=STATIC
  ninja -C "$debug" -j "${BUILD_JOBS:-$(nproc)}"
}

# Beside the stress test: SHOW ENGINE INNODB STATUS validates all lock queues in a debug build.
if [ "${1:-}" = watch ]; then
  [ "${2:-}" != end ] || exit 0
  while sleep 0.2; do $MARIADB -e 'show engine innodb status' >/dev/null; done
fi

stress() {
  local algorithm hot
  for algorithm in "${algorithms[@]}"; do
    for hot in "--rows=8 --shared=40" "--rows=20 --shared=60 --upgrades=5"; do
      say "$algorithm, $hot"
      (cd "$work/mariadb" && WORKLOAD=hot HOT="$hot" CLIENTS=64 BUILD=$debug \
        TRANSACTIONS=${TRANSACTIONS:-20000} WATCH="$here/run.sh watch" \
        SETTINGS="innodb-lock-schedule-algorithm=$algorithm innodb-lazy-lru-update=1" \
        ../../workload.sh) | grep -E '^ *transactions:|ignored errors:|lost$'
    done
  done
}

suite() {
  local algorithm lazy failed=0
  for algorithm in "${algorithms[@]}"; do
    say "$algorithm"
    lazy=$([ "$algorithm" = fcfs ] || echo 1)
    (cd "$debug/mysql-test" && ./mtr --suite=innodb,sys_vars --do-test='innodb|sysvars_innodb' \
      --parallel=$((2 * $(nproc))) --force --max-test-fail=0 --retry=0 --testcase-timeout=30 \
      --mysqld=--innodb-lock-schedule-algorithm="$algorithm" \
      ${lazy:+--mysqld=--loose-innodb-lazy-lru-update=1}) >"$work/suite-$algorithm.log" 2>&1 ||
      failed=1
    tail -3 "$work/suite-$algorithm.log"
  done
  [ "$failed" = 0 ]
}

measure() {
  local clients counts=${CLIENTS:-16 64 256 512}
  export ROUNDS=${ROUNDS:-5} TRANSACTIONS=${TRANSACTIONS:-8000} WAREHOUSES=2
  for clients in $counts; do
    say "$clients clients, few rows"
    WORKLOAD=hot HOT="--think=1000" CLIENTS=$clients TAG=hot-$clients ../changes.sh locks
  done
  say "64 clients, more data than memory"
  CLIENTS=64 ../changes.sh lru
  for clients in $counts; do
    say "$clients clients, TPC-C with 2 warehouses"
    CLIENTS=$clients TAG=tpcc-$clients ../changes.sh locks
  done
}

case "${1:-}" in
  apply) apply ;;
  revert)
    ! can_patch -R || cat "$here"/*.patch | patch -d "$work/mariadb" -p1 -s -R
    ;;
  stress | suite)
    (build_debug)
    "$1"
    ;;
  measure)
    cd "$here"
    measure
    ;;
  *) die "unknown command ${1:-} (known: apply, revert, stress, suite, measure)" ;;
esac
