#!/usr/bin/env bash
# C++14 with templates, lambdas and exceptions throughout; CMake; its tests throw, catch, fork and run event loops.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=capnproto version=0.9.
needs=(cmake libssl-dev zlib1g-dev)
configure="cmake -S . -B bld -DCMAKE_BUILD_TYPE=Release"
build="cmake --build bld -j2"
interval=kj::EventLoop::turn

suite() { ctest --test-dir bld -V; }
# Each test of its own framework, without the colours and the time that it took.
verdict() {
  sed -E 's/\x1b\[[0-9;]*m//g' "$1" |
    sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*(Passed|Failed|Not Run|Timeout).*/\1 \2/p; s/^[0-9]+: \[ +(PASS|FAIL) +\] (.*[^ ]) +\([0-9].*/\2 \1/p' | sort
}

run_subject "$@"
