"""Throughput and latency of a server with 1, 10, 50, 100 and 500 measured call sites, compared with
the server without instrumentation. Imported by the overhead.py of an example, which describes its
server as a Study.

The call sites are those on the requests' path, breadth first from where a request begins, as a
search meets them. A run for each level shows which of them are executed, and how often. A search
leaves out calls that are frequent and matter little, so there is another variant with the largest
number of sites, "seldom": its functions are called, and make a call, at most 20 times per request.
If root runs this and bpftrace is installed, there are also variants with uprobes on the same
functions, where the example has them.

Each round runs every variant once; the ratios are to the plain server in the same round. The
processor time of the server is compared as well, since other work on the machine disturbs it less
than throughput and latency. The environment variables are those of workload.sh.

    overhead.py prepare                builds the variants in work/overhead; this takes hours for a
                                       large server and goes on where it was interrupted, until
                                       work/overhead is removed
    overhead.py measure [--rounds N]   adds N rounds (default 5) to work/overhead/rounds.jsonl
    overhead.py report                 prints the table
    overhead.py naive FUNCTION...      prints how many runs a profiler needs that breaks down every
                                       function, until it has broken down these
"""
import argparse
import array
import collections
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

MOST_CALLS = 20
CONFIGURATION = "vprof.overhead.json"  # while the variants are built


@dataclasses.dataclass(frozen=True)
class Study:
    here: pathlib.Path  # the directory of the example
    root: str  # the function in which the search begins
    unit: str  # "transaction"
    figures: dict  # patterns of the workload's output: rate and, if it prints that, latency_ms
    rate: str  # heading of the rate: "tps"
    few: dict = dataclasses.field(default_factory=dict)  # environment of a shorter run, to count
    needs: tuple = ("installed",)  # what a run needs of the directory in which the server is built
    uprobes: tuple = ()  # numbers of children that bpftrace is to time as well
    binaries: tuple = ()  # in the plain server's directory: what they are in
    left_whole: tuple = ()  # globs of files in which nothing is measured

    @property
    def patterns(self):
        # What processor_time of server-process.sh prints.
        return {**self.figures, "processor_s": r"^processor time of the server = ([\d.]+)"}

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


def as_user(study, command):
    """The servers do not run as root. The files belong to the user for whom run.sh built them."""
    if os.getuid() != 0:
        return command
    owner = study.vprof_dir.stat()
    return ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups",
            "env", f"HOME={study.work}", *command]


