#!/usr/bin/env bash
# memcached from Debian's source package, from nothing to the report on the variance of its request latency.
#
#   run.sh            fetch, build the load generator, vprof loop --auto (which prints the report)
#   run.sh --fetch    only fetch the source and build the load generator
#   run.sh --test     memcached's own test suite (make test), plain and instrumented, and compare (about 15 minutes)
#
# VPROF names the vprof to use (default: the one built in this tree, else the one on PATH). LOAD_REQUESTS shortens the load.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$here/work
version=1.6.18

say() { printf '\n== %s\n' "$*"; }
die() { printf 'run.sh: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "needs root or sudo for: $*"
  fi
}

install_missing() {
  local missing=()
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}"
}

# Debian's source index, in files of our own: the machine's list of sources is left as it is, whatever its format.
apt_source_options() {
  local apt=$work/apt
  mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/cache/archives/partial"
  # shellcheck disable=SC2016  # apt fills these in
  # The mirrors and suites are those that the machine takes its packages from, security updates included.
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    sort -u | sed 's#^#deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] #' >"$apt/sources.list"
  [ -s "$apt/sources.list" ] || die "no Debian archive among apt's sources (run apt-get update first)"
  apt_options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/parts"
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "APT::Sandbox::User=$(id -un)")
}

fetch_source() {
  [ -e "$work/memcached/configure" ] && return
  install_missing dpkg-dev xz-utils patch
  say "fetching the source package of memcached $version"
  local apt_options=()
  apt_source_options
  apt-get "${apt_options[@]}" update -qq
  # By version: the newest binary's source may be missing from the source index.
  local chosen
  chosen=$(apt-cache "${apt_options[@]}" showsrc memcached | sed -n "s/^Version: \($version-.*\)/\1/p" | sort -V | tail -1)
  [ -n "$chosen" ] || die "Debian's source index has no memcached $version"
  mkdir -p "$work/download"
  (cd "$work/download" && apt-get "${apt_options[@]}" source -qq --download-only "memcached=$chosen")
  rm -rf "$work/unpacking"
  # apt has checked the archive's signature and the files' hashes.
  dpkg-source --no-check -x "$work/download/memcached_${chosen}.dsc" "$work/unpacking" >/dev/null
  # Last, so that an interrupted run starts over.
  mv "$work/unpacking" "$work/memcached"
  echo "memcached $chosen in $work/memcached"
}

build_load() {
  say "building the load generator"
  cc -std=gnu11 -O2 -Wall -Wextra "$here/load.c" -o "$work/load" -pthread -lm
}

find_vprof() {
  if [ -n "${VPROF:-}" ]; then vprof=$VPROF
  elif [ -x "$here/../../build/release/driver/vprof" ]; then vprof=$here/../../build/release/driver/vprof
  else vprof=$(command -v vprof) || die "no vprof: build it (cmake --workflow or scripts/demo.sh) or set VPROF"
  fi
}

# Runs memcached's test suite in directory $1; writes what must be equal in two runs to file $2. The number of subtests is only shown:
# some tests poll, and count each attempt.
run_suite() {
  local status=0
  say "make test in $1 (about 7 minutes)"
  (cd "$1" && make test) >"$2.log" 2>&1 || status=$?
  grep '^Files=' "$2.log" || true
  {
    sed -n 's/^\(Files=[0-9]*\),.*/\1/p; /^Result:/p' "$2.log"
    grep -E '^t/.*(Failed|Wstat)' "$2.log" || true
    echo "exit status $status"
  } >"$2"
}

compare_suites() {
  install_missing perl libio-socket-ssl-perl
  [ -x "$work/plain/memcached-debug" ] || {
    say "building memcached without instrumentation"
    rm -rf "$work/plain"
    cp -a "$work/memcached" "$work/plain"
    (cd "$work/plain" && ./configure && make -j2) >"$work/plain.log" 2>&1 || die "plain build failed, see $work/plain.log"
  }
  [ -x "$here/.vprof/mirror/memcached-debug" ] || die "no instrumented memcached-debug: run run.sh first"
  # A copy, since the suite writes where it runs.
  rm -rf "$work/instrumented"
  cp -a "$here/.vprof/mirror" "$work/instrumented"
  run_suite "$work/plain" "$work/suite-plain"
  # With the shims first on PATH, should make find that something is to be compiled again.
  PATH=$here/.vprof/shims:$PATH run_suite "$work/instrumented" "$work/suite-instrumented"
  say "plain"
  cat "$work/suite-plain"
  say "instrumented"
  cat "$work/suite-instrumented"
  cmp -s "$work/suite-plain" "$work/suite-instrumented" || die "the test suites differ"
  echo "the test suite passes as often as without instrumentation"
}

install_missing gcc libc6-dev make libevent-dev python3
mkdir -p "$work"
fetch_source
build_load
case "${1:-}" in
  --fetch) ;;
  --test) compare_suites ;;
  "")
    find_vprof
    cd "$here"
    say "vprof loop --auto"
    "$vprof" loop --auto
    ;;
  *) die "unknown option $1 (known: --fetch, --test)" ;;
esac
