#!/usr/bin/env bash
# C++14 with templates, lambdas and exceptions throughout; CMake; its tests throw, catch, fork and run event loops.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=capnproto version=0.9.
needs=(cmake libssl-dev zlib1g-dev)
configure="cmake -S c++ -B bld -DCMAKE_BUILD_TYPE=Release"
build="cmake --build bld -j2"
interval=kj::EventLoop::turn

suite() { ctest --test-dir bld --output-on-failure; }
verdict() { sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*(Passed|Failed|Not Run|Timeout).*/\1 \2/p; s/^\[ +(PASS|FAIL|OK) +\] ([^(]*).*/\2 \1/p' "$1" | sort; }

run_subject "$@"
