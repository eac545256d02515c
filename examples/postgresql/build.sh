#!/bin/sh
# Builds what the workloads need of the PostgreSQL in the current directory, and installs it into
# ./installed.
set -eu

# As in the top-level Makefile, the generated headers come first: the backend's directories need
# them, but do not say so.
make -s -C src/backend generated-headers
for part in backend timezone include backend/utils/mb/conversion_procs backend/snowball \
  interfaces/libpq pl/plpgsql/src bin/initdb bin/pg_ctl bin/psql bin/pgbench; do
  make -s -j2 -C "src/$part" all
  make -s -C "src/$part" install
done
