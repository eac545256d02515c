#!/usr/bin/env bash
# Profiles PostgreSQL, from Debian's source package: from nothing to a report on the variance of its
# transactions' latency.
#
#   run.sh            fetches the source and runs `vprof loop --auto`, which prints the report
#   run.sh --restart  the same, but starts a new search: after a change of WORKLOAD, for example
#   run.sh --fetch    only fetches the source
#   run.sh --test     runs `make check` on a plain server and on the one that the last loop left,
#                     and compares the results; about 15 minutes
#
# WORKLOAD is tpcb (default) or tpcc; workload.sh lists the other settings. VPROF names the vprof to
# use (default: the one built in this tree, else the one on PATH). PostgreSQL does not run as root:
# if root starts this script, it installs packages as root and does the rest as RUN_AS (default:
# nobody). All files are in work/ and .vprof/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
version=15.

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

install_missing gcc libc6-dev make bison flex perl python3 util-linux procps
mkdir -p "$work"
fetch_debian_source postgresql-15 "$version" "$work/postgresql"
[ "${1:-}" != --fetch ] || exit 0
leave_root "$here/run.sh" "$@"
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
