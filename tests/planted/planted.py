"""vprof loop --auto on one program with a planted cause: is it what the report puts first?

With VPROF_VERB=live it is vprof live instead, while the program is started again and again. What the program measures of
itself is then not compared, since the report is about epochs and not about whole runs.

The first comment of a program says what must come out, in lines of these forms:

  interval: F             the interval is one call of F; else the program calls vprof_begin itself
  sync: {...}             goes into vprof.json
  flags: ...              more flags for the compiler
  expect: first F         factor 1 is the variance of F
  expect: first F with G  factor 1 is their covariance
  expect: site "text"     most of factor 1 is called from a line of the program that holds the text
  expect: within F        the largest place of factor 1 is within F
  expect: share A B       the share of factor 1 is between them
  expect: places N        factor 1 has that many places; by vprof live, three quarters of them
  expect: between A B     that part of the variance lies between labels
  absent: F               F is in no factor that reaches the threshold
  needs: switches         the kernel tells of context switches; where it does not, the report must say so

Most programs also measure how long the cause delays each request (planted.h). run.sh counts in how many runs the share that
this gives is within the interval that the report states. Where threads wait for each other, they also note who had what when:
blame that the report counts as exact must agree with that.
"""

import json
import math
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from e2e import Inconclusive, arguments, check_conservation, load_answer, load_report, main, require, run, unqualified  # noqa: E402

PLANTED = Path(__file__).resolve().parent
PROGRAMS = PLANTED / "programs"

LIVE = os.environ.get("VPROF_VERB") == "live"

# The machine itself may make more of the variance than this, by standing still now and then. Then that is the true cause, not
# the planted one, and the run says nothing about the claims. tests/planted/stalls.c measures it beside the program.
MOST_OF_STALLS = 0.1

# Between getting a lock and noting that, a thread may be interrupted.
SLACK_NS = 300_000

# What planted.h defines for the programs.
HELPERS = ["work_us", "compute_us", "draw", "limit_us", "now_ns", "share_stretches", "add_stretch", "cause_begin", "cause_end",
           "hold_begin", "hold_end", "wait_begin", "wait_end", "request_begin", "request_end", "begins_earlier", "caused_within",
           "share_of_cause", "write_truth"]


def read_claims(source):
    """Lines `word: rest` of the first comment, as a list of pairs."""
    return re.findall(r"^(?: \*|//) (interval|sync|flags|expect|absent|needs): (.*)$", source, re.MULTILINE)


def set_up(program, scratch):
    """A source tree with the program in it and its vprof.json; the claims."""
    tree = scratch / "source"
    tree.mkdir()
    shutil.copy2(program, tree)
    shutil.copy2(PROGRAMS / "planted.h", tree)
    claims = read_claims(program.read_text())
    compiler = "cc -std=gnu11" if program.suffix == ".c" else "c++ -std=c++17"
    # Work is simulated by sleeps (planted.h), which must not show up as waits. The program runs ahead of others where that is
    # allowed, since what they do to it is not what was planted; stalls.c watches what the machine does to all of them.
    run([*"cc -std=gnu11 -O2 -pthread -o".split(), scratch / "watch_stalls", PLANTED / "stalls.c"])
    script = scratch / "run.sh"
    first = "" if ("needs", "switches") in claims else "$first"
    once = f"{first} ./program; status=$?"
    again = f"trap ended=1 INT TERM; status=0; while [ $status$ended = 0 ]; do {first} ./program & wait $!; status=$?; done"
    script.write_text(f"""if chrt -r 1 true; then first='chrt -r 1'; fi
$first {scratch}/watch_stalls {scratch}/stalls & watch=$!
export PLANTED_TRUTH={scratch}/truth
{again if LIVE else once}
kill $watch; wait $watch
exit $status
""")
    flags = " ".join(rest for word, rest in claims if word == "flags")
    config = {
        "build": f"{compiler} -O2 -g -pthread {flags} -o program {program.name}",
        "run": f"sh {script}",
        "exclude": HELPERS,
        "record": {"leave_out": ["timer"]},
    }
    for word, rest in claims:
        if word == "interval":
            config["intervals"] = [{"name": "request", "function": rest}]
        elif word == "sync":
            config["sync"] = json.loads(rest)
    (tree / "vprof.json").write_text(json.dumps(config, indent=2))
    return tree, claims


