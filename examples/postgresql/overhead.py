#!/usr/bin/env python3
"""What measuring costs PostgreSQL: throughput and latency with 1, 10, 50, 100 and 500 measured call
sites, compared with the server without instrumentation and, if root runs this and bpftrace is
installed, with uprobes on the same functions. Needs run.sh first.

The call sites are those on the transactions' path, breadth first from PostgresMain, as a search
meets them. One run with some thousand sites shows which of them are executed, and how often. A
search leaves out calls that are frequent and matter little, so there is another variant with the
largest number of sites, "seldom": its functions are called, and make a call, at most 20 times per
transaction.

Each round runs every variant once; the ratios are to the plain server in the same round. The
processor time of the server is compared as well, since other work on the machine disturbs it less
than throughput and latency. The environment variables are those of workload.sh (WORKLOAD, SCALE,
CLIENTS, TRANSACTIONS, ...).

    overhead.py prepare                builds the variants in work/overhead
    overhead.py measure [--rounds N]   adds N rounds (default 5) to work/overhead/rounds.jsonl
    overhead.py report                 prints the table
    overhead.py naive FUNCTION...      prints how many runs a profiler needs that breaks down every
                                       function, until it has broken down these
"""
import argparse
import array
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
VPROF_DIR = HERE / ".vprof"
WORK = HERE / "work"
PLACE = WORK / "overhead"
# The functions on a transaction's path, down to commit, planner, executor nodes and buffers.
ON_THE_WAY = """
PostgresMain exec_simple_query start_xact_command finish_xact_command StartTransactionCommand
StartTransaction CommitTransactionCommand CommitTransaction RecordTransactionCommit XLogFlush
XLogWrite XLogInsert XLogRecordAssemble XLogInsertRecord ProcArrayEndTransaction
ResourceOwnerRelease ResourceOwnerReleaseInternal ProcReleaseLocks LockReleaseAll AtEOXact_Inval
AtEOXact_RelationCache ReadCommand SocketBackend pq_getmessage ReadyForQuery EndCommand
pg_parse_query raw_parser base_yyparse pg_analyze_and_rewrite_fixedparams parse_analyze_fixedparams
transformTopLevelStmt transformOptionalSelectInto transformStmt transformUpdateStmt
transformSelectStmt transformInsertStmt setTargetTable transformFromClause transformFromClauseItem
transformTargetList transformWhereClause transformExpr transformExprRecurse make_op pg_rewrite_query
QueryRewrite pg_plan_queries pg_plan_query standard_planner subquery_planner preprocess_expression
grouping_planner query_planner build_simple_rel get_relation_info make_one_rel
set_base_rel_pathlists set_rel_pathlist set_plain_rel_pathlist create_index_paths get_index_paths
build_index_paths create_index_path cost_index create_plan create_plan_recurse create_scan_plan
set_plan_references PortalStart PortalRun PortalRunMulti PortalRunSelect FillPortalStore
PortalRunUtility ProcessQuery CreateQueryDesc ExecutorStart standard_ExecutorStart InitPlan
ExecInitNode ExecInitModifyTable ExecInitIndexScan ExecutorRun standard_ExecutorRun ExecutePlan
ExecModifyTable ExecUpdate ExecUpdateAct ExecUpdateEpilogue ExecInsert ExecInsertIndexTuples
heapam_tuple_update heap_update heapam_tuple_insert heap_insert RelationGetBufferForTuple
heap_prepare_insert IndexNext index_beginscan index_getnext_slot index_getnext_tid index_fetch_heap
btgettuple _bt_first _bt_search _bt_readpage ReadBufferExtended ReadBuffer_common BufferAlloc
LockBuffer LWLockAcquire LWLockRelease ExecutorFinish standard_ExecutorFinish ExecutorEnd
standard_ExecutorEnd ExecEndPlan ExecEndNode PortalDrop CreatePortal table_open relation_open
try_table_open RelationIdGetRelation LockRelationOid LockAcquireExtended SearchCatCacheInternal
GetSnapshotData PushActiveSnapshot
""".split()
UPROBES = (10, 100)
MOST_CALLS = 20


def fail(message):
    sys.exit(f"overhead.py: {message}")


def find_vprof():
    built = HERE.parent.parent / "build/release/driver/vprof"
    vprof = os.environ.get("VPROF") or (str(built) if built.exists() else shutil.which("vprof"))
    return vprof or fail("there is no vprof; build it or set VPROF")


