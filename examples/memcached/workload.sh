#!/usr/bin/env bash
# Starts the memcached in the current directory on a free port, sends it all requests and stops it.
# LOAD_REQUESTS, LOAD_CONNECTIONS and LOAD_PAUSE (microseconds after each request of a connection)
# change the load. The exit status is 0 if no request failed and the server shut down in order.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/server-process.sh
. "$here/../server-process.sh"
work=${WORK:-$here/work}
requests=${LOAD_REQUESTS:-300000}
connections=${LOAD_CONNECTIONS:-6}
pause=${LOAD_PAUSE:-0}

port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
as_root=()
if [ "$(id -u)" = 0 ]; then as_root=(-u root); fi # it refuses to run as root otherwise
at_exit_kill TERM
./memcached -l 127.0.0.1 -p "$port" -U 0 -t 2 -m 64 "${as_root[@]}" >"$work/server.log" 2>&1 &
server=$!
until_it_answers python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)"
"$work/load" 127.0.0.1 "$port" "$requests" "$connections" "$pause"
processor_time "$server"
stop_server TERM
