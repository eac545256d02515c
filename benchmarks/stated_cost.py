#!/usr/bin/env python3
"""Compares the cost of recording that a report states with what it really costs: the processor time
of a workload with the plain program and with the recorded one, in turn.

    stated_cost.py PROJECT PLAIN [--rounds 7] [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json whose program is instrumented (`vprof loop`, or `vprof instrument` and
`vprof build`); PLAIN is the same source tree, built without VProfiler. `run` of vprof.json is run
in both. It must do a fixed amount of work, and start the program by a relative path.

Each round is one run of both, so that a change of the machine meets both. The true cost is the
median of what recording adds to the processor time of everything that `run` starts, over the
program's own processor time without that. The stated cost is the median of the reports of the same
runs. Wall times are printed as well, and the throughput if `run` prints it (`throughput = N` or
pgbench's `tps = N`); they mean little where other work is running.
"""
import argparse
import json
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


def timed(command, directory, environment):
    """Processor and wall seconds of a command and its children, and the throughput it prints."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["sh", "-c", command], cwd=directory, env=environment, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    printed = re.findall(r"^(?:throughput|tps) = ([0-9.e+-]+)", done.stdout, flags=re.M)
    return processor, wall, float(printed[-1]) if printed else None


def configuration(project):
    """`run` and `env`. Comments are only expected on lines of their own."""
    text = (project / "vprof.json").read_text()
    config = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    return config["run"], {**os.environ, **config.get("env", {})}


def program_time(report, stated):
    """Seconds that the program, without recording, was on a processor."""
    return report["overhead"]["processor_ns"] * 1e-9 / (1 + stated)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    state = options.project.resolve() / ".vprof"
    command, environment = configuration(options.project)
    added, walls, rates, stated, own = [], [], [], [], []
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
        own.append(program_time(report, stated[-1]))
        added.append(recorded - plain)
        walls.append(recorded_wall / plain_wall)
        if rate and plain_rate:
            rates.append(rate / plain_rate)
        print(f"round {number + 1}: processor time {plain:.2f} s plain, {recorded:.2f} s recorded: "
              f"{added[-1] / own[-1]:+.1%}; stated {stated[-1]:+.1%}; wall {walls[-1]:.3f}x"
              + (f"; throughput {rates[-1]:.3f}x" if rates else ""), flush=True)
    true = statistics.median(added) / statistics.median(own)
    says = statistics.median(stated)
    print(f"recording adds {true:.1%} to the processor time of the program; stated {says:.1%}, "
          f"{says / true:.2f} of that; wall time {statistics.median(walls):.3f}x"
          + (f"; throughput {statistics.median(rates):.3f}x" if rates else ""))


if __name__ == "__main__":
    main()
