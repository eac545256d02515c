"""Throughput and latency of a server with 1, 10, 50, 100 and 500 measured call sites, compared with
the server without instrumentation. Imported by the overhead.py of an example, which describes its
server as a Study.

The call sites are those on the requests' path, breadth first from where a request begins, as a
search meets them. One run with some thousand sites shows which of them are executed, and how often.
A search leaves out calls that are frequent and matter little, so there is another variant with the
largest number of sites, "seldom": its functions are called, and make a call, at most 20 times per
request. If root runs this and bpftrace is installed, there are also variants with uprobes on the
same functions, where the example has them.

Each round runs every variant once; the ratios are to the plain server in the same round. The
processor time of the server is compared as well, since other work on the machine disturbs it less
than throughput and latency. The environment variables are those of workload.sh.

    overhead.py prepare                builds the variants in work/overhead
    overhead.py measure [--rounds N]   adds N rounds (default 5) to work/overhead/rounds.jsonl
    overhead.py report                 prints the table
    overhead.py naive FUNCTION...      prints how many runs a profiler needs that breaks down every
                                       function, until it has broken down these
"""
import argparse
import array
import collections
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

MOST_CALLS = 20


@dataclasses.dataclass(frozen=True)
class Study:
    here: pathlib.Path  # the directory of the example
    root: str  # the function in which the search begins
    on_the_way: str  # the functions on a request's path, in words, `root` first
    unit: str  # "transaction"
    figures: dict  # a pattern in the workload's output for each of: rate, latency_ms, processor_s
    rate: str  # heading of the rate: "tps"
    uprobes: tuple = ()  # numbers of children that bpftrace is to time as well
    binaries: tuple = ()  # in the plain server's directory: what they are in

    @property
    def vprof_dir(self):
        return self.here / ".vprof"

    @property
    def work(self):
        return self.here / "work"

    @property
    def place(self):
        return self.work / "overhead"


def fail(message):
    sys.exit(f"overhead.py: {message}")


def find_vprof():
    built = pathlib.Path(__file__).resolve().parent.parent / "build/release/driver/vprof"
    vprof = os.environ.get("VPROF") or (str(built) if built.exists() else shutil.which("vprof"))
    return vprof or fail("there is no vprof; build it or set VPROF")


def find_instrumenter():
    vprof = pathlib.Path(find_vprof()).resolve()
    told = vprof.parent / "vprof-locations.json"
    if told.exists():
        return json.loads(told.read_text())["instrument"]
    return str(vprof.parent.parent / "libexec/vprof/vprof-instrument")


def as_user(study, command):
    """The servers do not run as root. The files belong to the user for whom run.sh built them."""
    if os.getuid() != 0:
        return command
    owner = study.vprof_dir.stat()
    return ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups",
            *command]


