#!/usr/bin/env python3
"""What a search of `vprof live` costs the program that it searches: second by second against the
budget, and from outside against the same program in between, with all sites off.

    live_cost.py PROJECT --run COMMAND --count COMMAND [--minutes 10] [--budget 2] [--window 20]
                 [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json. The program is built once with all call sites in place and off. COMMAND
of --run, for the shell in the built tree, starts the program and its load, and does not end by
itself. That of --count prints how many requests have been served so far. Searches (`vprof live
--attach --restart`) follow one another, each after a window of --window seconds without any, until
they have taken --minutes together.

Each second of a search: the slots that all processes wrote, times what the report says that one
costs, over the processor time of these processes. From outside: processor time per request during a
search, to that in the windows before and after it.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import struct
import subprocess
import threading
import time

from stated_cost import HERE, shown

USED, SLOT_BYTES = 64, 16  # offset of `used` in the header of a trace file (trace_format.h)


class Program:
    def __init__(self, options):
        self.trace = options.project.resolve() / ".vprof/live/trace"
        self.count = options.count
        self.directory = options.project.resolve() / ".vprof/mirror"
        self.process = subprocess.Popen(["sh", "-c", options.run], cwd=self.directory,
                                        env={**os.environ, "VPROF_TRACE_DIR": str(self.trace)},
                                        start_new_session=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def requests(self):
        done = subprocess.run(["sh", "-c", self.count], cwd=self.directory, check=True,
                              capture_output=True, text=True)
        return float(done.stdout.split()[0])

    def written(self):
        """Slots in the traces, and processor seconds of the processes that write them."""
        slots, seconds = 0, 0.0
        for file in self.trace.glob("*.vpt"):
            try:
                with open(file, "rb") as opened:
                    slots += struct.unpack("<Q", opened.read(USED + 8)[USED:])[0] / SLOT_BYTES
                for task in pathlib.Path("/proc", file.name.split("-")[0], "task").glob("*/schedstat"):
                    seconds += int(task.read_text().split()[0]) / 1e9
            except (FileNotFoundError, ProcessLookupError, struct.error):
                continue
        return slots, seconds

    def stop(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


class Window:
    """Requests and processor time of a stretch of the run, and the slots of each of its seconds."""

    def __init__(self, program):
        self.program, self.seconds = program, []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        before = self.program.written()
        while not self.over.wait(1):
            now = self.program.written()
            self.seconds.append((now[0] - before[0], now[1] - before[1]))
            before = now

    def __enter__(self):
        self.requests, self.began = self.program.requests(), self.program.written()[1]
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.requests = self.program.requests() - self.requests
        self.each = (self.program.written()[1] - self.began) / max(1, self.requests)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--run", required=True)
    parser.add_argument("--count", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--budget", type=float, default=2)
    parser.add_argument("--window", type=float, default=20)
    parser.add_argument("--settle", type=float, default=10)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    program = Program(options)
    costs, true, stated, searched = [], [], [], 0.0
    try:
        time.sleep(options.settle)
        with Window(program) as before:
            time.sleep(options.window)
        while searched < options.minutes * 60:
            began = time.monotonic()
            with Window(program) as search:
                done = subprocess.run([options.vprof, "-C", options.project, "live", "--attach",
                                       program.trace, "--restart", "--json", "--budget",
                                       str(options.budget)], capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"vprof live ended with {done.returncode}: {done.stderr[-2000:]}")
            searched += time.monotonic() - began
            with Window(program) as after:
                time.sleep(options.window)
            overhead = json.loads(done.stdout)["overhead"]
            each = overhead["added"] * overhead["processor_ns"] / max(1, overhead["records"]) / 1e9
            costs += [slots * each / busy for slots, busy in search.seconds if busy > 0]
            true.append(search.each / statistics.mean([before.each, after.each]) - 1)
            stated.append(statistics.mean([slots * each / busy for slots, busy in search.seconds
                                           if busy > 0]))
            within = sum(cost <= options.budget / 100 for cost in costs) / len(costs)
            print(f"search {len(true)}: {len(search.seconds)} s, adds {stated[-1]:.2%} by its records, "
                  f"{true[-1]:+.2%} from outside; so far {within:.1%} of {len(costs)} seconds within "
                  f"{options.budget:.1f} %", flush=True)
            before = after
    finally:
        program.stop()
    print(f"within the budget of {options.budget:.1f} %: {within:.1%} of {len(costs)} seconds; adds "
          f"{shown(stated, '.2%')}, from outside {shown(true, '+.2%')}")


if __name__ == "__main__":
    main()
