#!/usr/bin/env python3
"""Repeats the search of `vprof live` on one running program: do all searches agree, and how long does
each take?

    live_searches.py PROJECT --run COMMAND [--searches 10] [--settle 5] [--fresh]
                     [--keep DIRECTORY] [--vprof build/release/driver/vprof]
                     [--specificity linear,quadratic,cubic]
                     [live's own options, such as --budget 2 or --epoch 5]

PROJECT holds a vprof.json. The program is built once with all call sites in place and off (`vprof
live --build`). COMMAND, for the shell in the built tree, starts the program and its load, and does
not end by itself. Each search is `vprof live --attach --restart`, from attach to answer, without a
build or a restart of the program. After --settle seconds the program is what it is in production.
With --fresh each search has a program of its own: for a load that changes what it works on, so that
after ten minutes it is another load.

With --keep, the report of search N is kept as DIRECTORY/N.txt.

With --specificity there are as many searches with each of these forms (factors.specificity in
vprof.json), in turn, so that what changes on the machine changes for all of them. The dissertation
compares them in section 2.3.2.2. What PROJECT's vprof.json says of it itself is not used.

Prints a line for each search, and whether all name the same first factor.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent


def first_factor(report):
    """The first one that is an answer, or may become one."""
    factor = report["factors"][0]
    return " with ".join(factor["functions"]), factor["share"]


class Program:
    """The program and its load, from `with` to its end."""

    def __init__(self, options, trace):
        self.options, self.trace = options, trace

    def __enter__(self):
        for old in self.trace.glob("*.vpt"):  # of programs that have ended
            old.unlink()
        self.process = subprocess.Popen(
            ["sh", "-c", self.options.run], cwd=self.options.project.resolve() / ".vprof/mirror",
            env={**os.environ, "VPROF_TRACE_DIR": str(self.trace)}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.options.settle)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()

    def check(self):
        if self.process.poll() is not None:
            raise SystemExit(f"the program ended with {self.process.returncode}")


def configuration(options, form):
    """A copy of the project's vprof.json, beside it, with another form of the specificity."""
    text = (options.project / "vprof.json").read_text()
    text, found = re.subn(r'("specificity": *)"[a-z]*"', rf'\g<1>"{form}"', text)
    if not found:
        text, found = re.subn(r'"factors": *\{', rf'\g<0> "specificity": "{form}",', text)
    if not found:
        raise SystemExit(f"{options.project}/vprof.json has no section \"factors\"")
    file = options.project / f"vprof.{form}.json"
    file.write_text(text)
    return file


def search(options, trace, form, more):
    began = time.monotonic()
    file = configuration(options, form) if form else options.project / "vprof.json"
    try:
        done = subprocess.run([options.vprof, "-C", options.project, "--config", file.name, "live",
                               "--attach", trace, "--restart", "--json", *more],
                              capture_output=True, text=True)
    finally:
        if form:
            file.unlink()
    seconds = time.monotonic() - began
    if done.returncode != 0:
        raise SystemExit(f"vprof live ended with {done.returncode}: {done.stderr[-2000:]}")
    return seconds, json.loads(done.stdout)


def keep(options, form):
    options.keep.mkdir(parents=True, exist_ok=True)
    number = len(list(options.keep.glob("*.txt"))) + 1
    with (options.keep / f"{number}{form and '-' + form}.txt").open("w", encoding="utf-8") as out:
        subprocess.run([options.vprof, "-C", options.project, "report"], stdout=out, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--run", required=True)
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--settle", type=float, default=5)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--specificity")
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options, more = parser.parse_known_args()
    trace = options.project.resolve() / ".vprof/live/trace"
    began = time.monotonic()
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    print(f"built, or found built, in {time.monotonic() - began:.0f} s", flush=True)
    forms = options.specificity.split(",") if options.specificity else [""]
    order = [form for number in range(options.searches)
             for form in forms[number % len(forms):] + forms[:number % len(forms)]]
    done = {form: [] for form in forms}
    for part in [[form] for form in order] if options.fresh else [order]:
        with Program(options, trace) as program:
            for form in part:
                done[form].append(one_search(options, trace, form, more))
                program.check()
    for form in forms:
        summarize(form, done[form])


def one_search(options, trace, form, more):
    """Its seconds, its iterations, the most sites that an iteration measured, its first factor."""
    seconds, report = search(options, trace, form, more)
    name, share = first_factor(report)
    if options.keep:
        keep(options, form)
    iterations = report["iterations"]
    sites = max(iteration["sites"] for iteration in iterations)
    print(f"search: {form and form + ', '}{seconds:.0f} s, {len(iterations)} iterations, at most "
          f"{sites} sites, {report['interval']['count']} intervals: {name} {share:.1%}", flush=True)
    return seconds, len(iterations), sites, name


def summarize(form, searches):
    times, iterations, sites, names = zip(*searches)
    name, times_found = collections.Counter(names).most_common(1)[0]
    print(f"{form and form + ': '}{name}: first in {times_found} of {len(searches)}; "
          f"{statistics.median(times):.0f} s from attach to answer (median; at most "
          f"{max(times):.0f}), {statistics.median(iterations):g} iterations, "
          f"{statistics.median(sites):g} sites at most")


if __name__ == "__main__":
    main()
