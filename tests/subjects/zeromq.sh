#!/usr/bin/env bash
# ZeroMQ: C++98 with templates, compiled twice, as a shared and a static library; CMake. Its tests
# are 90 small programs with sockets, threads that serve them, and processes that fork.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=zeromq3 version=4.3.4-
needs=(cmake)
configure="cmake -S . -B bld -DCMAKE_BUILD_TYPE=Release"
build="cmake --build bld -j2"
interval=zmq::socket_base_t::recv

# Left out: test_filter_ipc, which sends while the other side may already have closed the connection
# and then fails, without instrumentation in 7 of 8 runs on 2 busy cores. Some others sleep 300 ms
# and expect an answer, which needs an idle machine; what failed runs once more.
suite() {
  ctest --test-dir bld --output-on-failure -E '^test_filter_ipc$' ||
    { echo "once more:"; ctest --test-dir bld --output-on-failure --rerun-failed; }
}
verdict() { verdict_of_ctest "$1"; }

# Every hundredth reply takes 3 ms.
catalogue=zeromq cause=planted_pause
plant() { plant_pause src/rep.cpp '^int zmq::rep_t::xsend [(]' '^[{]$'; }

run_subject "$@"
