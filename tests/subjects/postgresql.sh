#!/usr/bin/env bash
# C; autoconf; longjmp, generated code, header inlines, many processes. make check: 213 tests of a whole server.
. "$(dirname "${BASH_SOURCE[0]}")/subject.sh"

package=postgresql-15 version=15.
needs=(bison flex perl libreadline-dev zlib1g-dev libicu-dev)
configure="./configure --without-readline --enable-debug CFLAGS=-O2"
build="make -s -j2"
interval=exec_simple_query
unprivileged=yes

suite() { make -s check; }
verdict() { sed -nE 's/^(test|ok|not ok)? +([a-z0-9_]+) +\.\.\. +([a-zA-Z]+).*/\2 \3/p; /^(# )?All [0-9]+ tests/p' "$1" | sort; }

run_subject "$@"
