"""memcached from Debian's source: builds instrumented, answers every request, and the report names its functions."""

import os
import re

from e2e import arguments, check_conservation, copy_example, fingerprint, load_report, main, require, require_unchanged, run

REQUESTS = 60000


def served(log):
    text = log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^(\d+) requests in .* (\d+) failed$", text, re.MULTILINE)
    require(found, f"{log} has no line of the load generator")
    require(int(found[1]) >= REQUESTS and int(found[2]) == 0, found[0])


def placed_functions(node, source):
    """Functions of the tree whose site is a line of a file of memcached."""
    place = re.fullmatch(r"([\w./-]+\.[ch]):(\d+)", node.get("site") or "")
    if place and (source / place[1]).is_file():
        lines = (source / place[1]).read_text(encoding="utf-8", errors="replace").count("\n")
        if 0 < int(place[2]) <= lines:
            yield node["function"]
    for child in node["children"]:
        yield from placed_functions(child, source)


def test():
    options = arguments()
    example = copy_example(options.root, "memcached", options.scratch / "memcached")
    run([example / "run.sh", "--fetch"])
    source = example / "work" / "memcached"
    before = fingerprint(source)
    run([example / "run.sh"], env={**os.environ, "VPROF": str(options.vprof), "LOAD_REQUESTS": str(REQUESTS)})
    require_unchanged(before, source)

    report = load_report(options.vprof, example)
    for log in sorted((example / ".vprof" / "iterations").glob("*/run.log")):
        served(log)
    require(report["interval"]["count"] >= 0.99 * REQUESTS, f"only {report['interval']['count']} requests were seen whole")
    labels = {label["label"] for label in report["interval"]["labels"]}
    require({"get", "set", "incr", "delete"} <= labels, f"labels are {sorted(labels)}")
    check_conservation(report)
    require(report["factors"], "no factors")
    places = [instance["site"] for factor in report["factors"] for instance in factor["instances"]]
    named = [place for place in places if re.match(r"[\w./-]+\.[ch]:\d+$", place or "")]
    require(named, f"no factor has a file and line: {places}")
    print(f"{len(set(placed_functions(report['tree'], source)))} functions of memcached with file and line")


main(test)
