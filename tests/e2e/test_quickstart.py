"""vprof loop --auto on the quickstart names the planted function, and nothing that delays nobody."""

from e2e import (
    arguments,
    check_conservation,
    copy_example,
    factor_names,
    fingerprint,
    first_of_its_own,
    load_report,
    main,
    require,
    require_unchanged,
    run,
    unqualified,
)

PLANTED = "compact_shelf"
BYSTANDERS = {"maintenance_loop", "purge_sessions", "archive_old_orders"}


def test():
    options = arguments("--example")
    example = copy_example(options.root, options.example, options.scratch / "source")
    before = fingerprint(example)
    run([options.vprof, "-C", example, "loop", "--auto"])
    require_unchanged(before, example)

    report = load_report(options.vprof, example)
    require(report["interval"]["count"] == 3000, f"{report['interval']['count']} orders instead of 3000")
    require(report["interval"]["incomplete"] == 0, f"{report['interval']['incomplete']} incomplete orders")
    labels = {label["label"] for label in report["interval"]["labels"]}
    require(labels == {"standard", "express", "bulk"}, f"labels are {sorted(labels)}")
    require(report["overhead"]["dropped"] == 0, "records were dropped")

    first = first_of_its_own(report)
    require([unqualified(name) for name in first["functions"]] == [PLANTED], f"the first one is {first['functions']}")
    sites = {instance["site"] for instance in first["instances"]}
    require(any("stock.c" in site for site in sites), f"factor 1 is placed at {sorted(sites)}")
    iterations = len(report["iterations"])
    require(iterations <= 4, f"{iterations} iterations")
    accused = BYSTANDERS & {unqualified(name) for name in factor_names(report)}
    require(not accused, f"{sorted(accused)} are among the factors")
    check_conservation(report)
    print(f"{PLANTED}: {100 * first['share']:.1f} % after {iterations} iterations")


main(test)
