#!/usr/bin/env python3
"""Prints what each concurrency control and the scheduler do to each workload, as Markdown.

    tables.py [--lab BUILD/scheduling_lab] [--rounds N] [PART...]

Parts (default: all):
    threads    all systems and workloads, with threads and sleep: half an hour
    simulated  the same on a simulated clock, with 128 workers and 512 clients
    overhead   without contention: what scheduling costs, with threads
    hints      wrong hints: how much harm they do (simulated)

Without --lab, the program is built in work/build. A ratio is that of a system to its baseline in the
same round, which has the same seed and so the same transactions: geometric mean over the rounds, with
its 95 % confidence interval (Student's t of the logarithms). All systems of a round run one after the
other, so that a change of the machine's load meets all of them.
"""

import argparse
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median, stdev

HERE = Path(__file__).resolve().parent
WORKLOADS = ["epinions", "smallbank", "taobench", "tpcc", "ycsb"]
SYSTEMS = ["occ", "locks", "mvtso", "smf-occ", "smf-locks", "mvschedo", "r-smf"]
SIMULATED = [system for system in SYSTEMS if "locks" not in system]

# The paper's, of R-SMF to OCC (section 5.1.1): throughput, aborts of OCC and of R-SMF in percent, and
# by how much the variance of the latency is lower, in percent.
PAPER = {
    "epinions": (3.1, 6.0, 0.2, 14),
    "smallbank": (2.7, 5.7, 0.2, 19),
    "taobench": (3.9, 12.0, 0.5, 65),
    "tpcc": (1.8, 10.1, 2.2, 20),
    "ycsb": (2.0, 7.7, 2.0, 45),
}
# Of the bolt-on schedulers to their baselines (section 5.1.2), where the text has figures.
PAPER_BOLT_ON = {"epinions": 2.4, "smallbank": 2.0, "taobench": 3.3}

# Quantiles of Student's t for 95 % intervals, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def run(lab, mode, **options):
    """The figures of one run, by name."""
    command = [str(lab), mode]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {name: number(value) for name, value in (word.split("=") for word in done.stdout.split())}


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


class Runs:
    """Rounds of settings; in each round, every setting once."""

    def __init__(self, lab, mode, rounds, at_a_time):
        self.lab, self.mode, self.rounds = lab, mode, rounds
        self.pool = ThreadPoolExecutor(at_a_time)
        self.settings, self.results = {}, {}

    def add(self, key, **options):
        self.settings[key] = options

    def go(self):
        started = [(key, self.pool.submit(run, self.lab, self.mode, seed=seed, **options))
                   for seed in range(1, self.rounds + 1) for key, options in self.settings.items()]
        for key, future in started:
            self.results.setdefault(key, []).append(future.result())

    def values(self, key, name):
        return [result[name] for result in self.results[key]]

    def median(self, key, name):
        return median(self.values(key, name))

    def ratio(self, key, base, name):
        pairs = list(zip(self.values(key, name), self.values(base, name)))
        if any(a <= 0 or b <= 0 for a, b in pairs):
            return "–"
        logarithms = [math.log(a / b) for a, b in pairs]
        if len(logarithms) == 1:
            return f"{math.exp(logarithms[0]):.2f}"
        half = STUDENT.get(len(logarithms) - 1, 1.96) * stdev(logarithms) / math.sqrt(len(logarithms))
        centre = mean(logarithms)
        return f"{math.exp(centre):.2f} ({math.exp(centre - half):.2f}–{math.exp(centre + half):.2f})"


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def paper_cell(workload, system):
    throughput, occ_aborts, r_smf_aborts, variance = PAPER[workload]
    if system == "occ":
        return f"aborts {occ_aborts} %"
    if system == "r-smf":
        return f"{throughput} x, aborts {r_smf_aborts} %, variance −{variance} %"
    if system.startswith("smf-") and workload in PAPER_BOLT_ON:
        return f"{PAPER_BOLT_ON[workload]} x its baseline"
    return ""