def run(study, command, **options):
    done = subprocess.run(as_user(study, [str(c) for c in command]), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: status {done.returncode}\n"
             f"{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def rewrite_and_build(study, plan):
    (study.vprof_dir / "plan.json").write_text(json.dumps(plan))
    run(study, [find_instrumenter(), "rewrite", "--index", study.vprof_dir / "index.json",
                "--plan", study.vprof_dir / "plan.json", "--mirror", study.vprof_dir / "mirror",
                "--pristine", study.vprof_dir / "pristine",
                "--sites", study.vprof_dir / "sites.json"])
    run(study, [find_vprof(), "-C", study.here, "build"])


def installed_as(study, name):
    target = study.place / name / "installed"
    run(study, ["rm", "-rf", target])
    run(study, ["mkdir", "-p", target.parent])
    run(study, ["cp", "-a", study.vprof_dir / "mirror/installed", target])


# ---- which children


def keys_of(study, names):
    """The keys of those that the program has. Several static functions may have the same name."""
    graph = json.loads(run(study, [find_vprof(), "-C", study.here, "graph", "--json"]))
    wanted = set(names)
    return [f["key"] for f in graph["functions"] if f["name"] in wanted and f["file"]]


def calls_by_site(trace):
    """How often each site was recorded: one 16-byte slot per call, with the site in the low 24 bits
    of the second word (docs/trace-format.md). Unwritten parts of the file are holes."""
    counts = collections.Counter()
    for path in trace.glob("*.vpt"):
        with open(path, "rb") as file:
            at, size = 0, path.stat().st_size
            while at < size:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                except OSError:
                    break  # only a hole follows
                end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                while at < end:
                    words = array.array("Q", os.pread(file.fileno(), min(end - at, 1 << 24), at))
                    counts.update(word & 0xFFFFFF for word in words[1::2])
                    at += 8 * len(words)
    return counts


def executed_children(study, plan):
    """Call sites as {place, parent, callee, key, calls per request, expandable}, breadth first in
    the variance tree of a run with many expanded functions; the call sites of each parent; how often
    each expanded function is called per request."""
    wide = dict(plan, expanded=keys_of(study, study.on_the_way.split()), demoted=[])
    rewrite_and_build(study, wide)
    run(study, [find_vprof(), "-C", study.here, "record"])
    report = json.loads(run(study, [find_vprof(), "-C", study.here, "analyze", "--json"]))
    counts = calls_by_site(max((study.vprof_dir / "iterations").glob("*/trace"),
                               key=lambda trace: int(trace.parent.name)))
    sites = json.loads((study.vprof_dir / "sites.json").read_text())
    functions = {f["id"]: f for f in sites["functions"]}
    by_place = collections.defaultdict(list)
    for site in sites["sites"]:
        if site["kind"] == "call":
            location = f"{site['file']}:{site['line']}"
            by_place[location, functions[site["function"]]["name"]].append(site)
    children, seen = [], set()
    waiting = collections.deque([report["tree"]])
    while waiting:
        node = waiting.popleft()
        known = by_place.get((node.get("site"), node["function"]), [])
        for site in known if node["kind"] == "function" else []:
            place = f"{site['file']}:{site['line']}:{site['column']}"
            if place not in seen:
                seen.add(place)
                callee = functions[site["function"]]
                children.append({"place": place, "parent": functions[site["parent"]]["key"],
                                 "callee": node["function"], "key": callee["key"],
                                 "calls": counts[site["id"]] / report["interval"]["count"],
                                 "expandable": callee["expandable"]})
        waiting.extend(c for c in node["children"] if c["kind"] in ("function", "body"))
    every = collections.defaultdict(list)
    for site in sites["sites"]:
        if site["kind"] == "call":
            position = f"{site['file']}:{site['line']}:{site['column']}"
            every[functions[site["parent"]]["key"]].append(position)
    # A function is recorded once per call: at its call site if that is measured, else at its entry.
    entered = collections.Counter()
    for site in sites["sites"]:
        calls = counts[site["id"]] / report["interval"]["count"]
        entered[functions[site["function"]]["key"]] += calls
    return children, every, entered


def prepare(study, counts):
    plan = json.loads((study.vprof_dir / "plan.json").read_text())
    plan.update(all=False, measured=[], demoted=[])
    children, every, entered = executed_children(study, plan)
    print(f"the {study.unit}s execute {len(children)} call sites")
    run(study, ["mkdir", "-p", study.place])
    hot = {c["parent"] for c in children if max(c["calls"], entered[c["parent"]]) > MOST_CALLS}
    seldom = [c for c in children if c["parent"] not in hot]
    print(f"{len(hot)} functions are called, or make a call, more than {MOST_CALLS} times per "
          f"{study.unit}")
    for name, count in [(str(c), c) for c in counts] + [(f"{counts[-1]} seldom", counts[-1])]:
        chosen = (seldom if "seldom" in name else children)[:count]
        if len(chosen) < count:
            fail(f"{count} call sites: only {len(chosen)} are executed")
        keep = {c["place"] for c in chosen}
        parents = sorted({c["parent"] for c in chosen})
        demoted = sorted({p for parent in parents for p in every[parent]} - keep)
        rewrite_and_build(study, dict(plan, expanded=parents, demoted=demoted))
        installed_as(study, name)
        measured = collections.Counter()
        for c in chosen:
            measured[c["key"]] += c["calls"]
        records = sum(measured.values()) + sum(max(0, entered[p] - measured[p]) for p in parents)
        print(f"{name}: built with {count} call sites in {len(parents)} functions, "
              f"{records:.0f} records per {study.unit}", flush=True)
    run(study, [study.here / "plain.sh"])
    run(study, ["mkdir", "-p", study.place / "plain"])
    run(study, ["ln", "-sfn", study.work / "plain/installed", study.place / "plain/installed"])
    run(study, ["tee", study.place / "children.json"], input=json.dumps(children))
    run(study, [find_vprof(), "-C", study.here, "instrument"])
    run(study, [find_vprof(), "-C", study.here, "build"])


# ---- rounds


def figures(study, printed):
    return {name: float(re.search(pattern, printed, re.M)[1])
            for name, pattern in study.figures.items()}


def workload(study, directory, recording):
    environment = dict(os.environ, WORK=str(study.work))
    environment.pop("VPROF_TRACE_DIR", None)
    trace = study.place / "trace"
    run(study, ["rm", "-rf", trace])
    if recording:
        run(study, ["mkdir", "-p", trace])
        environment["VPROF_TRACE_DIR"] = str(trace)
    out = run(study, [study.here / "workload.sh"], cwd=study.place / directory, env=environment)
    # No run should pay for writing the trace of the previous one to disk.
    run(study, ["rm", "-rf", trace])
    run(study, ["sync"])
    return figures(study, out)


def with_uprobes(study, count, children):
    """The plain server, whose functions bpftrace times at entry and return."""
    probes = {}
    for name in study.binaries:
        binary = (study.work / "plain" / name).resolve()
        defined = run(study, ["nm", "-D" if ".so" in name else "-a", "--defined-only", binary])
        probes.update((line.split()[-1], binary) for line in defined.splitlines())
    names = sorted({c["callee"] for c in children[:count]} & probes.keys())
    text = "".join(
        f"uprobe:{probes[name]}:{name} {{ @start[tid, {i}] = nsecs; }}\n"
        f"uretprobe:{probes[name]}:{name} /@start[tid, {i}]/ {{ $took = nsecs - @start[tid, {i}]; "
        f"@count[{i}] = count(); @sum[{i}] = sum($took); @squares[{i}] = sum($took * $took); }}\n"
        for i, name in enumerate(names))
    script = study.place / f"uprobes-{count}.bt"
    run(study, ["tee", script], input=text)
    environment = dict(os.environ, BPFTRACE_MAX_PROBES="4096")
    tracer = subprocess.Popen(["bpftrace", script], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=environment)
    for line in tracer.stdout:
        if "Attaching" in line or "Attached" in line:
            break
    try:
        subprocess.run(["sleep", "2"], check=True)
        if tracer.poll() is not None:
            fail("bpftrace cannot attach; see " + str(script))
        result = workload(study, "plain", False)
    finally:
        tracer.terminate()
        seen = tracer.communicate()[0].count("@count[")
    return dict(result, functions=len(names), seen=seen)


def measure(study, rounds, counts, uprobes):
    children = json.loads((study.place / "children.json").read_text())
    variants = ["plain", *map(str, counts), f"{counts[-1]} seldom"]
    variants += [f"uprobes {c}" for c in uprobes]
    for number in range(rounds):
        done = {}
        first = number % len(variants)  # each variant comes first in turn
        for variant in variants[first:] + variants[:first]:
            if variant.startswith("uprobes"):
                done[variant] = with_uprobes(study, int(variant.split()[1]), children)
            else:
                done[variant] = workload(study, variant, variant != "plain")
            print(variant, done[variant], flush=True)
        with open(study.place / "rounds.jsonl", "a") as log:
            log.write(json.dumps(done) + "\n")


def report(study):
    rounds = [json.loads(line) for line in (study.place / "rounds.jsonl").read_text().splitlines()]
    print(f"{len(rounds)} rounds; medians, and changes from the plain server in the same round")
    print(f"{'':<14}{study.rate:>8}{'latency':>12}{'processor':>13}{'throughput':>13}{'latency':>10}"
          f"{'processor':>12}")
    for variant in dict.fromkeys(v for r in rounds for v in r):
        mine = [r for r in rounds if variant in r]

        def median(value):
            return statistics.median(value(r[variant], r["plain"]) for r in mine)
        print(f"{variant:<14}{median(lambda a, _: a['rate']):8.0f}"
              f"{median(lambda a, _: a['latency_ms']):9.2f} ms"
              f"{median(lambda a, _: a['processor_s']):11.2f} s"
              f"{100 * (median(lambda a, p: a['rate'] / p['rate']) - 1):+11.1f} %"
              f"{100 * (median(lambda a, p: a['latency_ms'] / p['latency_ms']) - 1):+8.1f} %"
              f"{100 * (median(lambda a, p: a['processor_s'] / p['processor_s']) - 1):+10.1f} %")


def naive(study, wanted, k):
    """How many runs a profiler needs at least that breaks down the next k functions in each run, in
    the order in which it meets them. It would meet more below functions outside `on_the_way`."""
    children = json.loads((study.place / "children.json").read_text())
    met = [c["callee"] for c in children if c["expandable"]]
    names = list(dict.fromkeys([study.root, *met]))
    for name in wanted:
        if name not in names:
            fail(f"{name} was not executed in the run of `overhead.py prepare`")
    last = max(names.index(name) for name in wanted)
    print(f"the {study.unit}s' path has {len(names)} functions that call others; a profiler that "
          f"breaks down {k} per run, in the order in which it meets them, reaches {names[last]} "
          f"in run {last // k + 1}")


def main(study, description):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["prepare", "measure", "report", "naive"])
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--children", default="1,10,50,100,500")
    parser.add_argument("--no-uprobes", action="store_true")
    parser.add_argument("-k", type=int, default=3)
    options = parser.parse_args()
    counts = [int(c) for c in options.children.split(",")]
    if options.what == "prepare":
        prepare(study, counts)
    elif options.what == "measure":
        possible = os.getuid() == 0 and shutil.which("bpftrace") and not options.no_uprobes
        if not possible:
            print("without uprobes, which need root and bpftrace")
        measure(study, options.rounds, counts, study.uprobes if possible else ())
    elif options.what == "report":
        report(study)
    else:
        naive(study, options.functions, options.k)

