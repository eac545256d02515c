# For the workload scripts of servers to source. $server is the process, $server_log its output
# (default: $work/server.log). Defines:
#
#   until_it_answers COMMAND...   waits until the command succeeds; ends the script if the server
#                                 ends before, or does not answer for a minute
#   stop_server SIGNAL            ends it, and fails unless it ends with status 0
#   at_exit_kill SIGNAL FILE...   whatever happens, no server and none of these files is left
#   processor_time PID...         prints the processor time of these processes and of their children
#                                 that have ended
# shellcheck shell=bash disable=SC2154  # the workload sets work

server=

until_it_answers() {
  local tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 600 ] || ! kill -0 "$server" 2>/dev/null; then
      tail -5 "${server_log:-$work/server.log}" >&2 || true
      echo "workload.sh: the server does not answer" >&2
      exit 1
    fi
    sleep 0.1
  done
}

stop_server() {
  kill -"$1" "$server" 2>/dev/null ||
    { echo "workload.sh: the server died under the load" >&2; return 1; }
  local status=0
  wait "$server" || status=$?
  server=
  [ "$status" = 0 ] ||
    { echo "workload.sh: the server ended with status $status" >&2; return 1; }
}

kill_server() {
  [ -z "$server" ] || kill -"$1" "$server" 2>/dev/null || true
  rm -rf "${@:2}"
}

at_exit_kill() {
  # shellcheck disable=SC2064  # the names of now
  trap "kill_server $(printf '%q ' "$@")" EXIT
  # At a terminal, Ctrl-C reaches the server as well. vprof waits for both.
  trap 'exit 130' INT TERM
}

# Fields 14 to 17 of /proc/PID/stat, in ticks.
processor_time() {
  local pid
  for pid in "$@"; do sed 's/.*) //' "/proc/$pid/stat"; done |
    awk -v ticks="$(getconf CLK_TCK)" '{ sum += $12 + $13 + $14 + $15 }
      END { printf "processor time of the server = %.2f s\n", sum / ticks }'
}
