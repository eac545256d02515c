#!/usr/bin/env bash
# Poco: C++14 and bundled C libraries; CMake, 625 units in five shared libraries, tests and
# samples. Threads, events through templates, plug-ins that are loaded.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=poco version=1.11.
needs=(cmake libssl-dev apache2-utils)
# Foundation, Net, Util, XML and JSON.
off="ENCODINGS MONGODB REDIS DATA DATA_SQLITE DATA_ODBC DATA_MYSQL DATA_POSTGRESQL NETSSL CRYPTO JWT \
ZIP PAGECOMPILER PAGECOMPILER_FILE2PAGE ACTIVERECORD ACTIVERECORD_COMPILER APACHECONNECTOR"
# Without optimisation it builds in two thirds of the time.
configure="cmake -S . -B bld -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DENABLE_TESTS=ON"
for component in $off; do configure+=" -DENABLE_$component=OFF"; done
build="cmake --build bld -j2"
interval=Poco::Net::TCPServerConnection::start

# No function can call this operator, and Clang 19 refuses it.
prepare() { sed -i '/this->_pTarget  *= delegate._pTarget;/d' Foundation/include/Poco/PriorityDelegate.h; }

# Of Foundation, XML and JSON. Debian leaves out those of Net and Util, which need a network.
suite() { ctest --test-dir bld --verbose; }
# One line per case. The framework is its own.
verdict() { sed -nE 's/^[0-9]+: (test[A-Za-z0-9_]+): *(.*)/\1 \2/p; s/^[0-9]+: (Runs: .*|OK .*)/\1/p' "$1"; verdict_of_ctest "$1"; }

# Every hundredth response takes 3 ms.
catalogue=poco cause=planted_pause
# Without optimisation and the other libraries, as above.
loop_configure="export CCACHE_BASEDIR=\$PWD; $configure"
loop_build="export CCACHE_BASEDIR=\$PWD; cmake --build bld -j2 --target HTTPTimeServer"
plant() { plant_pause Net/src/HTTPServerResponseImpl.cpp '^std::ostream& HTTPServerResponseImpl::send[(]' '^[{]$'; }

run_subject "$@"
