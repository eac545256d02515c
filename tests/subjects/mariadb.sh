#!/usr/bin/env bash
# MariaDB: C and C++; CMake; a generated parser of 20,000 lines, templates, fibers that switch stacks,
# threads and thread pools, plugins. Its tests are those of the server and of InnoDB, 1,500 in all.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=mariadb version=1:10.11
needs=(libc6-dev cmake ninja-build bison perl libncurses-dev libssl-dev libpcre2-dev libfmt-dev
  zlib1g-dev libaio-dev)
configure="$root/examples/mariadb/build.sh configure bld -DPLUGIN_SEQUENCE=STATIC"
build="ninja -C bld -j2"
interval=do_command
# Some of the tests do nothing as root.
unprivileged=yes

# The build compares the preprocessed text of public headers with a stored one, to notice if the
# interface for plugins changes. What is instrumented differs there, as it should.
prepare() { sed -i 's/SET(RUN_ABI_CHECK 1)/SET(RUN_ABI_CHECK 0)/' cmake/abi_check.cmake; }

# Tests that fail, or do not always pass, without instrumentation, too.
export left_out=$root/tests/subjects/mariadb.left-out

suite() { # options of mysql-test-run.pl
  cd bld/mysql-test
  ./mtr --parallel=4 --force --max-test-fail=0 --retry=0 --testcase-timeout=30 --suite-timeout=600 \
    --mem --skip-test-list="$left_out" "${@:---suite=main,innodb}"
}
# One line per test and combination of options, without its time and worker. A worker that starts
# says so in the middle of another one's line.
verdict() {
  sed -zE 's/worker\[[0-9]+\] Using MTR_BUILD_THREAD [0-9]+, with reserved ports [0-9.]+\n//g' "$1" |
    sed -nE "s/^([a-z_]+\.[^ ]+( '[^']*')?) +(w[0-9]+ )?\[ ([a-z-]+) \].*/\1 \4/p" | sort -u
}

run_subject "$@"