def find_instrumenter():
    vprof = pathlib.Path(find_vprof()).resolve()
    told = vprof.parent / "vprof-locations.json"
    if told.exists():
        return json.loads(told.read_text())["instrument"]
    return str(vprof.parent.parent / "libexec/vprof/vprof-instrument")


def as_user(command):
    """PostgreSQL does not run as root. The files belong to the user for whom run.sh built them."""
    if os.getuid() != 0:
        return command
    owner = VPROF_DIR.stat()
    return ["setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups",
            *command]


def run(command, **options):
    done = subprocess.run(as_user([str(c) for c in command]), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))}: status {done.returncode}\n"
             f"{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def rewrite_and_build(plan):
    (VPROF_DIR / "plan.json").write_text(json.dumps(plan))
    run([find_instrumenter(), "rewrite", "--index", VPROF_DIR / "index.json",
         "--plan", VPROF_DIR / "plan.json", "--mirror", VPROF_DIR / "mirror",
         "--pristine", VPROF_DIR / "pristine", "--sites", VPROF_DIR / "sites.json"])
    run([find_vprof(), "-C", HERE, "build"])


def installed_as(name):
    target = PLACE / name / "installed"
    run(["rm", "-rf", target])
    run(["mkdir", "-p", target.parent])
    run(["cp", "-a", VPROF_DIR / "mirror/installed", target])


# ---- which children


def keys_of(names):
    """The keys of those that the program has. Several static functions may have the same name."""
    graph = json.loads(run([find_vprof(), "-C", HERE, "graph", "--json"]))
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


def executed_children(plan):
    """Call sites as {place, parent, callee, key, calls per transaction, expandable}, breadth first
    in the variance tree of a run with many expanded functions; the call sites of each parent; how
    often each expanded function is called per transaction."""
    wide = dict(plan, expanded=keys_of(ON_THE_WAY), demoted=[])
    rewrite_and_build(wide)
    run([find_vprof(), "-C", HERE, "record"])
    report = json.loads(run([find_vprof(), "-C", HERE, "analyze", "--json"]))
    counts = calls_by_site(max((VPROF_DIR / "iterations").glob("*/trace"),
                               key=lambda trace: int(trace.parent.name)))
    sites = json.loads((VPROF_DIR / "sites.json").read_text())
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


def prepare(counts):
    plan = json.loads((VPROF_DIR / "plan.json").read_text())
    plan.update(all=False, measured=[], demoted=[])
    children, every, entered = executed_children(plan)
    print(f"the transactions execute {len(children)} call sites")
    run(["mkdir", "-p", PLACE])
    hot = {c["parent"] for c in children if max(c["calls"], entered[c["parent"]]) > MOST_CALLS}
    seldom = [c for c in children if c["parent"] not in hot]
    print(f"{len(hot)} functions are called, or make a call, more than {MOST_CALLS} times per "
          "transaction")
    for name, count in [(str(c), c) for c in counts] + [(f"{counts[-1]} seldom", counts[-1])]:
        chosen = (seldom if "seldom" in name else children)[:count]
        if len(chosen) < count:
            fail(f"{count} call sites: only {len(chosen)} are executed")
        keep = {c["place"] for c in chosen}
        parents = sorted({c["parent"] for c in chosen})
        demoted = sorted({p for parent in parents for p in every[parent]} - keep)
        rewrite_and_build(dict(plan, expanded=parents, demoted=demoted))
        installed_as(name)
        measured = collections.Counter()
        for c in chosen:
            measured[c["key"]] += c["calls"]
        records = sum(measured.values()) + sum(max(0, entered[p] - measured[p]) for p in parents)
        print(f"{name}: built with {count} call sites in {len(parents)} functions, "
              f"{records:.0f} records per transaction", flush=True)
    run([HERE / "plain.sh"])
    run(["mkdir", "-p", PLACE / "plain"])
    run(["ln", "-sfn", WORK / "plain/installed", PLACE / "plain/installed"])
    run(["tee", PLACE / "children.json"], input=json.dumps(children))
    run([find_vprof(), "-C", HERE, "instrument"])
    run([find_vprof(), "-C", HERE, "build"])


# ---- rounds


