#!/bin/sh
# Copies complete tables to object storage, `recordings` last: a recording counts only once its row
# there has arrived, so a copy that is cut off counts nothing. Then frees what is older than two days.
#
#   VPROF_TABLES=/var/lib/vprof VPROF_TARGET=remote:bucket/vprof vprof-ship.sh
#
# `remote` is one of rclone's (S3, GCS, Azure, ...). `aws s3 sync SOURCE TARGET --exclude '.vprof-*'
# --exclude '*/.vprof-*'` does the same for S3.
set -eu
: "${VPROF_TABLES:?directory of vprof export --parquet}" "${VPROF_TARGET:?rclone remote:path}"
rclone=${RCLONE:-rclone}

# Of recordings that become complete while this runs, the next call copies all tables.
complete=$(mktemp)
trap 'rm -f "$complete"' EXIT
(cd "$VPROF_TABLES/recordings" && find . -name '*.parquet' ! -path '*/.vprof-*') >"$complete"

for table in places intervals times sums products bins latencies; do
  if [ -d "$VPROF_TABLES/$table" ]; then
    "$rclone" copy --immutable --exclude '.vprof-*/**' "$VPROF_TABLES/$table" "$VPROF_TARGET/$table"
  fi
done
"$rclone" copy --immutable --files-from "$complete" "$VPROF_TABLES/recordings" \
  "$VPROF_TARGET/recordings"
find "$VPROF_TABLES" -name '*.parquet' -mmin +2880 -delete
find "$VPROF_TABLES" -mindepth 2 -type d -empty -delete
