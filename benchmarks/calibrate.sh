#!/usr/bin/env bash
# What recording costs real programs, beside what the report says that it costs: the plan that
# `vprof loop --auto` ends with, against the same source built without VProfiler, in turn.
#
#   calibrate.sh [--rounds N] [redis|sqlite|nginx|postgresql]...     (default: 31 rounds of all;
#                                                                     0 rounds: only the search)
#
# From nothing to the table of docs/performance.md: fetches Debian's source package, builds it
# plainly, takes the configuration of the catalogue, runs the loop, and measures (stated_cost.py, and
# server_cost.py for servers).
# Everything is in build/calibrate/NAME; a program that has been searched is only measured again.
# PostgreSQL is that of examples/postgresql, whose first build takes some minutes.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=examples/debian-source.sh
. "$root/examples/debian-source.sh"

# Sets package, version, needs, configure, build, run and entry. `run` does a fixed amount of work
# and prints `throughput = N`. Of a server, also how it is started and loaded in short slices.
describe() { # name
  server="" load="" requests=""
  case $1 in
    redis)
      package=redis version=5:7.0. needs=(pkg-config) entry=redis configure=true
      build="make -j2 MALLOC=libc"
      server="exec src/redis-server --port \$PORT --save '' --appendonly no"
      load="src/redis-benchmark -p \$PORT -c 8 -n 2000 -t get,set -q" requests=4000
      run="src/redis-server --port 17031 --save '' --appendonly no > server.log & server=\$!; for try in 1 2 3 4 5 6 7 8 9; do src/redis-cli -p 17031 ping > ping.log && break; sleep 1; done; env -u VPROF_TRACE_DIR src/redis-benchmark -p 17031 -c 8 -n 100000 -t get,set -q | tr '\\r' '\\n' > bench.log; src/redis-cli -p 17031 shutdown nosave; wait \$server; awk '/requests per second/ { seconds += 1 / \$2; ++n } END { print \"throughput =\", n / seconds }' bench.log"
      ;;
    sqlite)
      package=sqlite3 version=3.40. needs=(tcl) entry=sqlite configure="./configure --disable-tcl"
      build="make -j2 sqlite3.c sqlite3.h && gcc -O2 -g -I. -o speedtest1 test/speedtest1.c sqlite3.c -lpthread -ldl -lm"
      run="./speedtest1 --size 60 --testset main :memory: | awk '/TOTAL/ { print \"throughput =\", 1 / (\$2 + 0) }'"
      ;;
    nginx)
      package=nginx version=1.22. needs=(libpcre2-dev zlib1g-dev apache2-utils) entry=nginx
      configure="./configure --with-cc-opt='-O2 -g'" build="make -j2"
      server="mkdir -p logs; echo \"daemon off; pid logs/\$PORT.pid; worker_processes 1; error_log logs/error.log; events {} http { access_log off; server { listen 127.0.0.1:\$PORT; root html; } }\" > load.\$PORT.conf; exec objs/nginx -p . -c load.\$PORT.conf"
      load="ab -q -k -c 8 -n 1000 http://127.0.0.1:\$PORT/index.html" requests=1000
      run="mkdir -p logs && echo 'daemon off; worker_processes 1; error_log logs/error.log; events {} http { access_log off; server { listen 127.0.0.1:17032; root html; } }' > load.conf && { objs/nginx -p . -c load.conf & server=\$!; sleep 1; env -u VPROF_TRACE_DIR ab -q -k -c 8 -n 50000 http://127.0.0.1:17032/index.html > bench.log; kill -QUIT \$server; wait \$server; awk '/Requests per second/ { print \"throughput =\", \$4 }' bench.log; }"
      ;;
    *) die "unknown program $1 (known: redis, sqlite, nginx, postgresql)" ;;
  esac
}

# vprof.json from the catalogue, with this load. SQLite is a part of speedtest1, not its shell: a
# statement is run by another function, which also fetches all of its rows.
configure_project() { # name
  "$vprof" init --from "$entry"
  python3 - "$1" "$configure" "$build" "$run" <<'PY'
import json, re, sys

name, *values = sys.argv[1:]
text = open("vprof.json").read()
for key, value in zip(("configure", "build", "run"), values):
    line = f'  "{key}": {json.dumps(value)},\n'
    text, found = re.subn(rf'^  "{key}": .*\n', lambda _: line, text, flags=re.M)
    if not found:
        text = text.replace("{\n", "{\n" + line, 1)
if name == "sqlite":
    text = text.replace('"name": "statement", "function": "shell_exec"',
                        '"name": "statement", "function": "speedtest1_run"')
open("vprof.json", "w").write(text)
PY
}

prepare() { # name
  local here=$root/build/calibrate/$1
  describe "$1"
  [ -e "$here/searched" ] && return
  install_missing gcc make python3 "${needs[@]}"
  fetch_debian_source "$package" "$version" "$root/build/subjects/$package-$version"
  mkdir -p "$here"
  if [ ! -e "$here/plain.built" ]; then
    say "$1: building without instrumentation"
    rm -rf "$here/plain" "$here/project"
    cp -a "$root/build/subjects/$package-$version" "$here/plain"
    cp -a "$root/build/subjects/$package-$version" "$here/project"
    (cd "$here/plain" && eval "$configure" && eval "$build") >"$here/plain.log" 2>&1 ||
      die "the plain build failed; see $here/plain.log"
    touch "$here/plain.built"
  fi
  say "$1: looking for the cause"
  (cd "$here/project" && { [ -e vprof.json ] || configure_project "$1"; } &&
    "$vprof" loop --auto) >"$here/loop.log" 2>&1 ||
    { tail -20 "$here/loop.log"; die "the loop failed; see $here/loop.log"; }
  sed -n '/^Where the variance/,$p' "$here/loop.log" | head -12
  touch "$here/searched"
}

rounds=31
names=()
while [ $# != 0 ]; do
  case $1 in
    --rounds) rounds=${2:?--rounds needs a number}; shift ;;
    *) names+=("$1") ;;
  esac
  shift
done
[ ${#names[@]} != 0 ] || names=(redis sqlite nginx postgresql)
find_vprof
for name in "${names[@]}"; do
  server=""
  if [ "$name" = postgresql ]; then
    project=$root/examples/postgresql plain=$root/examples/postgresql/work/plain
    [ -e "$project/.vprof/plan.json" ] || "$project/run.sh"
    "$project/plain.sh"
  else
    prepare "$name"
    project=$root/build/calibrate/$name/project plain=$root/build/calibrate/$name/plain
  fi
  [ "$rounds" != 0 ] || continue
  say "$name: $rounds rounds"
  if [ -n "$server" ]; then
    # Its own tools make the load, without what vprof adds to them.
    (cd "$plain" && python3 "$root/benchmarks/server_cost.py" "$project" "$plain" --server "$server" \
      --load "$load" --requests "$requests" --rounds "$rounds" --vprof "$vprof")
  else
    python3 "$root/benchmarks/stated_cost.py" "$project" "$plain" --rounds "$rounds" --vprof "$vprof"
  fi
done
