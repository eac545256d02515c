#!/usr/bin/env python3
"""Prints what each policy does to each workload, as Markdown: on a simulated clock, and with threads.

    tables.py [--lab BUILD/lock_lab] [PART...]

Parts: clients, threads, load, htap (default: all). Without --lab, the engine is built in build/.
Every figure is the median of several seeds, with the least and the greatest in brackets. The
simulated parts are the same on every machine; `threads` takes minutes of real time, nearly all of it
asleep.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
POLICIES = ["fcfs", "rs", "vats", "ldsf", "bldsf", "hldsf"]
WORKLOADS = ["tpcc-2", "tpcc-32", "tpcc-128", "seats", "tatp", "epinions", "ycsb", "micro"]
SEEDS = range(1, 6)

# Dissertation, tables 3.4 (VATS against FCFS: mean, variance, p99) and section 4.6.2 (throughput).
PAPER = {
    ("tpcc-128", "vats"): "6.3 / 5.6 / 2.0 x",
    ("seats", "vats"): "1.1 / 1.3 / 1.1 x",
    ("tatp", "vats"): "1.2 / 1.6 / 1.3 x",
    ("tatp", "rs"): "variance 1.3 x",
    ("seats", "rs"): "100 times worse",
    ("epinions", "vats"): "1.4 / 2.6 / 1.0 x",
    ("ycsb", "vats"): "1.0 / 1.1 / 1.1 x",
}
PAPER_THROUGHPUT = {("tpcc-32", 100, "bldsf"): "1.4 x", ("tpcc-32", 900, "bldsf"): "6.5 x"}


def run(lab, mode, **options):
    """The figures of one run, by name."""
    command = [lab, mode]
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
    """Several seeds of each setting, as many at a time as there are processors."""

    def __init__(self, lab, mode, at_a_time):
        self.lab, self.mode = lab, mode
        self.pool = ThreadPoolExecutor(at_a_time)
        self.started = {}

    def start(self, key, seeds=SEEDS, **options):
        self.started[key] = [self.pool.submit(run, self.lab, self.mode, seed=seed, **options) for seed in seeds]

    def values(self, key, name):
        return [future.result()[name] for future in self.started[key]]

    def median(self, key, name):
        return median(self.values(key, name))

    def ratio(self, key, base, name, inverted=False):
        """Of each seed to the same seed of the base, so that both had the same transactions."""
        if sum(self.values(key, "overloaded") + self.values(base, "overloaded")):
            return "–"
        pairs = zip(self.values(key, name), self.values(base, name))
        ratios = sorted(b / a if inverted else a / b for a, b in pairs)
        return f"{median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def clock(ms):
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"


def closed(runs, workloads, clients, rules, transactions, warm_up, **more):
    """Starts runs with a number of clients that each begin one transaction after the other."""
    for workload in workloads:
        for count in clients:
            for policy in POLICIES:
                for patience in rules if policy in ("ldsf", "bldsf", "hldsf") else rules[:1]:
                    key = (workload, count, policy, patience)
                    runs.start(key, workload=workload, clients=count, policy=policy, patience=patience,
                               transactions=transactions + warm_up, warm_up=warm_up, **more)


def print_closed(runs):
    head("workload", "clients", "policy", "throughput", "to FCFS", "mean", "better", "variance better",
         "p99", "better", "deadlocks", "paper")
    for key in runs.started:
        workload, count, policy, patience = key
        base = (workload, count, "fcfs", 0)
        name = policy + (f", patience {patience}" if patience else "")
        paper = PAPER.get((workload, policy), "") if count == 100 else ""
        paper = paper or PAPER_THROUGHPUT.get((workload, count, policy), "") * (patience == 0)
        row(workload, count, name, f"{runs.median(key, 'throughput'):.0f}/s",
            runs.ratio(key, base, "throughput"), clock(runs.median(key, "mean")),
            runs.ratio(key, base, "mean", inverted=True), runs.ratio(key, base, "variance", inverted=True),
            clock(runs.median(key, "p99")), runs.ratio(key, base, "p99", inverted=True),
            f"{runs.median(key, 'deadlocks'):.0f}", paper)


def part_clients(lab):
    print("\n## Clients, one transaction after the other (simulated)\n")
    print("\"Better\": FCFS's figure divided by the policy's, of the same seed. LDSF, bLDSF and hLDSF have")
    print("a barrier against starvation, or, with patience 8, let 8 n newer waits overtake.\n")
    runs = Runs(lab, "simulate", os.cpu_count())
    closed(runs, WORKLOADS, [100, 300, 900], [0, 8], 8000, 2000)
    print_closed(runs)


def part_threads(lab):
    print("\n## The same with threads and work that is sleep\n")
    runs = Runs(lab, "run", 2)
    simulated = Runs(lab, "simulate", os.cpu_count())
    settings = [("tpcc-2", 100, 0, 2000), ("tpcc-2", 900, 0, 2000), ("micro", 100, 8, 4000), ("micro", 300, 8, 4000)]
    for workload, count, patience, transactions in settings:
        for policy in ("fcfs", "vats", "ldsf", "bldsf"):
            options = dict(workload=workload, clients=count, policy=policy, patience=patience, unit_us=2000,
                           transactions=transactions + 2 * count, warm_up=2 * count)
            for kind in (runs, simulated):
                kind.start((workload, count, policy, patience), seeds=range(1, 4), **options)
    head("workload", "clients", "policy", "throughput", "to FCFS", "simulated", "mean", "better", "simulated",
         "variance better", "simulated", "p99 better", "simulated")
    for key in runs.started:
        workload, count, policy, patience = key
        base = (workload, count, "fcfs", patience)
        cells = [f"{runs.median(key, 'throughput'):.0f}/s"]
        for name in ("throughput", "mean", "variance", "p99"):
            if name == "mean":
                cells.append(clock(runs.median(key, "mean")))
            cells += [kind.ratio(key, base, name, inverted=name != "throughput") for kind in (runs, simulated)]
        row(workload, count, policy + (f", patience {patience}" if patience and "ldsf" in policy else ""), *cells)


def part_load(lab):
    print("\n## Transactions at random moments, at 50, 70 and 90 % of FCFS's capacity (simulated)\n")
    print("The capacity is FCFS's greatest throughput with 10, 30, 100 or 300 clients. Overloaded: more than")
    print("2,000 transactions were under way, and there were more and more.\n")
    capacity = Runs(lab, "simulate", os.cpu_count())
    workloads = ["tpcc-2", "tpcc-32", "seats", "tatp", "micro", "micro-50-60"]
    for workload in workloads:
        for clients in (10, 30, 100, 300):
            capacity.start((workload, clients), workload=workload, clients=clients, policy="fcfs",
                           transactions=10000, warm_up=2000)
    runs = Runs(lab, "simulate", os.cpu_count())
    for workload in workloads:
        best = max(capacity.median((workload, clients), "throughput") for clients in (10, 30, 100, 300))
        for percent in (50, 70, 90):
            for policy in POLICIES:
                runs.start((workload, f"{percent} % of {best:.0f}/s", policy), workload=workload, policy=policy,
                           rate=round(best * percent / 100, 1), transactions=10000, warm_up=2000)
    head("workload", "load", "policy", "mean", "better", "variance better", "p99", "better")
    for key in runs.started:
        base = (*key[:2], "fcfs")
        overloaded = sum(runs.values(key, "overloaded"))
        mean, p99 = (clock(runs.median(key, name)) for name in ("mean", "p99"))
        row(*key, f"overloaded in {overloaded:.0f} of {len(SEEDS)} runs" if overloaded else mean,
            runs.ratio(key, base, "mean", inverted=True), runs.ratio(key, base, "variance", inverted=True),
            "–" if overloaded else p99, runs.ratio(key, base, "p99", inverted=True))


def part_htap(lab):
    print("\n## TPC-C with 0.5 % analytical queries (simulated)\n")
    print("Dissertation, 4.7.4: hLDSF \"fails to produce stable improvement over FIFO\" in MySQL; up to 20 %")
    print("on the 95th percentile in the authors' simulator.\n")
    runs = Runs(lab, "simulate", os.cpu_count())
    closed(runs, ["htap-32"], [100, 300], [0], 8000, 2000)
    head("clients", "policy", "throughput to FCFS", "mean better", "p95 better", "p99 better")
    for key in runs.started:
        base = ("htap-32", key[1], "fcfs", 0)
        row(key[1], key[2], runs.ratio(key, base, "throughput"),
            *(runs.ratio(key, base, name, inverted=True) for name in ("mean", "p95", "p99")))


PARTS = {"clients": part_clients, "threads": part_threads, "load": part_load, "htap": part_htap}


def built():
    build = HERE / "build"
    for command in (["cmake", "-S", HERE, "-B", build], ["cmake", "--build", build, "--parallel", "2"]):
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
    return build / "lock_lab"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", type=Path)
    parser.add_argument("parts", nargs="*", metavar="PART")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    lab = options.lab or built()
    for part in options.parts or PARTS:
        PARTS[part](lab)


if __name__ == "__main__":
    main()
