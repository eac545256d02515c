# Sourced by regress.sh and overhead.sh, after debian-source.sh and with `here` and `work` set.
#
#   build_plain     work/plain: the server without instrumentation, built as the other one; nothing if it is there
# shellcheck shell=bash disable=SC2154

build_plain() {
  [ -e "$work/plain.built" ] && return
  say "building PostgreSQL without instrumentation"
  rm -rf "$work/plain"
  cp -a "$work/postgresql" "$work/plain"
  (cd "$work/plain" &&
    ./configure -q --without-readline --without-zlib --prefix="$PWD/installed" CFLAGS=-O2 && "$here/build.sh") \
    >"$work/plain.log" 2>&1 || die "the plain build failed: $work/plain.log"
  touch "$work/plain.built"
}
