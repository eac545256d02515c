#!/usr/bin/env python3
"""What a program costs that is watched within a budget, as more call sites are measured, compared
with the program without VProfiler.

    watch_cost.py PROJECT PLAIN --root FUNCTION [--children 10,50,100,500] [--rounds 11] [--budget 2]
                  [--sets FILE] [--vprof build/release/driver/vprof]

PROJECT holds a vprof.json and has been built by `vprof live --build`; PLAIN is the same source tree,
built without VProfiler. `run` of vprof.json is run in both. It must do a fixed amount of work, and
prints the throughput (stated_cost.py), and the processor time of the server as
examples/server-process.sh does.

The call sites are those on the requests' path, breadth first from FUNCTION, as a search meets them.
Watches with a budget of 20 % break down one level after the other until enough call sites are
executed. For each of --children, others then choose, in this order, from the functions that have
call sites of their own; instead of the calls of a small one, the entries of all that it may lead to
are measured, whoever calls them. A function with which many more would be executed is left out.
FILE keeps what was found, for the next time. Then each round runs `vprof watch --expand` once for
each number of call sites, each of them first in turn, and the plain program before and after each
of them. What is compared is the whole run with the mean of these two: with all call sites in place,
the recording of a part of the time, and vprof's reading.

The last lines are medians of the rounds, with an interval that contains the true median in 95 of 100
cases: `executed` is how many call sites were executed while vprof recorded, `records` how often they
and waits were recorded per request, and `counted` the part of the time whose requests were counted.
"""
import argparse
import bisect
import collections
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess

from stated_cost import HERE, RATE, configuration, shown

PROCESSOR = re.compile(r"^processor time of the server = ([0-9.]+)", re.M)
PART = re.compile(r"counted the intervals of ([0-9.e-]+) % of it")
REFUSED = re.compile(r'--expand: function "(.+)" \(.*cannot be instrumented')
OWN = re.compile(r"vprof itself took ([0-9.]+) s of processor time a second")


class Run:
    """What one run of the workload has printed."""

    def __init__(self, printed):
        self.rate = float("".join(RATE.findall(printed)[-1]))
        self.processor = float(PROCESSOR.findall(printed)[-1])


