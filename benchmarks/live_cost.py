#!/usr/bin/env python3
"""What a search of `vprof live` costs the program that it searches: second by second against the
budget, and from outside against the same program in between, with all sites off. With --watch, what
the flight recorder costs.

    live_cost.py PROJECT --run COMMAND --count COMMAND [--minutes 10] [--budget 2] [--window 20]
                 [--watch SECONDS] [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json. The program is built once with all call sites in place and off. COMMAND
of --run, for the shell in the built tree, starts the program and its load, and does not end by
itself. That of --count prints how many requests have been served so far. Searches (`vprof live
--attach --restart`) follow one another, each after a window of --window seconds without any, until
they have taken --minutes together. With --watch, `vprof watch --attach --slower-than p99.9` takes
their place, for so many seconds each, after it has begun.

Each second of a search: what recording cost in the slices that it recorded, as the search says it
(`slices`, docs/trace-format.md), and with that the part of the machine that vprof took, as the
kernel says it. From outside: processor time per request, and requests a second, during a search or
a watch to those in the windows before and after it. Where the program leaves no processor idle, a
request must take longer by what recording is said to add and by what vprof says at its end that it
took itself; the last line says by how many percentage points it is more.

served.sh counts the requests of steady/, examples/memcached and examples/postgresql.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from stated_cost import HERE, shown


def second_by_second(slices, times):
    """What recording added between each of these moments and the next one (s of CLOCK_MONOTONIC)."""
    costs, before = [0.0] * (len(times) - 1), 0
    for since, _, _, until, cost in slices:
        since, before = max(since, before), until
        for i, (begin, end) in enumerate(zip(times, times[1:])):
            both = max(0, min(until / 1e9, end) - max(since / 1e9, begin))
            costs[i] += cost * both / (end - begin)
    return costs


def processor_s(process):
    """Processor time of a process so far, with that of threads that have ended."""
    return time.clock_gettime(~process << 3 | 2)  # clock_getcpuclockid(3)


def follow(vprof):
    """Until vprof ends: (when, its processor time so far), s, each second."""
    looks = [(time.monotonic(), processor_s(vprof.pid))]
    while True:
        try:
            vprof.wait(max(0, looks[-1][0] + 1 - time.monotonic()))
            return looks
        except subprocess.TimeoutExpired:
            looks.append((time.monotonic(), processor_s(vprof.pid)))


class Program:
    def __init__(self, options):
        self.trace = options.project.resolve() / ".vprof/live/trace"
        self.count = options.count
        for old in [*self.trace.glob("*.vpt"), self.trace / "slices"]:
            old.unlink(missing_ok=True)
        self.directory = options.project.resolve() / ".vprof/mirror"
        self.process = subprocess.Popen(["sh", "-c", options.run], cwd=self.directory,
                                        env={**os.environ, "VPROF_TRACE_DIR": str(self.trace)},
                                        start_new_session=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def requests(self):
        done = subprocess.run(["sh", "-c", self.count], cwd=self.directory, check=True,
                              capture_output=True, text=True)
        return float(done.stdout.split()[0])

    def armed(self):
        """The processes that map the control file, and are not vprof, in /proc."""
        control = str(self.trace / "frontier")
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                maps = (process / "maps").read_text()
                if control in maps and "libvprof.so" in maps:
                    yield process
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue

    def busy(self):
        """Processor seconds of the armed processes."""
        seconds = 0.0
        for process in self.armed():
            for task in process.glob("task/*/schedstat"):
                try:
                    seconds += int(task.read_text().split()[0]) / 1e9
                except (FileNotFoundError, ProcessLookupError):
                    continue
        return seconds

    def slices(self):
        """Of all searches: when recording had begun, from, to, until, in ns, and its cost."""
        try:
            lines = (self.trace / "slices").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [(*map(int, words), float(cost))
                for *words, cost, _ in (line.split() for line in lines)]

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


class Window:
    """Requests and processor time of a stretch of the run."""

    def __init__(self, program):
        self.program = program

    def __enter__(self):
        self.requests, self.busy = self.program.requests(), self.program.busy()
        self.begin = time.monotonic()
        return self

    def __exit__(self, *_):
        self.requests = self.program.requests() - self.requests
        self.busy = self.program.busy() - self.busy
        self.end = time.monotonic()
        self.rate = self.requests / (self.end - self.begin)
        self.each = self.busy / max(1, self.requests)


class Vprof:
    """`vprof live` or `vprof watch` on a program that runs."""

    def __init__(self, options, program):
        self.options, self.program = options, program
        self.verb = "live" if options.watch is None else "watch"
        self.beyond, self.stated, self.recording, self.all = [], [], [], []

    def start(self, messages):
        how = ["--restart"] if self.verb == "live" else ["--slower-than", "p99.9"]
        return subprocess.Popen([self.options.vprof, "-C", self.options.project, self.verb, *how,
                                 "--attach", self.program.trace, "--json", "--budget",
                                 str(self.options.budget)],
                                stdout=subprocess.DEVNULL, stderr=messages, text=True)

    def search(self):
        with Window(self.program) as window, tempfile.TemporaryFile("w+") as printed:
            process = self.start(printed)
            self.looks = follow(process)
            printed.seek(0)
            return process, window, printed.read()

    def watch(self):
        process = self.start(subprocess.PIPE)
        messages = ""
        while not messages.endswith("/kept\n"):  # the census
            messages = process.stderr.readline() or sys.exit("vprof watch has ended")
        with Window(self.program) as window:
            time.sleep(self.options.watch)
        process.terminate()  # SIGINT is ignored where a shell runs this in the background
        return process, window, process.communicate()[1]

    def run(self):
        """A search or a watch from its beginning to its end: its window, and the part of the machine
        that vprof says it took."""
        process, window, messages = self.search() if self.verb == "live" else self.watch()
        if process.returncode != 0:
            sys.exit(f"vprof {self.verb} ended with {process.returncode}: {messages[-2000:]}")
        own = re.search(r"vprof itself took ([0-9.]+) s of processor time a second", messages)
        return window, float(own[1]) / os.cpu_count()

    def account(self, own, rate):
        """The seconds of the last search, in a line."""
        adds = second_by_second(self.program.slices(), [when for when, _ in self.looks])
        took = [after - before for (_, before), (_, after) in zip(self.looks, self.looks[1:])]
        self.recording += adds
        self.all += [one + other / os.cpu_count() for one, other in zip(adds, took)]
        self.stated.append(statistics.mean(adds))
        self.beyond.append(1 / rate - (1 + self.stated[-1]) / (1 - own))
        return (f"; {len(adds)} s, recording adds {self.stated[-1]:.2%}, so a request takes "
                f"{self.beyond[-1]:+.2%} more than stated; so far {self.within()}")

    def within(self):
        limit = self.options.budget / 100
        recording, everything = (sum(cost <= limit for cost in costs) / len(costs)
                                 for costs in (self.recording, self.all))
        return (f"{recording:.1%} of {len(self.all)} seconds within {limit:.1%}, {everything:.1%} "
                f"with vprof itself")

    def summary(self):
        error = statistics.stdev(self.beyond) / len(self.beyond) ** 0.5 if self.beyond[1:] else 0
        return (f"; {self.within()}; recording adds {shown(self.stated, '.2%')}; a request takes "
                f"{shown(self.beyond, '+.2%')} more than stated, {statistics.mean(self.beyond):+.2%} "
                f"+- {error:.2%} on average (standard error)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--run", required=True)
    parser.add_argument("--count", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--budget", type=float, default=2)
    parser.add_argument("--window", type=float, default=20)
    parser.add_argument("--settle", type=float, default=10)
    parser.add_argument("--watch", type=float, metavar="SECONDS")
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    program = Program(options)
    vprof = Vprof(options, program)
    each, rates, own, passed = [], [], [], 0.0
    try:
        time.sleep(options.settle)
        with Window(program) as before:
            time.sleep(options.window)
        while passed < options.minutes * 60:
            window, took = vprof.run()
            passed += window.end - window.begin
            with Window(program) as after:
                time.sleep(options.window)
            own.append(took)
            each.append(window.each / statistics.mean([before.each, after.each]) - 1)
            rates.append(window.rate / statistics.mean([before.rate, after.rate]))
            print(f"{vprof.verb} {len(own)}: from outside, processor time {each[-1]:+.2%}, throughput "
                  f"{rates[-1]:.3f}x; vprof itself {took:.2%} of the machine"
                  + (vprof.account(took, rates[-1]) if vprof.verb == "live" else ""), flush=True)
            before = after
    finally:
        program.stop()
    print(f"from outside, processor time {shown(each, '+.2%')}, throughput {shown(rates, '.3f')}x; "
          f"vprof itself {shown(own, '.2%')} of the machine"
          + (vprof.summary() if vprof.verb == "live" else ""))


if __name__ == "__main__":
    main()