def workload(directory, recording):
    environment = dict(os.environ, WORK=str(WORK))
    environment.pop("VPROF_TRACE_DIR", None)
    trace = PLACE / "trace"
    run(["rm", "-rf", trace])
    if recording:
        run(["mkdir", "-p", trace])
        environment["VPROF_TRACE_DIR"] = str(trace)
    out = run([HERE / "workload.sh"], cwd=PLACE / directory, env=environment)
    # No run should pay for writing the trace of the previous one to disk.
    run(["rm", "-rf", trace])
    run(["sync"])
    figures = {"tps": r"^tps = ([\d.]+)", "latency_ms": r"^latency average = ([\d.]+)",
               "processor_s": r"^processor time of the server = ([\d.]+)"}
    return {name: float(re.search(pattern, out, re.M)[1]) for name, pattern in figures.items()}


def with_uprobes(count, children):
    """The plain server, whose functions bpftrace times at entry and return."""
    binary = (WORK / "plain/installed/bin/postgres").resolve()
    symbols = {line.split()[-1] for line in run(["nm", "--defined-only", binary]).splitlines()}
    names = sorted({c["callee"] for c in children[:count]} & symbols)
    text = "".join(
        f"uprobe:{binary}:{name} {{ @start[tid, {i}] = nsecs; }}\n"
        f"uretprobe:{binary}:{name} /@start[tid, {i}]/ {{ $took = nsecs - @start[tid, {i}]; "
        f"@count[{i}] = count(); @sum[{i}] = sum($took); @squares[{i}] = sum($took * $took); }}\n"
        for i, name in enumerate(names))
    script = PLACE / f"uprobes-{count}.bt"
    run(["tee", script], input=text)
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
        result = workload("plain", False)
    finally:
        tracer.terminate()
        seen = tracer.communicate()[0].count("@count[")
    return dict(result, functions=len(names), seen=seen)


def measure(rounds, counts, uprobes):
    children = json.loads((PLACE / "children.json").read_text())
    variants = ["plain", *map(str, counts), f"{counts[-1]} seldom"]
    variants += [f"uprobes {c}" for c in uprobes]
    for number in range(rounds):
        done = {}
        first = number % len(variants)  # each variant comes first in turn
        for variant in variants[first:] + variants[:first]:
            if variant.startswith("uprobes"):
                done[variant] = with_uprobes(int(variant.split()[1]), children)
            else:
                done[variant] = workload(variant, variant != "plain")
            print(variant, done[variant], flush=True)
        with open(PLACE / "rounds.jsonl", "a") as log:
            log.write(json.dumps(done) + "\n")


def report():
    rounds = [json.loads(line) for line in (PLACE / "rounds.jsonl").read_text().splitlines()]
    print(f"{len(rounds)} rounds; medians, and changes from the plain server in the same round")
    print(f"{'':<14}{'tps':>8}{'latency':>12}{'processor':>13}{'throughput':>13}{'latency':>10}"
          f"{'processor':>12}")
    for variant in dict.fromkeys(v for r in rounds for v in r):
        mine = [r for r in rounds if variant in r]

        def median(value):
            return statistics.median(value(r[variant], r["plain"]) for r in mine)
        print(f"{variant:<14}{median(lambda a, _: a['tps']):8.0f}"
              f"{median(lambda a, _: a['latency_ms']):9.2f} ms"
              f"{median(lambda a, _: a['processor_s']):11.2f} s"
              f"{100 * (median(lambda a, p: a['tps'] / p['tps']) - 1):+11.1f} %"
              f"{100 * (median(lambda a, p: a['latency_ms'] / p['latency_ms']) - 1):+8.1f} %"
              f"{100 * (median(lambda a, p: a['processor_s'] / p['processor_s']) - 1):+10.1f} %")


def naive(wanted, k):
    """How many runs a profiler needs at least that breaks down the next k functions in each run, in
    the order in which it meets them. It would meet more below functions outside ON_THE_WAY."""
    children = json.loads((PLACE / "children.json").read_text())
    met = [c["callee"] for c in children if c["expandable"]]
    names = list(dict.fromkeys(["PostgresMain", *met]))
    for name in wanted:
        if name not in names:
            fail(f"{name} was not executed in the run of `overhead.py prepare`")
    last = max(names.index(name) for name in wanted)
    print(f"the transactions' path has {len(names)} functions that call others; a profiler that "
          f"breaks down {k} per run, in the order in which it meets them, reaches {names[last]} "
          f"in run {last // k + 1}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
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
        prepare(counts)
    elif options.what == "measure":
        possible = os.getuid() == 0 and shutil.which("bpftrace") and not options.no_uprobes
        if not possible:
            print("without uprobes, which need root and bpftrace")
        measure(options.rounds, counts, UPROBES if possible else ())
    elif options.what == "report":
        report()
    else:
        naive(options.functions, options.k)


if __name__ == "__main__":
    main()
