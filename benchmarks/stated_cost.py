#!/usr/bin/env python3
"""Compares the cost of recording that a report states with what it really costs: the processor time
of a workload with the plain program and with the recorded one, in turn.

    stated_cost.py PROJECT PLAIN [--rounds 7] [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json whose program is instrumented (`vprof loop`, or `vprof instrument` and
`vprof build`); PLAIN is the same source tree, built without VProfiler. `run` of vprof.json is run
in both. It must do a fixed amount of work, and start the program by a relative path.

Each round is one run of both, so that a change of the machine meets both; many short rounds tell
more than a few long ones. The true cost of a round is what recording adds to the processor time of
everything that `run` starts, over the program's own processor time without that. All figures are
medians of the rounds, with an interval that contains the true median in 95 of 100 cases (order
statistics). The stated cost is that of the reports of the same runs. Wall times are printed as
well, and the throughput if `run` prints it (`throughput = N` or pgbench's `tps = N`).
"""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


# As the programs in examples/ print it.
RATE = re.compile(r"^(?:throughput|tps|requests per second) = ([0-9.e+-]+)"
                  r"|^ *transactions: .*\(([0-9.]+) per sec"
                  r"|\(([0-9.]+)/s[,)]", re.M)


def timed(command, directory, environment):
    """Processor and wall seconds of a command and its children, and the throughput it prints."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["sh", "-c", command], cwd=directory, env=environment, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    printed = RATE.findall(done.stdout)
    return processor, wall, float("".join(printed[-1])) if printed else None


def configuration(project):
    """`run` and `env`. Comments are only expected on lines of their own."""
    text = (project / "vprof.json").read_text()
    config = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    return config["run"], {**os.environ, **config.get("env", {})}


def program_time(report, stated):
    """Seconds that the program, without recording, was on a processor."""
    return report["overhead"]["processor_ns"] * 1e-9 / (1 + stated)


def interval(values):
    """The values between which the median of their distribution lies in 95 of 100 cases, whatever the
    distribution is: the order statistics whose ranks a fair coin's heads exceed that often. All
    values if there are fewer than six."""
    count, ordered = len(values), sorted(values)
    rank, outside = 0, 0.0
    while True:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 0.05 or 2 * rank + 2 > count:
            break
        rank += 1
    lowest = max(rank - 1, 0)
    return ordered[lowest], ordered[count - 1 - lowest]


def shown(values, form):
    """The median of the rounds and its interval."""
    low, high = interval(values)
    return f"{format(statistics.median(values), form)} ({format(low, form)} to {format(high, form)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    state = options.project.resolve() / ".vprof"
    command, environment = configuration(options.project)
    true, walls, rates, stated = [], [], [], []
    for number in range(options.rounds):
        trace = pathlib.Path(tempfile.mkdtemp(prefix="stated_cost."))
        trace.chmod(0o1777)
        recording = {**environment, "VPROF_TRACE_DIR": str(trace), "VPROF_SITES": ""}
        runs = [("plain", options.plain, environment), ("recorded", state / "mirror", recording)]
        # In turn, each first in every second round: what runs second finds the machine warmer.
        done = {which: timed(command, place, variables)
                for which, place, variables in (runs if number % 2 == 0 else reversed(runs))}
        (plain, plain_wall, plain_rate), (recorded, recorded_wall, rate) = (
            done["plain"], done["recorded"])
        shutil.copy(state / "sites.json", trace)
        analyzed = subprocess.run([options.vprof, "-C", options.project, "analyze", trace, "--json"],
                                  check=True, capture_output=True, text=True)
        shutil.rmtree(trace)
        report = json.loads(analyzed.stdout)
        stated.append(report["overhead"]["added"])
        true.append((recorded - plain) / program_time(report, stated[-1]))
        walls.append(recorded_wall / plain_wall)
        if rate and plain_rate:
            rates.append(rate / plain_rate)
        print(f"round {number + 1}: processor time {plain:.2f} s plain, {recorded:.2f} s recorded: "
              f"{true[-1]:+.1%}; stated {stated[-1]:+.1%}; wall {walls[-1]:.3f}x"
              + (f"; throughput {rates[-1]:.3f}x" if rates else ""), flush=True)
    says = statistics.median(stated) / statistics.median(true)
    print(f"recording adds {shown(true, '+.1%')} to the processor time of the program; stated "
          f"{shown(stated, '+.1%')}, {says:.2f} of that; wall time {shown(walls, '.3f')}x"
          + (f"; throughput {shown(rates, '.3f')}x" if rates else ""))


if __name__ == "__main__":
    main()
