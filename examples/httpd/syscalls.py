#!/usr/bin/env python3
"""What vprof says of system calls, by another means: the kernel's own tracepoints (perf record), on
the server without instrumentation. Needs root, perf, and plain.sh first.

    syscalls.py     runs the workload, with the environment variables of workload.sh. Prints for
                    each system call of the server how often it was made, how long that took, and
                    the part of the variance: the number of calls times the variance of one call
"""
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import overhead_study  # noqa: E402  (it is in the directory above)
from overhead import STUDY  # noqa: E402

# Without read: the parent and the listener wait in it for the end of the run.
CALLS = ("mmap", "munmap", "openat", "sendfile64", "write", "writev")
# "httpd  4711 17109.131447123: syscalls:sys_enter_writev: "
LINE = re.compile(r"^ *httpd +(\d+) +(\d+\.\d+): +syscalls:sys_(enter|exit)_(\w+)")


def record(data):
    events = [f"syscalls:sys_{side}_{call}" for call in CALLS for side in ("enter", "exit")]
    workload = overhead_study.as_user(STUDY, [str(HERE / "workload.sh")])
    environment = {k: v for k, v in os.environ.items() if k != "VPROF_TRACE_DIR"}
    subprocess.run(["perf", "record", "-q", "-a", "-m", "16M", "-o", data, "-e", ",".join(events),
                    *workload], cwd=STUDY.work / "plain", env=environment, check=True)


def durations(data):
    """In microseconds, by system call. What perf lost leaves calls without a beginning or an end;
    those are left out."""
    took = collections.defaultdict(list)
    begun = {}
    script = subprocess.Popen(["perf", "script", "-i", data, "--ns", "-F", "comm,tid,time,event"],
                              stdout=subprocess.PIPE, text=True)
    for line in script.stdout:
        found = LINE.match(line)
        if not found:
            continue
        thread, time, side, call = found.groups()
        if side == "enter":
            begun[thread] = (call, float(time))
        else:
            entered, since = begun.pop(thread, (None, 0))
            if entered == call:
                took[call].append((float(time) - since) * 1e6)
    if script.wait() != 0:
        sys.exit("syscalls.py: perf script failed")
    return took


def main():
    data = STUDY.work / "syscalls.data"
    record(data)
    took = durations(data)
    sums = {call: statistics.pvariance(times) * len(times) for call, times in took.items()}
    print(f"{'call':<12}{'number':>8}{'mean':>12}{'stddev':>12}{'max':>12}{'variance':>11}")
    for call in sorted(sums, key=sums.get, reverse=True):
        times = took[call]
        print(f"{call:<12}{len(times):>8}{statistics.fmean(times):>9.1f} us"
              f"{statistics.pstdev(times):>9.1f} us{max(times):>9.0f} us"
              f"{100 * sums[call] / sum(sums.values()):>9.1f} %")
    data.unlink()


if __name__ == "__main__":
    main()
