#!/usr/bin/env python3
"""Repeats the search of `vprof live` on one running program: do all searches agree, and how long does
each take?

    live_searches.py PROJECT --run COMMAND [--searches 10] [--settle 5] [--vprof build/release/driver/vprof]
                     [live's own options, such as --budget 2 or --epoch 5]

PROJECT holds a vprof.json. The program is built once with all call sites in place and off (`vprof
live --build`). COMMAND, for the shell in the built tree, starts the program and its load, and does
not end by itself. Each search is `vprof live --attach --restart`, from attach to answer, without a
build or a restart of the program. After --settle seconds the program is what it is in production.

Prints a line for each search, and whether all name the same first factor.
"""
import argparse
import collections
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent


def first_factor(report):
    """The first one that is an answer, or may become one."""
    factor = report["factors"][0]
    return " with ".join(factor["functions"]), factor["share"]


def search(options, trace, more):
    began = time.monotonic()
    done = subprocess.run([options.vprof, "-C", options.project, "live", "--attach", trace, "--restart",
                           "--json", *more], capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise SystemExit(f"vprof live ended with {done.returncode}: {done.stderr[-2000:]}")
    return seconds, json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--run", required=True)
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--settle", type=float, default=5)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options, more = parser.parse_known_args()
    live = options.project.resolve() / ".vprof/live"
    began = time.monotonic()
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    print(f"built, or found built, in {time.monotonic() - began:.0f} s", flush=True)
    for old in (live / "trace").glob("*.vpt"):  # of programs that have ended
        old.unlink()
    program = subprocess.Popen(["sh", "-c", options.run], cwd=options.project.resolve() / ".vprof/mirror",
                               env={**os.environ, "VPROF_TRACE_DIR": str(live / "trace")},
                               start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found, times = collections.Counter(), []
    try:
        time.sleep(options.settle)
        for number in range(options.searches):
            seconds, report = search(options, live / "trace", more)
            name, share = first_factor(report)
            found[name] += 1
            times.append(seconds)
            print(f"search {number + 1}: {seconds:.0f} s, {len(report['iterations'])} iterations, "
                  f"{report['interval']['count']} intervals: {name} {share:.1%}", flush=True)
            if program.poll() is not None:
                raise SystemExit(f"the program ended with {program.returncode}")
    finally:
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGTERM)
            program.wait()
    name, times_found = found.most_common(1)[0]
    print(f"{name}: first in {times_found} of {options.searches}; {statistics.median(times):.0f} s from "
          f"attach to answer (median; at most {max(times):.0f})")


if __name__ == "__main__":
    main()