def plain_run(options):
    command, environment = configuration(options.project)
    done = subprocess.run(["sh", "-c", command], cwd=options.plain, env=environment, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return Run(done.stdout)


def watch(options, functions, budget):
    """A run of the workload that is watched: what it and vprof have printed, and the report. What
    cannot be instrumented is taken out of `functions`."""
    done = subprocess.run([options.vprof, "-C", options.project, "watch", "--slower-than", "p99.9",
                           "--expand", *functions, "--budget", str(budget), "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    refused = REFUSED.search(done.stderr)
    if refused:
        functions.remove(refused[1])
        return watch(options, functions, budget)
    if done.returncode != 0:
        raise SystemExit(f"vprof watch: {done.stderr[-2000:]}")
    log = (options.project / ".vprof/live/run.log").read_text()
    return Run(log), done.stderr, json.loads(done.stdout)


def executed_calls(report):
    """(function that makes the call, place, callee) of all executed calls, breadth first."""
    calls, waiting = {}, collections.deque([(report["tree"], "")])
    while waiting:
        node, caller = waiting.popleft()
        if node["kind"] == "function" and node["key"]:
            calls[caller, node["site"], node["key"]] = None
        around = node["key"] or caller
        waiting.extend((child, around) for child in node["children"])
    return list(calls)


def name_of(key):
    """As an option takes it: a pointer or a macro has no place."""
    return key.removesuffix("@")


def break_down(options):
    """Functions in the order in which to break them down, until enough call sites are executed."""
    expanded, more, tried = [], [options.root], set()
    while more:
        expanded += more
        tried.update(more)
        calls = executed_calls(watch(options, expanded, 20)[2])
        sites = json.loads((options.project / ".vprof/sites.json").read_text())
        expandable = [f for f in sites["functions"] if f["expandable"]]
        if expanded == [options.root]:
            expanded = [f["key"] for f in expandable if f["name"] == options.root]
            tried.update(expanded)
        keys = {f["key"] for f in expandable}
        met = dict.fromkeys(name_of(key) for _, _, key in calls if key in keys)
        enough = len(calls) >= max(options.children)
        more = [] if enough else [name for name in met if name not in tried]
        print(f"{len(expanded)} functions broken down: {len(calls)} call sites are executed",
              flush=True)
    return with_calls(options, expanded)


def with_calls(options, functions):
    """Those of the functions that have call sites of their own in the armed program."""
    armed = json.loads((options.project / ".vprof/live/sites.json").read_text())
    callers = {site["parent"] for site in armed["sites"] if site["kind"] == "call"}
    keys = {f["key"] for f in armed["functions"] if f["id"] in callers}
    return [name for name in functions if name in keys]


MOST_AT_ONCE = 32  # functions that are added at once, so that few watches tell how many are needed
MORE_IS_FINE = 1.6  # times the call sites that are asked for


def set_of(count, functions, executed):
    """As few of the functions as execute `count` call sites, without those that execute many more."""
    chosen = []
    while functions:
        some = functions[:MOST_AT_ONCE]
        few = bisect.bisect_left(range(1, len(some) + 1), count,
                                 key=lambda number: executed(*chosen, *some[:number]))
        enough = [*chosen, *some[:few + 1]]
        if few < len(some) and executed(*enough) <= MORE_IS_FINE * count:
            return enough
        chosen += some[:few]
        functions = functions[few + 1:] if few < len(some) else functions[few:]
    return chosen


def sets_of(options, expanded):
    @functools.cache
    def executed(*functions):
        count = len(executed_calls(watch(options, list(functions), 20)[2]))
        print(f"{len(functions)} functions execute {count} call sites", flush=True)
        return count

    return {count: set_of(count, expanded, executed) for count in options.children}


class Variant:
    """A number of call sites, and what its rounds have shown."""

    def __init__(self, functions):
        self.functions = functions
        self.throughput, self.processor, self.own = [], [], []
        self.executed, self.records, self.counted = [], [], []

    def add(self, run, messages, report, around):
        """`around`: the plain runs before and after it."""
        part = PART.search(messages)
        self.throughput.append(run.rate / statistics.mean(p.rate for p in around) - 1)
        self.processor.append(run.processor / statistics.mean(p.processor for p in around) - 1)
        self.own.append(float(OWN.search(messages)[1]) / os.cpu_count())
        self.executed.append(len(executed_calls(report)))
        self.records.append(report["overhead"]["records"] / report["interval"]["count"])
        self.counted.append(float(part[1]) / 100 if part else 1)

    def text(self):
        return (f"{len(self.functions)} functions, {max(self.executed)} call sites executed, "
                f"{statistics.median(self.records):.0f} records; throughput "
                f"{shown(self.throughput, '+.1%')}, processor time {shown(self.processor, '+.1%')}; "
                f"counted {statistics.median(self.counted):.1%}; vprof itself "
                f"{statistics.median(self.own):.1%} of the machine")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("plain", type=pathlib.Path)
    parser.add_argument("--root", required=True)
    parser.add_argument("--children", type=lambda text: [int(n) for n in text.split(",")],
                        default=[10, 50, 100, 500])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--budget", type=float, default=2)
    parser.add_argument("--sets", type=pathlib.Path)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    if options.sets and options.sets.exists():
        sets = json.loads(options.sets.read_text())
    else:
        sets = sets_of(options, break_down(options))
        if options.sets:
            options.sets.write_text(json.dumps(sets))
    variants = {count: Variant(functions) for count, functions in sets.items()}
    names = list(variants)
    before = plain_run(options)
    for number in range(options.rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            watched = watch(options, variants[name].functions, options.budget)
            after = plain_run(options)
            variants[name].add(*watched, (before, after))
            before = after
        print(f"round {number + 1}: throughput of {before.rate:.0f} "
              + ", ".join(f"{variant.throughput[-1]:+.1%} ({name})"
                          for name, variant in variants.items()), flush=True)
    for count, variant in variants.items():
        print(f"{count}: {variant.text()}")


if __name__ == "__main__":
    main()
