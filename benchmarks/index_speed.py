#!/usr/bin/env python3
"""Compares the time to index a program from scratch with that of Clang to parse the same units.

    index_speed.py PROJECT [--units 300] [--rounds 3] [--again]
                   [--instrumenter build/release/instrumenter/vprof-instrument]

`vprof index` must have indexed PROJECT, whose .vprof/ is read but not changed. Each round runs both
on the same units, evenly spread, on all cores, and prints wall and processor seconds. The last line
has the medians of the ratios.

With --again, Clang is left out: PROJECT is indexed once without one of the units, and then, in each
round, with it, which is what one changed file costs. Prints the peak of memory of the first index,
too.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def timed(work):
    """Wall and processor seconds of `work` and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, processor


def parse_only(unit):
    """Runs `clang -fsyntax-only` as a user would: without GCC's own options, without warnings."""
    given = unit["arguments"]
    output = given[given.index("-o") + 1] if "-o" in given else None
    left_out = ("-W", "-fexcess-precision", "-o")
    arguments = [a for a in given[1:] if not a.startswith(left_out) and a not in ("-c", output)]
    compiler = "clang++-19" if unit["file"].endswith(("cc", "cpp", "cxx")) else "clang-19"
    return subprocess.run([compiler, "-fsyntax-only", "-w", *arguments], cwd=unit["directory"],
                          stderr=subprocess.DEVNULL, check=False).returncode


def again(options, units, database, index_in, scratch):
    """Prints what it costs to index one more unit than before."""
    before = scratch / "before"
    before.mkdir()
    database.write_text(json.dumps(units[1:]))
    first = timed(lambda: index_in(before))
    print(f"{len(units) - 1} units: {first[0]:.1f} s, {first[1]:.1f} s of processor time, "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MB", flush=True)
    database.write_text(json.dumps(units))
    costs = []
    for number in range(options.rounds):
        cache = shutil.copytree(before, scratch / str(number))
        costs.append(timed(lambda: index_in(cache)))
    wall, processor = (statistics.median(cost[i] for cost in costs) for i in (0, 1))
    print(f"one more: {wall:.1f} s, {processor:.1f} s of processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--units", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--instrumenter",
                        default=HERE.parent / "build/release/instrumenter/vprof-instrument")
    options = parser.parse_args()
    state = options.project.resolve() / ".vprof"
    units = json.loads((state / "compile_commands.json").read_text())
    units = units[::max(1, len(units) // options.units)]
    ratios = []
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch, "compile_commands.json")
        database.write_text(json.dumps(units))

        def index_in(cache):
            subprocess.run([options.instrumenter, "index", "--compile-commands", database,
                            "--mirror", state / "mirror", "--pristine", state / "pristine",
                            "--cache", cache, "--out", f"{cache}/index.json"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def index():
            with tempfile.TemporaryDirectory() as cache:
                index_in(cache)

        if options.again:
            return again(options, units, database, index_in, pathlib.Path(scratch))

        def syntax():
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                failed = sum(code != 0 for code in pool.map(parse_only, units))
            if failed:
                print(f"  clang rejected {failed} of {len(units)} units")

        for _ in range(options.rounds):
            floor, ours = timed(syntax), timed(index)
            ratios.append((ours[0] / floor[0], ours[1] / floor[1]))
            print(f"clang -fsyntax-only {floor[0]:.1f} s ({floor[1]:.1f} s of processor time), "
                  f"index {ours[0]:.1f} s ({ours[1]:.1f} s)", flush=True)
    wall, processor = (statistics.median(r[i] for r in ratios) for i in (0, 1))
    print(f"{len(units)} units: {wall:.2f}x the wall time of clang -fsyntax-only, "
          f"{processor:.2f}x its processor time")


main()
