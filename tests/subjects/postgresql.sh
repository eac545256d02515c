#!/usr/bin/env bash
# PostgreSQL: C; autoconf; longjmp, generated code, inline functions in headers, many processes. Its
# `make check` runs 213 tests against a whole server.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=postgresql-15 version=15.
needs=(bison flex perl libreadline-dev zlib1g-dev libicu-dev)
configure="./configure --without-readline --enable-debug CFLAGS=-O2"
build="make -s -j2"
interval=exec_simple_query
unprivileged=yes

suite() { make -s check; }
verdict() {
  sed -nE -e 's/^(test|ok|not ok)? +([a-z0-9_]+) +\.\.\. +([a-zA-Z]+).*/\2 \3/p' \
    -e '/^(# )?All [0-9]+ tests/p' "$1" | sort
}

run_subject "$@"
