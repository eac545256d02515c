#!/usr/bin/env bash
# Reports on recordings of PostgreSQL that end badly. Run it by hand, after
# examples/postgresql/run.sh:
#
#   postgresql_faults.sh
#
# The faults: a backend is killed, so that the server ends all others and restarts; a client
# disappears in the middle of a transaction; the server is stopped at once. Each time there must be
# a report, and it must count the transactions that did not end.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
example=$root/examples/postgresql
# shellcheck source=examples/debian-source.sh
. "$root/examples/debian-source.sh"
find_vprof

if [ "$(id -u)" = 0 ]; then
  user=${RUN_AS:-nobody}
  exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
    env HOME="$example/work" "$0" "$@"
fi

[ -x "$example/.vprof/mirror/installed/bin/postgres" ] ||
  die "there is no instrumented server; run $example/run.sh first"
failed=0
for fault in killed_backend gone_client immediate_stop; do
  say "$fault"
  if ! "$vprof" -C "$example" record -- "$example/workload.sh" "$fault" \
    >"$example/work/$fault.log" 2>&1; then
    tail -5 "$example/work/$fault.log"
    failed=$((failed + 1))
    continue
  fi
  "$vprof" -C "$example" analyze --json >"$example/work/$fault.json"
  python3 - "$fault" "$example/work/$fault.json" <<'PY' || failed=$((failed + 1))
import json, sys

fault, path = sys.argv[1:]
report = json.load(open(path))
interval = report["interval"]
print(f'{interval["count"]} completed, {interval["incomplete"]} incomplete,',
      f'{len(report["factors"])} factors;', "; ".join(report["losses"]["notes"]) or "no notes")
problems = []
if interval["count"] < 100:
    problems.append("hardly any transaction completed")
if not report["factors"]:
    problems.append("no factors")
# If a client disappears, the server aborts its transaction, which ends it.
if fault == "gone_client" and interval["incomplete"] != 0:
    problems.append("an aborted transaction counts as incomplete")
if fault != "gone_client" and interval["incomplete"] == 0:
    problems.append("the transactions that did not end are not counted")
if problems:
    sys.exit(f"{fault}: " + ", ".join(problems))
PY
done
echo "$((3 - failed)) passed, $failed failed"
[ "$failed" = 0 ]
