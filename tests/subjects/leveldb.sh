#!/usr/bin/env bash
# LevelDB: C++11; CMake; GoogleTest.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=leveldb version=1.23-
needs=(cmake libgtest-dev libgmock-dev libsnappy-dev libbenchmark-dev)
configure="cmake -S . -B bld -DCMAKE_BUILD_TYPE=Release -DLEVELDB_BUILD_BENCHMARKS=OFF"
build="cmake --build bld -j2"
interval=leveldb::DBImpl::Write

suite() { ctest --test-dir bld --output-on-failure -j2; }
verdict() { verdict_of_ctest "$1"; }

run_subject "$@"
