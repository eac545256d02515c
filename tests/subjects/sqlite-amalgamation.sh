#!/usr/bin/env bash
# SQLite's amalgamation: C; all of the library in sqlite3.c, 240,000 lines, and the shell in shell.c;
# one command of the compiler, no build system. Its tests are SQLite's own fuzzcheck, which runs
# what fuzzers found, and its speedtest1, which checks what it computes.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=sqlite3 version=3.40.
needs=(tcl)
configure=true
build="sh build.sh"
interval=sqlite3_step

# Leaves only what a project has that contains SQLite, and the programs of the tests.
prepare() {
  ./configure --disable-tcl && make -j2 sqlite3.c shell.c
  mkdir amalgamation
  cp sqlite3.c sqlite3.h shell.c ext/session/sqlite3session.h \
    test/{speedtest1,fuzzcheck,ossfuzz,fuzzinvariants,vt02}.c test/fuzzdata{1,4,6,8}.db \
    ext/recover/{dbdata.c,sqlite3recover.c,sqlite3recover.h} amalgamation
  find . -mindepth 1 -maxdepth 1 ! -name amalgamation -exec rm -rf {} +
  mv amalgamation/* .
  rmdir amalgamation
  cat >build.sh <<'SH'
set -e
# The options with which SQLite's own makefile builds fuzzcheck.
options="-O1 -I. -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_ENABLE_MEMSYS5 -DSQLITE_OSS_FUZZ
  -DSQLITE_MAX_MEMORY=50000000 -DSQLITE_PRINTF_PRECISION_LIMIT=1000 -DSQLITE_ENABLE_FTS4
  -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE
  -DSQLITE_ENABLE_GEOPOLY -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_BYTECODE_VTAB"
libraries="-lpthread -ldl -lm"
$CC $options -c shell.c sqlite3.c
$CC -o sqlite3 shell.o sqlite3.o $libraries
$CC $options -o speedtest1 speedtest1.c sqlite3.o $libraries
$CC $options -o fuzzcheck fuzzcheck.c ossfuzz.c fuzzinvariants.c dbdata.c sqlite3recover.c vt02.c \
  sqlite3.o $libraries
SH
}

# Not speedtest1's set orm: its table's definition is longer than the precision limit.
suite() {
  local set file
  for set in main cte rtree fp debug1; do
    ./speedtest1 --size 10 --verify --testset $set :memory:
  done
  for file in fuzzdata*.db; do ./fuzzcheck --limit-mem 100M --timeout 0 "$file"; done
  rm -f test.db*
  ./sqlite3 test.db <<'SQL'
create virtual table words using fts5(word);
with recursive n(i) as (values(1) union all select i + 1 from n where i < 20000)
  insert into words select 'w' || (i * 7919 % 1009) || ' ' || char(97 + i % 26) from n;
select 'shell', count(*), sum(rowid) from words where words match 'w17* OR q';
.mode json
pragma integrity_check;
.dump
SQL
  rm -f test.db*
}
# Results of the tests without their times, and a sum of what the shell printed.
verdict() {
  sed -nE 's/^ *([0-9]+ - .*[^.])\.+ +[0-9.]+s$/\1/p; /Verification Hash/p; /errors out of/s/ in [0-9.]+ seconds//p; /^shell/p' "$1"
  sed -n '/^shell/,$p' "$1" | md5sum
}

# Every hundredth row that is inserted takes 3 ms.
catalogue=sqlite cause=planted_pause
# The catalogue's load, without waits for the disk.
loop_run="rm -f load.db*; awk 'BEGIN { print \"pragma synchronous=off; pragma journal_mode=wal; create table t(id integer primary key, k, v);\"; for (i = 0; i < 8000; ++i) { printf \"insert into t(k, v) values(%d, hex(randomblob(100)));\\n\", i % 97; if (i % 4 == 0) printf \"select count(*), max(v) from t where id > %d;\\n\", i - 50 } }' | ./sqlite3 load.db > load.out"
loop_configure=true
loop_build="cc -O1 -g -o sqlite3 shell.c sqlite3.c -lpthread -ldl -lm"
plant() { plant_pause sqlite3.c '^SQLITE_PRIVATE int sqlite3BtreeInsert[(]$' '^[)][{]$'; }

run_subject "$@"
