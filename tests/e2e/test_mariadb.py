"""MariaDB from Debian's source: builds instrumented, commits every transaction, and the report names what InnoDB waits in."""

import os
import re

from e2e import arguments, check_conservation, copy_example, fingerprint, load_report, main, require, require_unchanged, run

TRANSACTIONS = 4000
KINDS = {"new-order", "payment", "order-status", "delivery", "stock-level"}
WAITS = {"wait(lock_wait)", "wait(group_commit_lock::acquire)", "wait(os_file_flush_func)"}


def committed(log):
    text = log.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"transactions: +(\d+)", text)
    require(found and int(found[1]) == TRANSACTIONS, f"{log} does not say that {TRANSACTIONS} transactions were done")


def names(node):
    yield node["function"]
    for child in node["children"]:
        yield from names(child)


def test():
    options = arguments()
    example = copy_example(options.root, "mariadb", options.scratch / "mariadb")
    run([example / "run.sh", "--fetch"])
    source = example / "work" / "mariadb"
    before = fingerprint(source)
    run([example / "run.sh"], env={**os.environ, "VPROF": str(options.vprof), "TRANSACTIONS": str(TRANSACTIONS)})
    require_unchanged(before, source)

    report = load_report(options.vprof, example)
    for log in sorted((example / ".vprof" / "iterations").glob("*/run.log")):
        committed(log)
    require(report["interval"]["count"] >= TRANSACTIONS, f"only {report['interval']['count']} transactions were seen whole")
    labels = {label["label"] for label in report["interval"]["labels"]}
    require(KINDS <= labels, f"labels are {sorted(labels)}")
    check_conservation(report)
    require(report["factors"], "no factors")
    missing = WAITS - set(names(report["tree"]))
    require(not missing, f"not in the tree: {sorted(missing)}")


main(test)
