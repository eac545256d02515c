#!/usr/bin/env bash
# Starts the httpd in ./installed, sends it all requests and stops it. The exit status is 0 if no
# request failed and the server shut down in order. With `responses FILE` it asks for each file once
# instead, and in other ways, and writes the responses without their dates to FILE.
#
#   MPM          event (default) or prefork
#   CONNECTIONS  (default 16)
#   REQUESTS     (default 60000)
#   COLD         of 100 requests, how many are for a file that is not in the page cache (default 5)
#   COLD_FILES   files for these (default: one for each). With fewer of them, they are taken out of the
#                cache again every other second, for a load that does not end soon
#   CLOSE        of 100 requests, how many ask to close the connection (default 20)
#   SETTINGS     more lines of httpd.conf, separated by semicolons: "EnableMMAP off; KeepAlive off"
#   RESULT       a file for the summary, which is also printed
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/server-process.sh
. "$here/../server-process.sh"
server_root=$PWD/installed
mpm=${MPM:-event}
connections=${CONNECTIONS:-16}
requests=${REQUESTS:-60000}
cold=${COLD:-5}
close=${CLOSE:-20}
cold_files=${COLD_FILES:-$((requests * cold / 80 + 200))}
work=${WORK:-$here/work}
files=$work/files
case $mpm in
  event | prefork) ;;
  *) echo "workload.sh: MPM=$mpm is neither event nor prefork" >&2; exit 2 ;;
esac

# Only the server is recorded.
unrecorded() { env -u VPROF_TRACE_DIR "$@"; }

port=$(unrecorded python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
url=http://127.0.0.1:$port
state=$(mktemp -d)
server_log=$work/error.log

# The settings of the MPMs are those of Debian's package, except that no child is begun or ended
# during the run, so that short runs are alike.
settings() {
  local module
  for module in "mpm_$mpm" authz_core unixd mime dir log_config; do
    [ ! -e "$server_root/modules/mod_$module.so" ] ||
      echo "LoadModule ${module}_module modules/mod_$module.so"
  done
  cat <<CONF
ServerName localhost
Listen 127.0.0.1:$port
PidFile "$state/httpd.pid"
DefaultRuntimeDir "$state"
Mutex "file:$state" default
ErrorLog "$server_log"
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog "$work/access.log" common
TypesConfig "$server_root/conf/mime.types"
DocumentRoot "$files"
KeepAlive On
MaxKeepAliveRequests 100
KeepAliveTimeout 5
<IfModule mpm_event_module>
  StartServers 2
  ThreadsPerChild 25
  MinSpareThreads 25
  MaxSpareThreads 75
  MaxRequestWorkers 150
</IfModule>
<IfModule mpm_prefork_module>
  StartServers $((connections + 5))
  MinSpareServers 5
  MaxSpareServers $((connections + 10))
  MaxRequestWorkers 150
</IfModule>
CONF
  tr ';' '\n' <<<"${SETTINGS:-}"
}

at_exit_kill TERM "$state"

start() {
  settings >"$state/httpd.conf"
  rm -f "$server_log" "$work/access.log"
  # Each copy with its own apr. In a process group of its own, since prefork's parent ends its group.
  LD_LIBRARY_PATH=$server_root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    setsid "$server_root/bin/httpd" -d "$server_root" -f "$state/httpd.conf" -D FOREGROUND &
  server=$!
  until_it_answers unrecorded curl -sf -o /dev/null "$url/small/0?start"
}

stop() {
  stop_server TERM
  ! grep -E 'exit signal|AH00051|AH00052' "$server_log" >&2 ||
    { echo "workload.sh: a child of the server died" >&2; return 1; }
}

# Makes the files once. Unless COLD_FILES says otherwise, there are more in cold/ than a run can ask
# for.
prepare() {
  if [ "$(find "$files/cold" -type f 2>/dev/null | wc -l)" -lt "$cold_files" ]; then
    rm -rf "$files" "$files.new"
    unrecorded python3 "$here/files.py" make "$files.new" "$cold_files"
    mv "$files.new" "$files"
  fi
  cat "$files"/{small,medium,large}/* >/dev/null
  unrecorded python3 "$here/files.py" evict "$files"
}

load() {
  if [ -n "${COLD_FILES:-}" ]; then
    unrecorded sh -c 'while kill -0 "$3" 2>/dev/null; do python3 "$1" evict "$2"; sleep 2; done' \
      sh "$here/files.py" "$files" "$server" &
  fi
  unrecorded wrk -t 1 -c "$connections" -d 86400s --timeout 20s -s "$here/load.lua" "$url" -- \
    "$requests" "$cold" "$cold_files" "$close" >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }
  sed -n '/^requests = /,$p' "$work/load.log" | tee ${RESULT:+"$RESULT"}
  # shellcheck disable=SC2046  # several
  processor_time "$server" $(pgrep -P "$server")
  grep -q '^requests = .*, failed = 0$' "$work/load.log" ||
    { cat "$work/load.log" >&2; echo "workload.sh: requests failed" >&2; exit 1; }
}

responses() { # file
  {
    get "$url/small/[0-999]" "$url/medium/[0-399]" "$url/large/[0-19]"
    get --http1.0 "$url/small/[0-99]"
    get --head "$url/medium/[0-99]"
    get --range 100-8000 "$url/large/[0-19]"
    get --request DELETE "$url/small/0"
    get "$url/none" "$url/small" "$url/%00"
  } >"$1.new"
  mv "$1.new" "$1"
}

# Without what differs from run to run: the order of methods in Allow is that of a hash table with a
# random seed, and the port is another one.
get() { # option or URL...
  unrecorded curl -sS --include "$@" |
    LC_ALL=C sed -E "/^(Date|Allow): /d; s/(127.0.0.1):$port/\\1/"
}

mkdir -p "$work"
prepare
start
case ${1:-load} in
  load) load ;;
  responses) responses "$2" ;;
  *) echo "workload.sh: unknown argument $1 (known: responses)" >&2; exit 2 ;;
esac
stop
