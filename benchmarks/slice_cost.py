#!/usr/bin/env python3
"""What recording in slices costs memcached, from outside, beside what `vprof live` or, with --watch,
`vprof watch` states.

    slice_cost.py [--runs 10] [--watch SECONDS] [--budget 2] [--settle 20]
                  [--vprof build/release/driver/vprof]

Needs `examples/memcached/run.sh --fetch`. Searches, or watches of so many seconds, follow one another
while memcached serves its load. Every few milliseconds this program asks memcached how many requests
it has served, the kernel how much processor time its threads have had, and the control file whether
recording is on (docs/trace-format.md). Slices and pauses take turns every few seconds or faster, so
that slow changes of the machine are the same in both. What vprof itself takes from the program is in
the pauses, too, and so not in the difference; live_cost.py compares with windows without vprof.

For each run: how much more processor time a request takes in slices than in the pauses beside them,
with a 95 % confidence interval (bootstrap over slices), and what vprof states; then both as a part of
all the time, which is what the budget is about.
"""
import argparse
import itertools
import json
import mmap
import random
import socket
import statistics
import subprocess
import tempfile
import time

from live_cost import Program
from stated_cost import HERE

PAUSE = 0.003  # s between two samples
ROUNDS = 2000  # of the bootstrap
HEARTBEAT = 24  # offset in the control file; its lowest bit: recording


class Observer:
    """Counters of the armed memcached, and whether it is being recorded."""

    def __init__(self, program):
        process = next(iter(program.armed()))
        words = (process / "cmdline").read_text().split("\0")
        self.threads = list(process.glob("task/*/schedstat"))
        self.socket = socket.create_connection(("127.0.0.1", int(words[words.index("-p") + 1])))
        with (program.trace / "frontier").open("rb") as file:
            self.control = mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ)

    def requests(self):
        self.socket.sendall(b"stats\r\n")
        answer = b""
        while not answer.endswith(b"END\r\n"):
            answer += self.socket.recv(1 << 16)
        words = [line.split() for line in answer.decode().splitlines()]
        return sum(int(word[2]) for word in words
                   if word[1:2] in (["cmd_get"], ["cmd_set"], ["cmd_touch"]))

    def sample(self):
        """(s, requests, processor ns, recording)"""
        busy = sum(int(thread.read_text().split()[0]) for thread in self.threads)
        return time.monotonic(), self.requests(), busy, self.control[HEARTBEAT] & 1


def stretches(samples):
    """(recording, s, requests, processor ns) of each slice and pause, from its first to its last sample."""
    result = []
    for recording, group in itertools.groupby(samples, key=lambda sample: sample[3]):
        first, *rest = group
        last = rest[-1] if rest else first
        result.append((recording, *(after - before for before, after in zip(first[:3], last[:3]))))
    return result


def pairs(samples):
    """Of each slice: (requests, ns) in it, and in the pauses before and after it."""
    found = stretches(samples)
    result = []
    for before, now, after in zip(found, found[1:], found[2:]):
        paused = (before[2] + after[2], before[3] + after[3])
        if now[0] and now[2] > 0 and paused[0] > 0:
            result.append((now[2:], paused))
    return result


def added(chosen):
    """How much more processor time a request takes in slices than in pauses."""
    requests, busy, paused_requests, paused_busy = (
        sum(pair[part][of] for pair in chosen) for part in (0, 1) for of in (0, 1))
    return busy / requests / (paused_busy / paused_requests) - 1


def run_vprof(options, program, observer):
    """The samples of one search or watch, and its report."""
    verb = ["live", "--restart"] if options.watch is None else ["watch", "--slower-than", "p99.9"]
    printed = tempfile.TemporaryFile("w+")  # a pipe that nobody reads would hold vprof up
    vprof = subprocess.Popen([options.vprof, "-C", options.project, *verb, "--attach",
                              program.trace, "--json", "--budget", str(options.budget)],
                             stdout=printed, stderr=subprocess.DEVNULL)
    samples = [observer.sample()]
    ends = None if options.watch is None else samples[0][0] + options.watch
    while vprof.poll() is None:
        time.sleep(PAUSE)
        samples.append(observer.sample())
        if ends is not None and samples[-1][0] > ends:
            vprof.terminate()
            break
    vprof.wait()
    printed.seek(0)
    return samples, json.load(printed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--watch", type=float, metavar="SECONDS")
    parser.add_argument("--budget", type=float, default=2)
    parser.add_argument("--settle", type=float, default=20)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    options.project = HERE.parent / "examples/memcached"
    options.run, options.count = "LOAD_REQUESTS=2000000000 exec ../../workload.sh", "true"
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    program = Program(options)
    differences = []
    try:
        time.sleep(options.settle)
        observer = Observer(program)
        for number in range(1, options.runs + 1):
            samples, report = run_vprof(options, program, observer)
            slices = pairs(samples)
            recorded = sum(stretch[1] for stretch in stretches(samples) if stretch[0])
            part = recorded / (samples[-1][0] - samples[0][0])
            outside = added(slices)
            tries = sorted(added(random.choices(slices, k=len(slices))) for _ in range(ROUNDS))
            low, high = tries[int(0.025 * ROUNDS)], tries[int(0.975 * ROUNDS)]
            stated = report["overhead"]["added"]
            differences.append(part * (outside - stated))
            print(f"{number}: {len(slices)} slices, recording {part:.1%} of the time; while it is on it adds "
                  f"{outside:+.1%} ({low:+.1%} to {high:+.1%}), stated {stated:.1%} (factor "
                  f"{report['overhead']['cost_factor']:.1f}); to all the time {part * outside:+.2%} "
                  f"({part * low:+.2%} to {part * high:+.2%}), stated {part * stated:.2%}", flush=True)
    finally:
        program.stop()
    print(f"from outside less what is stated, of all the time: {statistics.median(differences):+.2%} "
          f"({min(differences):+.2%} to {max(differences):+.2%})")


if __name__ == "__main__":
    main()