def check_first(report, wanted):
    require(report["factors"], "no factors")
    first = report["factors"][0]
    found = [unqualified(name) for name in first["functions"]]
    require(sorted(found) == sorted(wanted.split(" with ")), f"factor 1 is {' with '.join(found)}, not {wanted}")
    print(f"factor 1: {wanted}, share {100 * first['share']:.1f} %, contribution {100 * first['contribution']:.1f} %")


def check_site(report, program, text):
    site = report["factors"][0]["instances"][0]["site"]
    line = program.read_text().splitlines()[int(site.rsplit(":", 1)[1]) - 1]
    require(text.strip('"') in line, f"most of factor 1 is called at {site}: {line.strip()}")


def check_within(report, function):
    path = report["factors"][0]["instances"][0]["path"]
    require(function in map(unqualified, path), f"factor 1 is not within {function}, but in {' > '.join(path)}")


def check_share(report, limits):
    least, most = (float(limit) for limit in limits.split())
    share = report["factors"][0]["share"]
    require(least <= share <= most, f"factor 1 has a share of {100 * share:.1f} %, not {least} to {most}")


def check_places(report, wanted):
    places = len(report["factors"][0]["instances"])
    # A live search rests on the requests of some slices. Of callers that hardly vary in these it breaks down none.
    enough = 0.75 * int(wanted) <= places <= int(wanted) if LIVE else places == int(wanted)
    require(enough, f"factor 1 has {places} places, not {wanted}")


def check_between(report, limits):
    least, most = (float(limit) for limit in limits.split())
    share = report["interval"]["between_labels"]
    require(least <= share <= most, f"{100 * share:.1f} % of the variance is between labels, not {least} to {most}")


def check(report, program, claims):
    check_conservation(report)
    incomplete = report["interval"]["incomplete"]
    require(LIVE or incomplete == 0, f"{incomplete} incomplete intervals")
    for word, rest in claims:
        what, _, claim = rest.partition(" ")
        if word == "expect" and what == "first":
            check_first(report, claim)
        elif word == "expect" and what == "site":
            check_site(report, program, claim)
        elif word == "expect" and what == "within":
            check_within(report, claim)
        elif word == "expect" and what == "share":
            check_share(report, claim)
        elif word == "expect" and what == "places":
            check_places(report, claim)
        elif word == "expect" and what == "between":
            check_between(report, claim)
        elif word == "absent":
            # Programs are balanced over a whole run. An epoch is a stretch of several, in which chance correlates; then the
            # report must say that it may be chance.
            accused = {unqualified(name) for factor in report["factors"] for name in factor["functions"]
                       if factor["weight"] >= report["threshold"] and (factor["significant"] or not LIVE)}
            require(rest not in accused, f"{rest} is among the factors")


def is_of_last_iteration(tree, trace):
    iteration = json.loads((tree / ".vprof/state.json").read_text())["iteration"]
    return Path(trace).parent.name == str(iteration)


def compare_with_truth(tree, report, log):
    """Prints whether the share of factor 1 is what the program measured in the same run."""
    if not log.exists():
        return
    runs = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    truth = next(float(share) for share, trace in runs if is_of_last_iteration(tree, trace))
    first = report["factors"][0]
    low, high = first["share_ci95"]
    digits = 3  # as the report prints it
    within = round(low, digits) <= round(truth, digits) <= round(high, digits)
    print(f"truth {100 * truth:.1f} %, stated {100 * first['share']:.1f} % [{100 * low:.1f}, {100 * high:.1f}]: "
          + ("within" if within else "OUTSIDE"))


