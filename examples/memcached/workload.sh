#!/bin/sh
# Starts the memcached in the current directory on a free port, sends it all requests and stops it.
# LOAD_REQUESTS, LOAD_CONNECTIONS and LOAD_PAUSE (microseconds after each request of a connection)
# change the load. The exit status is 0 if no request failed and the server shut down in order.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
load=${LOAD:-$here/work/load}
requests=${LOAD_REQUESTS:-300000}
connections=${LOAD_CONNECTIONS:-6}
pause=${LOAD_PAUSE:-0}

port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
set -- ./memcached -l 127.0.0.1 -p "$port" -U 0 -t 2 -m 64
if [ "$(id -u)" = 0 ]; then
  set -- "$@" -u root # it refuses to run as root otherwise
fi
"$@" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT

# An instrumented server may take a while to start, so this waits until the port answers.
tries=0
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; do
  tries=$((tries + 1))
  if [ "$tries" -ge 100 ] || ! kill -0 "$server" 2>/dev/null; then
    echo "workload.sh: memcached does not answer on port $port" >&2
    exit 1
  fi
  sleep 0.1
done

status=0
"$load" 127.0.0.1 "$port" "$requests" "$connections" "$pause" || status=$?

trap - EXIT
if ! kill -TERM "$server" 2>/dev/null; then
  echo "workload.sh: memcached died under the load" >&2
  status=1
fi
server_status=0
wait "$server" || server_status=$?
# On SIGTERM, memcached exits with status 0, or the signal ends it (128 + 15). Either is in order.
if [ "$server_status" != 0 ] && [ "$server_status" != 143 ]; then
  echo "workload.sh: memcached ended with status $server_status" >&2
  status=1
fi
exit "$status"
