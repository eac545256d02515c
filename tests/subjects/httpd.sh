#!/usr/bin/env bash
# Apache httpd, apr and apr-util in one build, each with a configure of its own. C; autoconf and
# libtool; modules loaded at run time; processes and threads. The tests are `make check` of apr and
# apr-util, and httpd serving requests across graceful restarts.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=apache2 version=2.4.
needs=(libpcre2-dev libexpat1-dev libssl-dev zlib1g-dev curl)
configure="./prepared/configure"
build="./prepared/build"
interval=ap_process_request
unprivileged=yes

# httpd and apr-util need an installed apr, so the parts are built and installed one after the other,
# apr first.
prepare() {
  local part
  for part in apr:1.7 apr-util:1.6; do
    fetch_debian_source "${part%:*}" "${part#*:}" "$root/build/subjects/${part/:/-}"
    cp -a "$root/build/subjects/${part/:/-}" "srclib/${part%:*}"
  done
  mkdir prepared
  cat >prepared/configure <<'SH'
#!/bin/sh
installed=$PWD/installed
cd srclib/apr && exec ./configure --prefix="$installed"
SH
  cat >prepared/build <<'SH'
#!/bin/sh
set -e
installed=$PWD/installed
build() { # directory option...
  cd "$1"
  shift
  [ -e config.status ] || ./configure --prefix="$installed" "$@"
  make -s -j2
  make -s install
}
(build srclib/apr)
(build srclib/apr-util --with-apr="$installed")
# Debian's rules define these macros as well.
build . CPPFLAGS="-DPLATFORM='\"Debian\"' -DBUILD_DATETIME='\"2026-01-01\"'" \
  --with-apr="$installed" --with-apr-util="$installed" \
  --enable-mods-shared=most --enable-mpms-shared=all --with-mpm=event
SH
  chmod +x prepared/*
}

suite() {
  local server=$PWD/installed address=127.0.0.1:8642 round
  # By default, Debian's httpd has its configuration and its PID file elsewhere.
  control() {
    "$server/bin/httpd" -d "$server" -f conf/httpd.conf -c "PidFile $server/logs/httpd.pid" -k "$1"
  }
  requests() { # name path option...
    "$server/bin/ab" -q -n 4000 -c 8 "${@:3}" "http://$address/$2" |
      sed -n "s/^\(Complete\|Failed\|Non-2xx\)/ab $1: \1/p"
  }
  rm -f "$server"/logs/*
  make -C srclib/apr check
  make -C srclib/apr-util check
  sed -i "s/^Listen .*/Listen $address/" "$server/conf/httpd.conf"
  control start
  for round in 1 2; do
    for ((try = 0; try < 100; ++try)); do
      curl -s -o /dev/null "http://$address/" && break
      sleep 0.1
    done
    requests "page $round" ""
    requests "kept alive $round" "" -k
    requests "not there $round" none -k
    curl -s "http://$address/" | sed 's/^/page: /'
    control graceful
    sleep 1
  done
  control stop
  for ((try = 0; try < 100; ++try)); do
    [ -e "$server/logs/httpd.pid" ] || break
    sleep 0.1
  done
  grep -c 'resuming normal operations' "$server/logs/error_log" | sed 's/^/starts: /'
  grep -oE 'exit signal [A-Za-z ]+' "$server/logs/error_log" || echo "no exit by a signal"
}
verdict() {
  sed -nE -e 's/^(test[a-z0-9_]+) +: .*(SUCCESS|FAILED.*|SKIPPED.*)/\1 \2/p' \
    -e '/^All tests passed/p; /^(ab [a-z ]+[12]:|page:|starts:|no exit|exit signal)/p' "$1"
}

run_subject "$@"
