#!/usr/bin/env bash
# Profiles Apache httpd with apr and apr-util, from Debian's source packages: from nothing to a
# report on the variance of its requests' latency.
#
#   run.sh            fetches the sources and runs `vprof loop --auto`, which prints the report
#   run.sh --restart  the same, but starts a new search: after a change of MPM, for example
#   run.sh --fetch    only fetches the sources
#   run.sh --test     sends requests to a plain server and to the one that the last loop left, and
#                     compares all responses; a minute, and some more for the plain build
#
# MPM is event (default) or prefork; workload.sh lists the other settings. VPROF names the vprof to
# use (default: the one built in this tree, else the one on PATH). If root starts this script, it
# installs packages as root and does the rest as RUN_AS (default: nobody), since httpd would
# otherwise change its user. All files are in work/ and .vprof/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

# httpd's configure builds apr and apr-util as well if they are in srclib.
put_together() {
  [ -d "$work/httpd" ] && return
  rm -rf "$work/httpd.new"
  cp -a "$work/apache2" "$work/httpd.new"
  cp -a "$work/apr" "$work/apr-util" "$work/httpd.new/srclib/"
  mv "$work/httpd.new" "$work/httpd"
}

install_missing gcc libc6-dev make libpcre2-dev libexpat1-dev python3 perl util-linux procps wrk curl
mkdir -p "$work"
fetch_debian_source apache2 2.4. "$work/apache2"
fetch_debian_source apr 1.7. "$work/apr"
fetch_debian_source apr-util 1.6. "$work/apr-util"
put_together
[ "${1:-}" != --fetch ] || exit 0
leave_root "$here/run.sh" "$@"
case "${1:-}" in
  --test) exec "$here/compare.sh" ;;
  "" | --restart)
    find_vprof
    cd "$here"
    say "vprof loop --auto $*"
    "$vprof" loop --auto "$@"
    ;;
  *) die "unknown option $1 (known: --fetch, --restart, --test)" ;;
esac