def read_holds(tree, log):
    """By thread: when it had what others wait for."""
    holds = {}
    for line in log.read_text().splitlines():
        trace, thread, begin, end = line.rsplit(maxsplit=3)
        if is_of_last_iteration(tree, trace):
            holds.setdefault(int(thread), []).append((int(begin), int(end)))
    return holds


def exact_blame(vprof, tree, file):
    """What other threads are blamed for, as far as the recording tells for certain, in the intervals that the report names as
    its slowest and typical ones: (thread, begin, end)."""
    run([vprof, "-C", tree, "export", "--perfetto", file])
    events = json.loads(file.read_text())["traceEvents"]
    for number in [event["args"]["id"] for event in events if event.get("cat") == "interval"]:
        timeline = load_answer(vprof, tree, "timeline", number)
        own = timeline["pieces"][-1]["thread_id"]
        for piece in timeline["pieces"]:
            above, kind = piece["path"][-2:][0], piece["kinds"][-1]
            waking = kind == "body" and above.startswith("wait(")  # then it does not have it yet
            if piece["thread_id"] != own and not piece["inferred"] and not waking:
                begin = int(piece["monotonic_ns"])
                yield piece["thread_id"], begin, begin + piece["to_ns"] - piece["from_ns"]


def check_edges(vprof, tree, scratch):
    """Blame that counts as exact is on a thread that had at that time what the request waited for."""
    log = scratch / "truth.holds"
    if not log.exists():
        return
    holds = read_holds(tree, log)
    checked = wrong = 0
    for thread, begin, end in exact_blame(vprof, tree, scratch / "pieces.json"):
        held = sum(max(0, min(end, until) - max(begin, since)) for since, until in holds.get(thread, []))
        checked += 1
        if end - begin - held > SLACK_NS:
            wrong += 1
            print(f"thread {thread} is blamed from {begin} to {end} ns, and had it for {held} ns of that")
    print(f"edges: {checked} exact pieces checked, {wrong} wrong")
    require(wrong == 0, f"{wrong} of {checked} pieces of exact blame are on a thread that did not have it")


def switches_refused(report):
    return any("context switches" in note for note in report["losses"]["notes"])


def few_carry_the_variance(report):
    """Whether the report itself asks for another run, since a few intervals make most of the variance."""
    return any("slowest intervals carry" in note for note in report["losses"]["notes"])


def share_of_stalls(report, log):
    """The part of the variance that the machine made, in the worst of the loop's runs; infinite if none was watched."""
    interval = report["interval"]
    variance, mean = interval["variance_ns2"] * 1e-18, interval["mean_ns"] * 1e-9
    watched = log.read_text().splitlines() if log.exists() else []
    return max((float(line) for line in watched), default=math.inf) * mean / variance


def profile(vprof, tree, scratch):
    """The report of a loop. Inconclusive if the machine made too much of the variance."""
    run([vprof, "-C", tree, *(["live", "--epoch", os.environ.get("EPOCH", "5")] if LIVE else ["loop", "--auto"])])
    report = load_report(vprof, tree)
    stalls = share_of_stalls(report, scratch / "stalls")
    print(f"the machine made {100 * stalls:.1f} % of the variance")
    if stalls > MOST_OF_STALLS or few_carry_the_variance(report):
        raise Inconclusive(f"the machine stood still: that made {100 * stalls:.1f} % of the variance")
    return report


def test():
    options = arguments("--program")
    program = next(PROGRAMS.glob(f"{options.program}.c*"))
    tree, claims = set_up(program, options.scratch)
    report = profile(options.vprof, tree, options.scratch)
    if ("needs", "switches") in claims and switches_refused(report):
        raise Inconclusive("the kernel does not record context switches, as the report says")
    check(report, program, claims)
    if not LIVE:
        check_edges(options.vprof, tree, options.scratch)
        compare_with_truth(tree, report, options.scratch / "truth")


if __name__ == "__main__":
    main(test)
