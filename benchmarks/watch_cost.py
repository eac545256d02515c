#!/usr/bin/env python3
"""What it costs a program to be watched within a budget, as more call sites are measured.

    watch_cost.py PROJECT --root FUNCTION --run COMMAND --count COMMAND [--budget 2] [--window 10]
                  [--children 10,50,100,500] [--rounds 11] [--vprof build/release/driver/vprof]

PROJECT, --run and --count as in live_cost.py. The program is built once with all call sites in place
and off, and runs all the time. The call sites are those on the requests' path, breadth first from
FUNCTION, as a search meets them: watches with a budget of 20 % break down one level after the other,
until enough call sites are executed.

A round is one `vprof watch --expand` for each number of call sites, for --window seconds after it
has begun, each followed by a window in which nobody looks. Throughput and processor time per request
are compared with the windows before and after the watch. What the program costs while nobody looks,
armed_cost.py measures.

The last lines are medians of the rounds, with an interval that contains the true median in 95 of 100
cases. `executed` is how many call sites are executed, `records` how often per request. `while on` is
what recording adds to the processor time while it is on, as the report estimates it, and `recorded`
for which part of the time intervals were counted.
"""
import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import time

from live_cost import Program, Vprof, Window
from stated_cost import HERE, shown

def watch(options, program, expand):
    """The report of a watch of these functions, to see what is executed."""
    done = subprocess.run([options.vprof, "-C", options.project, "watch", "--slower-than", "p99.9",
                           "--expand", *expand, "--attach", program.trace, "--budget", "20",
                           "--for", str(options.window), "--json"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(done.stdout)


def executed_calls(tree):
    """(function that makes the call, place, callee) of all executed calls, breadth first."""
    calls, waiting = {}, collections.deque([(tree, "")])
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


def expandable_functions(options):
    sites = json.loads((options.project / ".vprof/sites.json").read_text())
    return [f for f in sites["functions"] if f["expandable"]]


def break_down(options, program, most):
    """Functions in the order in which to break them down, until `most` call sites are executed, and
    the calls of these."""
    expanded, more = [], [options.root]
    while more:
        expanded += more
        report = watch(options, program, expanded)
        expandable = expandable_functions(options)
        if expanded == [options.root]:
            expanded = [f["key"] for f in expandable if f["name"] == options.root]
        keys = {f["key"] for f in expandable}
        calls = executed_calls(report["tree"])
        met = dict.fromkeys(name_of(key) for _, _, key in calls if key in keys)
        more = [name for name in met if name not in expanded] if len(calls) < most else []
        print(f"{len(expanded)} functions broken down: {len(calls)} call sites are executed",
              flush=True)
    return expanded, calls


def sets_of(options, expanded, calls):
    """For each number of call sites, the first functions that execute so many."""
    sets = {}
    for count in options.children:
        enough = (n for n in range(1, len(expanded) + 1)
                  if sum(name_of(caller) in expanded[:n] for caller, _, _ in calls) >= count)
        sets[count] = expanded[:next(enough, len(expanded))]
    return sets


class Variant:
    """A number of call sites, and what its rounds have shown."""

    def __init__(self, functions):
        self.functions = functions
        self.throughput, self.processor, self.own = [], [], []
        self.executed, self.records, self.cost, self.recorded = [], [], [], []

    def add(self, options, vprof, window, own, before, after):
        report = json.loads((options.project / ".vprof/report.json").read_text())
        overhead = report["overhead"]
        self.throughput.append(window.rate / statistics.mean([before.rate, after.rate]) - 1)
        self.processor.append(window.each / statistics.mean([before.each, after.each]) - 1)
        self.own.append(own)
        self.executed.append(len(executed_calls(report["tree"])))
        self.records.append(overhead["records"] / report["interval"]["count"])
        costs = re.search(r"costs ([0-9.]+) %", vprof.messages)
        part = re.search(r"counted the intervals of ([0-9.e-]+) % of it", vprof.messages)
        self.cost.append(float(costs[1]) / 100 if costs else 0)
        self.recorded.append(float(part[1]) / 100 if part else 1)

    def text(self):
        return (f"throughput {shown(self.throughput, '+.2%')}, processor time "
                f"{shown(self.processor, '+.2%')}, vprof itself {shown(self.own, '.2%')} of the "
                f"machine; {max(self.executed)} executed, {statistics.median(self.records):.0f} "
                f"records, {statistics.median(self.recorded):.1%} recorded")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--root", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--count", required=True)
    parser.add_argument("--children", type=lambda text: [int(n) for n in text.split(",")],
                        default="10,50,100,500")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--budget", type=float, default=2)
    parser.add_argument("--window", type=float, default=10)
    parser.add_argument("--settle", type=float, default=10)
    parser.add_argument("--vprof", default=HERE.parent / "build/release/driver/vprof")
    options = parser.parse_args()
    options.watch = options.window
    subprocess.run([options.vprof, "-C", options.project, "live", "--build"], check=True)
    program = Program(options)
    vprof = Vprof(options, program)
    try:
        time.sleep(options.settle)
        sets = sets_of(options, *break_down(options, program, max(options.children)))
        variants = {count: Variant(functions) for count, functions in sets.items()}
        before = look(program, options.window)
        for number in range(options.rounds):
            for count, variant in variants.items():
                vprof.expand = variant.functions
                window, own = vprof.run()
                after = look(program, options.window)
                variant.add(options, vprof, window, own, before, after)
                print(f"round {number + 1}, {count}: throughput {variant.throughput[-1]:+.2%}, "
                      f"processor time {variant.processor[-1]:+.2%}, recorded "
                      f"{variant.recorded[-1]:.1%}", flush=True)
                before = after
    finally:
        program.stop()
    for count, variant in variants.items():
        print(f"{count} ({len(variant.functions)} functions): {variant.text()}")


def look(program, seconds):
    with Window(program) as window:
        time.sleep(seconds)
    return window


if __name__ == "__main__":
    main()
