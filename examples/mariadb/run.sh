#!/usr/bin/env bash
# Profiles MariaDB, from Debian's source package: from nothing to a report on the variance of its
# transactions' latency.
#
#   run.sh            fetches the source and runs `vprof loop --auto`, which prints the report
#   run.sh --restart  the same, but starts a new search: after a change of WORKLOAD, for example
#   run.sh --live     the same by `vprof live`: one build, and the search while the server runs
#   run.sh --fetch    only fetches the source
#
# workload.sh lists WORKLOAD and the other settings. VPROF names the vprof to use (default: the one
# built in this tree, else the one on PATH). All files are in work/ and .vprof/.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
version=1:10.11

# shellcheck source=examples/debian-source.sh
. "$here/../debian-source.sh"

install_missing gcc g++ libc6-dev cmake ninja-build bison perl libncurses-dev libssl-dev \
  libpcre2-dev libfmt-dev zlib1g-dev libaio-dev python3 sysbench
mkdir -p "$work"
fetch_debian_source mariadb "$version" "$work/mariadb"
case "${1:-}" in
  --fetch) ;;
  "" | --restart)
    find_vprof
    cd "$here"
    say "vprof loop --auto $*"
    "$vprof" loop --auto "$@"
    ;;
  --live)
    find_vprof
    cd "$here"
    say "vprof live --restart"
    TRANSACTIONS=${TRANSACTIONS:-1000000} "$vprof" live --restart
    ;;
  *) die "unknown option $1 (known: --fetch, --restart, --live)" ;;
esac
