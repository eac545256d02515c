#!/usr/bin/env bash
# PostgreSQL from Debian's source package, from nothing to the report on the variance of its transactions' latency.
#
#   run.sh            fetch, configure, instrument, build, initdb, load, vprof loop --auto (which prints the report)
#   run.sh --restart  the same, the search begins anew: for another run or another WORKLOAD
#   run.sh --fetch    only fetch the source
#   run.sh --test     make check of the server as the last loop has left it, and of a plain one, and compare (about 15 minutes)
#
# WORKLOAD=tpcb (default) or tpcc chooses the load; workload.sh tells what else can be set. VPROF names the vprof to use
# (default: the one built in this tree, else the one on PATH). PostgreSQL does not run as root: run by root, all but the
# installation of packages is done as RUN_AS (default: nobody). All files are kept in work/ and .vprof/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
version=15.

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

# Goes on as somebody else if this is root; what was made so far becomes theirs.
leave_root() {
  local user=${RUN_AS:-nobody}
  [ "$(id -u)" = 0 ] || return 0
  id "$user" >/dev/null 2>&1 || die "there is no user $user; set RUN_AS"
  setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups test -x "$here" ||
    die "user $user may not enter $here: put the tree elsewhere, or run this as an ordinary user"
  mkdir -p "$here/.vprof"
  chown -R "$user:$(id -g "$user")" "$work" "$here/.vprof"
  say "going on as $user"
  exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env HOME="$work" "$here/run.sh" "$@"
}

install_missing gcc libc6-dev make bison flex perl python3 util-linux procps
mkdir -p "$work"
fetch_debian_source postgresql-15 "$version" "$work/postgresql"
[ "${1:-}" != --fetch ] || exit 0
leave_root "$@"
case "${1:-}" in
  --test) exec "$here/regress.sh" ;;
  "" | --restart)
    find_vprof
    cd "$here"
    say "vprof loop --auto $*"
    "$vprof" loop --auto "$@"
    ;;
  *) die "unknown option $1 (known: --fetch, --restart, --test)" ;;
esac
