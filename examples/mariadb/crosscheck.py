#!/usr/bin/env python3
"""Compares a recording with what MariaDB itself says of the same run: the status variables and
information_schema of InnoDB, and performance_schema.

    crosscheck.py           records the workload with both, and prints the table. Needs run.sh first
    crosscheck.py compare   prints the table of the last such run

The environment variables are those of workload.sh. It calls this with `watch` and `watch end`
(WATCH), which ask the server beside the load and after it. VPROF names the vprof to use.
"""
import collections
import os
import pathlib
import shlex
import sqlite3
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
WORK = HERE / "work"
VPROF = os.environ.get("VPROF", "vprof")
SAMPLES, TOTALS, DATABASE = WORK / "crosscheck.samples", WORK / "crosscheck.totals", WORK / "crosscheck.sqlite"
# INNODB_TRX and the tables beside it are at most 0.1 s old.
PERIOD_S = 0.1
WAITS = """
SELECT w.requesting_trx_id, l.lock_table, b.trx_state, ifnull(b.trx_query, '')
FROM information_schema.innodb_lock_waits w
JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id
JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id;
SELECT 'sample';
"""
STATUS = ("Innodb_row_lock_waits", "Innodb_row_lock_time", "Com_begin")
EVENTS = """
SELECT event_name, count_star, sum_timer_wait FROM performance_schema.events_waits_summary_global_by_event_name
WHERE event_name LIKE 'wait/synch/%/innodb/%' AND count_star > 0 ORDER BY sum_timer_wait DESC LIMIT 5;
SELECT concat(event_name, ', ', kind), number, total FROM (
  SELECT event_name, 'read' AS kind, count_read AS number, sum_timer_read AS total
    FROM performance_schema.file_summary_by_event_name
  UNION ALL SELECT event_name, 'write', count_write, sum_timer_write FROM performance_schema.file_summary_by_event_name
  UNION ALL SELECT event_name, 'sync', count_misc, sum_timer_misc FROM performance_schema.file_summary_by_event_name
) AS files WHERE number > 0 AND event_name LIKE '%innodb%' ORDER BY total DESC;
"""


def client(**options):
    return subprocess.Popen(shlex.split(os.environ["MARIADB"]) + ["--batch", "--skip-column-names", "--unbuffered"],
                            stdin=subprocess.PIPE, text=True, **options)


def watch():
    with SAMPLES.open("w", encoding="utf-8") as out:
        asking = client(stdout=out)
        try:
            while True:
                asking.stdin.write(WAITS)
                asking.stdin.flush()
                time.sleep(PERIOD_S)
        except (BrokenPipeError, KeyboardInterrupt):
            pass


def watch_end():
    names = ", ".join(f"'{name}'" for name in STATUS)
    out, _ = client(stdout=subprocess.PIPE).communicate(f"SHOW GLOBAL STATUS WHERE variable_name IN ({names});{EVENTS}")
    TOTALS.write_text(out, encoding="utf-8")


def record():
    env = {**os.environ, "WATCH": f"{HERE}/crosscheck.py watch",
           "SETTINGS": os.environ.get("SETTINGS", "") + " performance-schema=ON "
           "performance-schema-instrument=wait/synch/mutex/innodb/buf_pool_mutex=ON "
           "performance-schema-consumer-events-waits-current=ON"}
    for command in ([VPROF, "record"], [VPROF, "analyze"], [VPROF, "export", "--sqlite", str(DATABASE)]):
        subprocess.run(command, cwd=HERE, env=env, check=True, stdout=subprocess.DEVNULL)


def totals():
    lines = [line.split("\t") for line in TOTALS.read_text(encoding="utf-8").splitlines()]
    return ({line[0]: int(line[1]) for line in lines if len(line) == 2}, [line for line in lines if len(line) == 3])


def outermost(place, function):
    """True for a wait in `function` that a transaction waited itself: not one of another thread, below a wait as blame."""
    steps = place.split(" > ")
    waits = [step for step in steps if step.startswith("wait(")]
    return waits[:1] == [f"wait({function})"] and steps[-1] == waits[0]


def compare():
    status, events = totals()
    database = sqlite3.connect(DATABASE)
    count, = database.execute("SELECT count(*) FROM intervals").fetchone()

    def sum_of(function):
        places = [place for place, path in database.execute("SELECT place, path FROM places WHERE function = ?",
                                                            (f"wait({function})",)) if outermost(path, function)]
        found = [database.execute("SELECT count(*), coalesce(sum(ns), 0) FROM times WHERE place = ?", (place,)).fetchone()
                 for place in places]
        return sum(n for n, _ in found), sum(ns for _, ns in found) / 1e9

    print(f"{'':38}{'VProfiler':>14}{'MariaDB':>14}")
    print(f"{'transactions':38}{count:14,}{status['Com_begin']:14,}")
    waits, seconds = sum_of("lock_wait")
    print(f"{'row locks: waits':38}{waits:14,}{status['Innodb_row_lock_waits']:14,}")
    print(f"{'row locks: waited in all, s':38}{seconds:14.2f}{status['Innodb_row_lock_time'] / 1e3:14.2f}")
    print("\nperformance_schema, of all threads")
    for name, number, picoseconds in events:
        print(f"{name:54}{int(number):12,} {int(picoseconds) / 1e12:10.2f} s")
    samples = [line.split("\t") for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    waiting = [line for line in samples if len(line) == 4]
    print(f"\n{sum(line == ['sample'] for line in samples)} looks at INNODB_LOCK_WAITS, {len(waiting)} waits")
    for title, column in (("for a row of", lambda line: line[1]),
                          ("and the holder", lambda line: "is between two statements" if line[3] in ("", "NULL") else
                           "waits for a lock itself" if line[2] == "LOCK WAIT" else f"executes {line[3].split()[0]}")):
        for value, number in collections.Counter(map(column, waiting)).most_common(5):
            print(f"  {title} {value}: {number} ({100 * number / len(waiting):.0f} %)")


def main():
    command = sys.argv[1:]
    if command == ["watch"]:
        watch()
    elif command == ["watch", "end"]:
        watch_end()
    elif command == ["compare"]:
        compare()
    elif not command:
        record()
        compare()
    else:
        sys.exit(f"crosscheck.py: unknown arguments {' '.join(command)} (see the beginning of the file)")


main()
