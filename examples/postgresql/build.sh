#!/bin/sh
# Builds the PostgreSQL of the current directory, as far as the workloads need it, and installs it into ./installed.
set -eu

# First, as the Makefile at the top does it: the directories of the backend do not wait for them.
make -s -C src/backend generated-headers
for part in backend timezone include backend/utils/mb/conversion_procs backend/snowball interfaces/libpq pl/plpgsql/src \
  bin/initdb bin/pg_ctl bin/psql bin/pgbench; do
  make -s -j2 -C "src/$part" all
  make -s -C "src/$part" install
done