def run(study, command, **options):
    done = subprocess.run(as_user(study, [str(c) for c in command]), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: status {done.returncode}\n"
             f"{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def vprof(study, *arguments, configuration="vprof.json", **options):
    command = [find_vprof(), "-C", study.here, "--config", configuration, *arguments]
    return run(study, command, **options)


def write_configuration(study):
    """vprof.json, but with left_whole under `exclude`."""
    text = (study.here / "vprof.json").read_text()
    globs = "".join(f"{json.dumps(glob)}, " for glob in study.left_whole)
    changed, found = re.subn(r'"exclude": *\[', lambda start: start[0] + globs, text)
    if globs and found != 1:
        fail(f"{study.here}/vprof.json has no list `exclude`")
    run(study, ["tee", study.here / CONFIGURATION], input=changed)


def rewrite_and_build(study, expanded, demoted=()):
    """With these functions expanded and these positions left out, as if a search had come to that."""
    path = study.vprof_dir / "state.json"

    def change_state(**values):
        state = json.loads(path.read_text())
        run(study, ["tee", path], input=json.dumps({**state, **values}))

    left_out = [{"site": position, "since": 0, "calls": 0, "cost": 0, "function": "", "key": "",
                 "heavy_in": "", "within": ""} for position in demoted]
    # Iteration 0: else it would begin a new search, since the configuration is another one.
    change_state(expanded=expanded, demoted=left_out, iteration=0)
    vprof(study, "instrument", configuration=CONFIGURATION)
    search = kept(study, "search.json")
    change_state(iteration=search["iteration"], history=search["history"])
    vprof(study, "build", configuration=CONFIGURATION)


def sites_of(study):
    return json.loads((study.vprof_dir / "sites.json").read_text())


def place_of(site):
    return f"{site['file']}:{site['line']}:{site['column']}"


def keep_server(study, name):
    target = study.place / "unfinished"
    run(study, ["rm", "-rf", target])
    run(study, ["mkdir", "-p", target])
    run(study, ["cp", "-a", "--parents", *study.needs, target], cwd=study.vprof_dir / "mirror")
    run(study, ["mv", target, study.place / name])


# ---- which children


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


def hot_among(children, entered):
    return {c["parent"] for c in children if max(c["calls"], entered[c["parent"]]) > MOST_CALLS}


def seldom_among(children, entered):
    hot = hot_among(children, entered)
    return [c for c in children if c["parent"] not in hot]


def to_break_down(study, children, expanded):
    keys = dict.fromkeys(c["key"] for c in children if c["expandable"])
    return [key for key in keys if key not in expanded and not is_left_whole(study, key)]


def is_left_whole(study, key):
    file = key.rpartition("@")[2].rpartition(":")[0]
    return any(fnmatch.fnmatchcase(file, glob) for glob in study.left_whole)


def kept(study, name):
    """What an earlier, interrupted `prepare` has written."""
    path = study.place / name
    return json.loads(path.read_text()) if path.exists() else None


def keep(study, name, value):
    run(study, ["tee", study.place / "unfinished.json"], input=json.dumps(value))
    run(study, ["mv", study.place / "unfinished.json", study.place / name])


def executed_children(study, enough):
    """Call sites as {place, parent, callee, key, calls per request, expandable}, breadth first in
    the variance tree; the positions of all call sites; how often each expanded function is called
    per request. Breaks down what requests call, level by level, until there are enough."""
    expanded, more = kept(study, "expanded.json") or [], []
    while True:
        expanded += more
        keep(study, "expanded.json", expanded)
        rewrite_and_build(study, expanded)
        record(study)
        children, every, entered = children_of_last_run(study)
        more = to_break_down(study, children, expanded)
        print(f"{len(expanded)} functions broken down: {len(children)} call sites", flush=True)
        if not more or len(seldom_among(children, entered)) >= enough:
            return children, sorted(every), entered


def record(study):
    environment = dict(os.environ, **study.few)
    vprof(study, "record", configuration=CONFIGURATION, env=environment)


def last_run(study):
    """The report on the last run, and how often each site was recorded per request."""
    report = json.loads(vprof(study, "analyze", "--json", configuration=CONFIGURATION))
    counts = calls_by_site(max((study.vprof_dir / "iterations").glob("*/trace"),
                               key=lambda trace: int(trace.parent.name)))
    return report, {site["id"]: counts[site["id"]] / report["interval"]["count"]
                    for site in sites_of(study)["sites"]}


def children_of_last_run(study):
    report, calls = last_run(study)
    sites = sites_of(study)
    functions = {f["id"]: f for f in sites["functions"]}
    by_place = collections.defaultdict(list)
    at_entry = {}
    for site in sites["sites"]:
        function = functions[site["function"]]
        if site["kind"] == "call":
            by_place[f"{site['file']}:{site['line']}", function["name"]].append(site)
        else:
            at_entry[function["key"]] = site
    children, seen = [], set()
    waiting = collections.deque([(report["tree"], None)])
    while waiting:
        node, caller = waiting.popleft()
        known = by_place.get((node.get("site"), node["function"]), [])
        if not known and caller and node.get("key") in at_entry:
            known = [at_entry[node["key"]]]  # of a call that has no site of its own
        for site in known if node["kind"] == "function" else []:
            place = place_of(site)
            if place not in seen:
                seen.add(place)
                callee = functions[site["function"]]
                parent = functions[site["parent"]]["key"] if site["kind"] == "call" else caller
                children.append({"place": place, "parent": parent,
                                 "callee": node["function"], "key": callee["key"],
                                 "calls": calls[site["id"]],
                                 "expandable": callee["expandable"]})
        around = node.get("key") or caller
        waiting.extend((c, around) for c in node["children"] if c["kind"] in ("function", "body"))
    every = seen | {place_of(site) for site in sites["sites"] if site["kind"] == "call"}
    # A function is recorded once per call: at its call site if that is measured, else at its entry.
    entered = collections.Counter()
    for site in sites["sites"]:
        entered[functions[site["function"]]["key"]] += calls[site["id"]]
    return children, every, entered


def prepare(study, counts):
    path = study.vprof_dir / "state.json"
    run(study, ["mkdir", "-p", study.place])
    if not (study.place / "search.json").exists():
        keep(study, "search.json", json.loads(path.read_text()))
    write_configuration(study)
    try:
        build_variants(study, counts)
    finally:  # as the search left it
        run(study, ["rm", study.here / CONFIGURATION])
        run(study, ["mv", study.place / "search.json", path])
        vprof(study, "instrument")
        vprof(study, "build")


def variants_of(counts):
    return [*map(str, counts), f"{counts[-1]} seldom"]


def build_variants(study, counts):
    children, every, entered = kept(study, "children.json") or executed_children(study, counts[-1])
    keep(study, "children.json", [children, every, entered])
    entered = collections.Counter(entered)
    hot = hot_among(children, entered)
    seldom = seldom_among(children, entered)
    print(f"{len(hot)} functions are called, or make a call, more than {MOST_CALLS} times per "
          f"{study.unit}")
    for name in variants_of(counts):
        chosen = (seldom if "seldom" in name else children)[:int(name.split()[0])]
        if not chosen:
            fail(f"{name} call sites: none is executed")
        if "seldom" in name and not hot:
            continue  # the same as the one before
        places = {c["place"] for c in chosen}
        parents = sorted({c["parent"] for c in chosen})
        # Where the search begins is always broken down, so every other position is left out.
        if not (study.place / name).exists():
            rewrite_and_build(study, parents, sorted(set(every) - places))
            record(study)
            calls = sum(last_run(study)[1].values())
            keep_server(study, name)
            print(f"{name}: built with {len(chosen)} call sites in {len(parents)} functions, "
                  f"{calls:.0f} calls recorded per {study.unit}", flush=True)
    run(study, [study.here / "plain.sh"])
    run(study, ["ln", "-sfn", study.work / "plain", study.place / "plain"])


# ---- rounds


def figures(study, printed):
    return {name: float(re.search(pattern, printed, re.M)[1])
            for name, pattern in study.patterns.items()}


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
    children = kept(study, "children.json")[0]
    variants = ["plain", *variants_of(counts)]
    variants = [v for v in variants if (study.place / v).exists()]
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


# What a round measures: heading, format and unit of the median.
COLUMNS = {"rate": ("throughput", "{:.0f}"), "latency_ms": ("latency", "{:.2f} ms"),
           "processor_s": ("processor", "{:.2f} s")}


def report(study):
    rounds = [json.loads(line) for line in (study.place / "rounds.jsonl").read_text().splitlines()]
    print(f"{len(rounds)} rounds; medians, and changes from the plain server in the same round")
    columns = {name: COLUMNS[name] for name in study.patterns}
    heads = [study.rate if name == "rate" else head for name, (head, _) in columns.items()]
    heads += [head for head, _ in columns.values()]
    print(f"{'':<14}" + "".join(f"{head:>13}" for head in heads))
    for variant in dict.fromkeys(v for r in rounds for v in r):
        mine = [r for r in rounds if variant in r]
        absolute = [style.format(statistics.median(r[variant][name] for r in mine))
                    for name, (_, style) in columns.items()]
        changes = [statistics.median(r[variant][name] / r["plain"][name] for r in mine) - 1
                   for name in columns]
        print(f"{variant:<14}" + "".join(f"{text:>13}" for text in absolute)
              + "".join(f"{100 * change:+11.1f} %" for change in changes))


def naive(study, wanted, k):
    """How many runs a profiler needs at least that breaks down the next k functions in each run, in
    the order in which it meets them. It would meet more below functions outside `on_the_way`."""
    children = kept(study, "children.json")[0]
    met = [c["callee"] for c in children if c["expandable"]]
    names = list(dict.fromkeys([study.root, *met]))
    for name in wanted:
        if name not in names:
            fail(f"{name} is not among the {len(names)} functions that `overhead.py prepare` met; if "
                 f"it is executed, it takes more than {len(names) // k} runs to come to it")
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

