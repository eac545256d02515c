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
(`slices`, docs/trace-format.md), and with it the part of the machine that the kernel says vprof took.
On average over the search, vprof's own work takes what vprof says at its end. From outside: processor time per request, and requests a second, during a search or a watch to those
in the windows before and after it. Where the program leaves no processor idle, the time per request
must grow by what recording is said to add and by what vprof itself takes; the last line says by how
many percentage points it grows more.

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


def start_vprof(options, verb, program, messages):
    return subprocess.Popen([options.vprof, "-C", options.project, *verb, "--attach", program.trace,
                             "--json", "--budget", str(options.budget)],
                            stdout=subprocess.DEVNULL, stderr=messages, text=True)


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
    verb = ["live", "--restart"] if options.watch is None else ["watch", "--slower-than", "p99.9"]
    true, rates, stated, own, searched = [], [], [], [], 0.0
    recording, both = [], []  # what each second cost, without and with vprof itself

    def within(costs):
        return sum(cost <= options.budget / 100 for cost in costs) / len(costs)

    try:
        time.sleep(options.settle)
        with Window(program) as before:
            time.sleep(options.window)
        while searched < options.minutes * 60:
            messages = ""
            if options.watch is None:
                with Window(program) as search, tempfile.TemporaryFile("w+") as printed:
                    vprof = start_vprof(options, verb, program, printed)
                    looks = follow(vprof)
                    printed.seek(0)
                    messages = printed.read()
            else:
                vprof = start_vprof(options, verb, program, subprocess.PIPE)
                while not messages.endswith("/kept\n"):  # the census
                    messages = vprof.stderr.readline() or sys.exit("vprof watch has ended")
                with Window(program) as search:
                    time.sleep(options.watch)
                vprof.terminate()  # SIGINT is ignored where a shell runs this in the background
                messages = vprof.communicate()[1]
            if vprof.returncode != 0:
                raise SystemExit(f"vprof {verb[0]} ended with {vprof.returncode}: {messages[-2000:]}")
            searched += search.end - search.begin
            own_s = re.search(r"vprof itself took ([0-9.]+) s of processor time a second", messages)
            own.append(float(own_s[1]) / os.cpu_count())
            with Window(program) as after:
                time.sleep(options.window)
            true.append(search.each / statistics.mean([before.each, after.each]) - 1)
            rates.append(search.rate / statistics.mean([before.rate, after.rate]))
            if options.watch is not None:
                print(f"watch {len(true)}: {true[-1]:+.2%} from outside, throughput {rates[-1]:.3f}x; "
                      f"vprof itself {own[-1]:.2%} of the machine", flush=True)
                before = after
                continue
            seconds = second_by_second(program.slices(), [when for when, _ in looks])
            recording += seconds
            both += [adds + (after - before) / os.cpu_count()
                     for adds, (_, before), (_, after) in zip(seconds, looks, looks[1:])]
            stated.append(statistics.mean(seconds))
            print(f"search {len(true)}: {len(seconds)} s, adds {stated[-1]:.2%}, and vprof itself takes "
                  f"{own[-1]:.2%} of the machine; {true[-1]:+.2%} from outside, throughput "
                  f"{rates[-1]:.3f}x; so far {within(recording):.1%} of {len(both)} seconds within "
                  f"{options.budget:.1f} %, {within(both):.1%} with vprof itself", flush=True)
            before = after
    finally:
        program.stop()
    if options.watch is not None:
        print(f"from outside {shown(true, '+.2%')}, throughput {shown(rates, '.3f')}x; vprof itself "
              f"{shown(own, '.2%')} of the machine")
        return
    beyond = [1 / rate - (1 + adds) / (1 - takes) for rate, adds, takes in zip(rates, stated, own)]
    print(f"time per request grows by more than stated: {statistics.mean(beyond):+.2%} +- "
          f"{statistics.stdev(beyond) / len(beyond) ** 0.5:.2%} (mean and standard error), "
          f"{shown(beyond, '+.2%')}" if len(beyond) > 1 else "")
    print(f"within the budget of {options.budget:.1f} %: {within(recording):.1%} of {len(both)} seconds, "
          f"{within(both):.1%} with vprof itself; adds "
          f"{shown(stated, '.2%')}, vprof itself {shown(own, '.2%')} of the machine, from outside "
          f"{shown(true, '+.2%')}, throughput {shown(rates, '.3f')}x")


if __name__ == "__main__":
    main()