def print_systems(runs, systems):
    head("workload", "system", "throughput", "to OCC", "to its baseline", "aborts a commit", "mean", "p99",
         "variance to OCC", "oldest unfinished", "paper")
    for workload in WORKLOADS:
        for system in systems:
            key, occ = (workload, system), (workload, "occ")
            bolted_on = system.removeprefix("smf-") if system.startswith("smf-") else None
            row(workload, system, f"{runs.median(key, 'throughput'):.0f}/s",
                runs.ratio(key, occ, "throughput"),
                runs.ratio(key, (workload, bolted_on), "throughput") if bolted_on else "",
                f"{runs.median(key, 'aborts'):.3f}", f"{runs.median(key, 'mean'):.0f} ms",
                f"{runs.median(key, 'p99'):.0f} ms", runs.ratio(key, occ, "variance"),
                f"{runs.median(key, 'oldest') / 1000:.1f} s", paper_cell(workload, system))


def part_threads(lab, rounds):
    print("\n## All systems, with threads\n")
    print("256 clients, 64 workers, 4 ms for each operation and commit, 12 s of which 4 warm up.\n")
    runs = Runs(lab, "run", rounds, 2)
    for workload in WORKLOADS:
        for system in SYSTEMS:
            runs.add((workload, system), workload=workload, system=system, clients=256, workers=64,
                     operation_us=4000, commit_us=4000, seconds=12, warm_up=4)
    runs.go()
    print_systems(runs, SYSTEMS)


def part_simulated(lab, rounds):
    print("\n## 128 workers, 512 clients (simulated)\n")
    print("2 ms for each operation and commit, 8 s of which 3 warm up.\n")
    runs = Runs(lab, "simulate", rounds, os.cpu_count())
    for workload in WORKLOADS:
        for system in SIMULATED:
            runs.add((workload, system), workload=workload, system=system, clients=512, workers=128,
                     barrier=512, seconds=8, warm_up=3)
    runs.go()
    print_systems(runs, SIMULATED)


def part_overhead(lab, rounds):
    print("\n## Without contention (figure 8: theta 0.1), with threads\n")
    print("The paper's: within 5 % of the baseline.\n")
    runs = Runs(lab, "run", rounds, 1)
    for workload in ("ycsb-low", "ycsb-low-writes"):
        for system in ("occ", "smf-occ", "mvtso", "r-smf"):
            runs.add((workload, system), workload=workload, system=system, clients=256, workers=64,
                     operation_us=4000, commit_us=4000, seconds=10, warm_up=3)
    runs.go()
    head("workload", "system", "baseline", "throughput", "aborts a commit", "to the baseline")
    for workload in ("ycsb-low", "ycsb-low-writes"):
        for system, base in (("smf-occ", "occ"), ("r-smf", "mvtso")):
            key = (workload, system)
            row(workload, system, base, f"{runs.median(key, 'throughput'):.0f}/s",
                f"{runs.median(key, 'aborts'):.3f}", runs.ratio(key, (workload, base), "throughput"))


def part_hints(lab, rounds):
    print("\n## Wrong hints (simulated)\n")
    print("Throughput to the system that gets no hints. The paper's table 4, of R-SMF and TPC-C to MVTSO:")
    print("all hints right +33 %, one in ten wrong +25 %, half wrong a loss, no hints −2 %.\n")
    runs = Runs(lab, "simulate", rounds, os.cpu_count())
    cases = {"right": {}, "10 % wrong": {"wrong_hints": 0.1}, "50 % wrong": {"wrong_hints": 0.5},
             "all wrong": {"wrong_hints": 1}, "reads and writes inverted": {"hints": "inverted"},
             "none": {"hints": "none"}}
    workloads = ("smallbank", "tpcc", "ycsb")
    for workload in workloads:
        for system in ("smf-occ", "r-smf"):
            for case, options in cases.items():
                runs.add((workload, system, case), workload=workload, system=system, seconds=8, warm_up=3,
                         **options)
    runs.go()
    head("workload", "system", "hints", "throughput", "to no hints", "aborts a commit", "p99")
    for key in runs.settings:
        row(*key, f"{runs.median(key, 'throughput'):.0f}/s", runs.ratio(key, (*key[:2], "none"), "throughput"),
            f"{runs.median(key, 'aborts'):.3f}", f"{runs.median(key, 'p99'):.0f} ms")


PARTS = {"threads": part_threads, "simulated": part_simulated, "overhead": part_overhead, "hints": part_hints}


def built():
    build = HERE / "work" / "build"
    for command in (["cmake", "-S", HERE, "-B", build], ["cmake", "--build", build, "--parallel", "2"]):
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
    return build / "scheduling_lab"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    lab = options.lab or built()
    for part in options.parts or PARTS:
        PARTS[part](lab, options.rounds)


if __name__ == "__main__":
    main()
