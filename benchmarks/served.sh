#!/usr/bin/env bash
# Prints how many requests a server has served so far, for `live_cost.py --count`.
#
#   served.sh steady       steady/server, whose file `served` is in the current directory
#   served.sh memcached    the one that runs in the current directory
#   served.sh postgresql   the one that workload.sh has started
set -euo pipefail

case $1 in
  steady) od -An -v -t u8 -w64 served | awk '{ sum += $1 } END { printf "%.0f\n", sum }' ;;
  memcached)
    for process in /proc/[0-9]*; do
      if [ "$process/cwd" -ef . ] && [ "$(cat "$process/comm")" = memcached ]; then
        port=$(tr '\0' '\n' <"$process/cmdline" | sed -n '/^-p$/{n;p}')
      fi
    done
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'stats\r\nquit\r\n' >&3
    tr -d '\r' <&3 | awk '$2 ~ /^cmd_(get|set|touch)$/ { sum += $3 } END { print sum }'
    ;;
  postgresql)
    { read -r _; read -r _; read -r _; read -r port; read -r socket; } <../../work/data-run/postmaster.pid
    exec installed/bin/psql -h "$socket" -p "$port" -U bench -d postgres -qAtc \
      'select sum(xact_commit) from pg_stat_database'
    ;;
esac
