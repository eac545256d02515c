#!/usr/bin/env bash
# cpp-httplib: C++11, a single header of 8,800 lines with templates, lambdas and a pool of threads;
# Meson; GoogleTest.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=cpp-httplib version=0.11.
needs=(apache2-utils meson ninja-build pkg-config openssl libssl-dev zlib1g-dev libbrotli-dev libgtest-dev)
configure="meson setup bld -Dbuildtype=debugoptimized -Db_lto=false -Dcpp-httplib_test=true"
build="ninja -C bld"
interval=httplib::Server::process_request

# They wait one millisecond for a server to listen, and for ever if it did not.
prepare() { sed -i 's/milliseconds(1))/milliseconds(200))/' test/test.cc; }

# Left out: as Debian does, what needs the Internet; what ends only if all its clients were connected
# within two seconds; and a server that must notice within 5 KiB that its client has gone.
suite() {
  cd bld/test
  ./main --gtest_filter='-*_Online:*.ClientStop:ClientProblemDetectionTest.*'
}
# One line per test, without its time.
verdict() { sed -nE 's/^\[ +(OK|FAILED) +\] ([^ ,]+).*/\2 \1/p' "$1" | LC_ALL=C sort -u; }

# Every hundredth response takes 3 ms.
cause=planted_pause
loop_configure=true
loop_build="c++ -std=c++11 -O2 -g -I. -o simplesvr example/simplesvr.cc -pthread"
loop_run='mkdir -p site && seq 1000 > site/index.txt && { ./simplesvr 17010 site > log & server=$!; sleep 1; ab -q -c 4 -n 10000 http://127.0.0.1:17010/index.txt; status=$?; kill -TERM $server; wait $server; exit $status; }'
plant() { plant_pause httplib.h '^inline bool Server::write_response_core[(]' '[{]$'; }

run_subject "$@"
