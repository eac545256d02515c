#!/usr/bin/env bash
# SQLite's canonical source: C; generated sources (a parser, opcodes); autoconf and libtool, more
# than a hundred files in a single command of the compiler. Its tests are Tcl scripts in an
# interpreter that contains SQLite.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=sqlite3 version=3.40.
needs=(tcl tcl-dev libreadline-dev zlib1g-dev)
# Two cases of like.test must take less than 1 ms times this factor.
configure="./configure CFLAGS='-O1 -DCONFIG_SLOWDOWN_FACTOR=100' --disable-amalgamation --enable-fts5 --with-tcl=/usr/lib/tcl8.6"
build="make -j2 sqlite3 testfixture"
interval=sqlite3_step
# As root, what must not be writable is.
unprivileged=yes

# A sixth of its 1,100 scripts, from every part: the language, the planner, transactions, recovery,
# the write-ahead log, faults, threads, extensions, the shell. All take an hour when instrumented.
suite() {
  local test
  for test in select1 select2 select3 select4 select6 select9 selectA insert insert2 update delete \
    join join2 join5 where where2 where9 index index4 trigger1 trigger2 trigger9 triggerC \
    fkey1 fkey2 view with1 window1 window2 windowB upsert1 returning1 generated1 \
    cast cse collate1 collate3 date date2 expr func func2 like in in4 json101 json102 printf round1 \
    alter alter2 altertab analyze3 attach autoinc autovacuum backup bind blob capi2 capi3 check \
    conflict conflict2 corrupt2 corruptC crash2 distinct enc enc2 exclusive hook incrblob incrvacuum \
    ioerr2 malloc5 journal1 lock lock2 misc1 misc3 misc5 notnull null nan notify1 pager1 pcache \
    pragma pragma2 quota rollback rowid savepoint schema shared sort subquery table tclsqlite temptable \
    thread001 thread002 thread003 tkt1435 trans types unique unixexcl utf16align vacuum vtab1 vtab3 \
    wal wal2 walbig waloverwrite walmode walro fts3aa fts3ab fts3near fts4aa rtree fts5aa shell1 shell2; do
    script=$(find test ext -name "$test.test" | head -1)
    [ -n "$script" ] || continue
    echo "script $test"
    ./testfixture "$script" || echo "script $test: exit status $?"
  done
}
# One line per case. Which cases of pager1-16.1 there are depends on the length of the directory's
# name, and some threads print a dot from time to time.
verdict() {
  sed -nE '/^script /p; s/^(.*)\.\.\. Ok$/\1 Ok/p; /^! /p; /errors out of/p; /[Ee]rror/p' "$1" |
    sed -E 's/ in [0-9.]+ seconds//; s/^\.+//; s/^(pager1-16\.1)\.[0-9]+/\1/' | grep -vE '^Time|^$'
}

# Every hundredth row that is inserted takes 3 ms.
catalogue=sqlite cause=planted_pause
# The catalogue's load, without waits for the disk.
loop_run="rm -f load.db*; awk 'BEGIN { print \"pragma synchronous=off; pragma journal_mode=wal; create table t(id integer primary key, k, v);\"; for (i = 0; i < 8000; ++i) { printf \"insert into t(k, v) values(%d, hex(randomblob(100)));\\n\", i % 97; if (i % 4 == 0) printf \"select count(*), max(v) from t where id > %d;\\n\", i - 50 } }' | ./sqlite3 load.db > load.out"
plant() { plant_pause src/btree.c '^int sqlite3BtreeInsert[(]$' '^[)][{]$'; }

run_subject "$@"
