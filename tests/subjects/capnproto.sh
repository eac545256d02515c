#!/usr/bin/env bash
# Cap'n Proto: C++14 with templates, lambdas and exceptions throughout; CMake. Its tests throw,
# catch, fork and run event loops.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=capnproto version=0.9.
needs=(cmake libssl-dev zlib1g-dev)
configure="cmake -S . -B bld -DCMAKE_BUILD_TYPE=Release"
build="cmake --build bld -j2"
interval=kj::EventLoop::turn

# Its CMake files register no test with ctest. The last program generates random schemas, seeded
# with the time. AsyncIo/AncillaryMessageHandler has failed in the plain program on a busy machine:
# it does not wait for its message.
suite() {
  local test
  for test in kj/kj-tests kj/kj-heavy-tests capnp/capnp-tests capnp/capnp-heavy-tests \
    capnp/capnp-evolution-tests; do
    "bld/src/$test" && echo "$test: passed"
  done
}
# One line per test, without colours and times. The framework is its own.
verdict() {
  sed -E 's/\x1b\[[0-9;]*m//g' "$1" |
    sed -nE 's/^\[ +(PASS|FAIL) +\] (.*[^ ]) +\([0-9].*/\2 \1/p; /: passed$/p' | LC_ALL=C sort
}

run_subject "$@"
